/* SPDX-License-Identifier: MIT */
/*
 * look.c -- reads what the kernel shows of a thread of this process; see
 * look.h. A system call that is not in the table has no words.
 *
 * The hard thing is to say nothing false. A futex is called a mutex on two
 * conditions. The thread waits as glibc's mutexes do (value 2). The owner's
 * word of such a mutex holds the tid of a thread of the program (struct
 * __pthread_mutex_s: int lock; unsigned count; int owner).
 */
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/digits.h"
#include "base/sys.h"
#include "base/text.h"
#include "status.h"
#include "task_file.h"
#include "look.h"
#include "base/poison.h"

#define MUTEX_CONTENDED 2u
#define MUTEX_OWNER 8u

/* Set once the kernel has refused to show system calls. */
static bool is_blind;

/* The next number at *AT, decimal or with 0x, and the space after it. */
static uint64_t
take_number(const char **at)
{
    bool is_hex = (*at)[0] == '0' && (*at)[1] == 'x';
    *at += is_hex ? 2 : 0;
    uint64_t number = is_hex ? digits_take_hex(at) : digits_take(at);
    *at += strcspn(*at, " \n");
    *at += **at == ' ';
    return number;
}

/* "running"; "-1 SP PC"; or "NUMBER A1 ... A6 SP PC". */
static void
parse_call(const char *line, struct look *look)
{
    if (line[0] == 'r') {
        look->state = LOOK_RUNNING;
        return;
    }
    look->state = LOOK_WAITING;
    if (line[0] == '-') {
        look->number = LOOK_NO_CALL;
        line += strcspn(line, " ");
        line += *line == ' ';
    } else {
        look->number = (long)take_number(&line);
        for (unsigned i = 0; i < 6; i++)
            look->arguments[i] = take_number(&line);
    }
    look->sp = take_number(&line);
    look->pc = take_number(&line);
}

static void
look_at_state(pid_t tid, struct look *look)
{
    char state = status_state(tid);
    if (state == '\0')
        look->state = LOOK_GONE;
    else
        look->state = state == 'R' ? LOOK_RUNNING : LOOK_BLOCKED;
}

void
look_at(pid_t tid, struct look *look)
{
    char line[256];
    memset(look, 0, sizeof(*look));
    if (!is_blind) {
        long length =
            task_file_read_again(tid, TASK_FILE_SYSCALL, line, sizeof(line));
        if (length > 0) {
            parse_call(line, look);
            return;
        }
        look_at_state(tid, look);
        is_blind = look->state != LOOK_GONE;
        return;
    }
    look_at_state(tid, look);
}

bool
look_is_blind(void)
{
    return is_blind;
}

/* "ns-on-a-CPU ns-in-line slices". */
struct look_line
look_line(pid_t tid)
{
    char text[128];
    const char *at = text;
    struct look_line line = {0};
    if (task_file_read_again(tid, TASK_FILE_SCHEDSTAT, text, sizeof(text)) <= 0)
        return line;
    take_number(&at);
    line.ns = take_number(&at);
    line.slices = take_number(&at);
    return line;
}

/* The argument of a call for which the call waits. */
enum subject { SUBJECT_NONE, SUBJECT_FD, SUBJECT_POLL, SUBJECT_PROCESS };

static enum subject
subject_of(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case ARCH_CALL_EPOLL_WAIT:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_ioctl:
    case SYS_splice:
    case SYS_getdents64:
        return SUBJECT_FD;
    case ARCH_CALL_POLL:
    case SYS_ppoll:
        return SUBJECT_POLL;
    case SYS_wait4:
        return SUBJECT_PROCESS;
    default:
        return SUBJECT_NONE;
    }
}

/* "socket:[123]", "/path": the file of descriptor FD of thread TID. */
static void
add_descriptor(struct text *text, pid_t tid, uint64_t fd)
{
    char file[32], target[512];
    struct text name;
    if (fd > INT32_MAX)
        return;
    text_begin(&name, file, sizeof(file));
    text_add(&name, "/fd/");
    text_add_number(&name, fd);
    if (task_file_read_link(tid, file, target, sizeof(target)) > 0)
        text_add(text, target);
}

/* Only a poll of one descriptor shows what the thread waits for. */
static void
add_polled(struct text *text, pid_t tid, const struct look *look)
{
    struct pollfd one;
    if (look->arguments[1] == 1 &&
        sys_read_present(&one, look->arguments[0], sizeof(one)) ==
            (long)sizeof(one) &&
        one.fd >= 0)
        add_descriptor(text, tid, (uint64_t)one.fd);
}

/* The children for which waitpid(2) with PID waits. The kernel reads 32 bits of
 * the register and ignores the others. */
static void
add_children(struct text *text, int32_t pid)
{
    if (pid == -1) {
        text_add(text, "any child");
    } else if (pid == 0) {
        text_add(text, "any child of the same group");
    } else {
        text_add(text, pid > 0 ? "process " : "any child of group ");
        text_add_number(text,
                        pid > 0 ? (uint64_t)pid : (uint64_t) - (int64_t)pid);
    }
}

static void
add_owner(struct text *text, const char *before, pid_t tid, const char *name)
{
    text_add(text, before);
    text_add(text, name);
    text_add(text, " (");
    text_add_number(text, (uint64_t)tid);
    text_add(text, ")");
}

static uint32_t
read_word(uint64_t address)
{
    uint32_t word = 0;
    if (sys_read_present(&word, address, sizeof(word)) != sizeof(word))
        return 0;
    return word;
}

/* The thread that another waits for, 0 if none, and in words what that thread
 * has. pthread_join waits for the word where the kernel keeps a thread's tid
 * until it has ended. A mutex with priority inheritance holds its owner itself.
 * So does a robust one, with a bit for its waiters. */
static pid_t
find_owner(pid_t tid, const struct look *look, const char **before)
{
    uint64_t address = look->arguments[0];
    uint32_t value = (uint32_t)look->arguments[2];
    int operation = (int)look->arguments[1] & FUTEX_CMD_MASK;
    uint32_t owner = 0;
    *before = "mutex of ";
    if (look->state != LOOK_WAITING || look->number != SYS_futex)
        return 0;
    if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) {
        owner = read_word(address) & FUTEX_TID_MASK;
    } else if (operation == FUTEX_WAIT && value == MUTEX_CONTENDED) {
        owner = read_word(address + MUTEX_OWNER);
    } else if ((value & FUTEX_WAITERS) != 0 && value == read_word(address)) {
        owner = value & FUTEX_TID_MASK;
    } else if (value > MUTEX_CONTENDED && value == read_word(address)) {
        owner = value;
        *before = "end of ";
    }
    if (owner > INT32_MAX || (pid_t)owner == tid)
        return 0;
    return (pid_t)owner;
}

static void
add_futex(struct text *text, pid_t tid, const struct look *look,
          const char *(*owner_name)(pid_t tid))
{
    const char *before;
    pid_t owner = find_owner(tid, look, &before);
    const char *name = owner != 0 ? owner_name(owner) : NULL;
    if (name != NULL)
        add_owner(text, before, owner, name);
}

pid_t
look_owner(pid_t tid, const struct look *look)
{
    const char *before;
    return find_owner(tid, look, &before);
}

size_t
look_words(pid_t tid, const struct look *look,
           const char *(*owner_name)(pid_t tid), char *buffer, size_t size)
{
    struct text text;
    text_begin(&text, buffer, size);
    if (look->state != LOOK_WAITING)
        return 0;
    switch (subject_of(look->number)) {
    case SUBJECT_FD:
        add_descriptor(&text, tid, look->arguments[0]);
        break;
    case SUBJECT_POLL:
        add_polled(&text, tid, look);
        break;
    case SUBJECT_PROCESS:
        add_children(&text, (int32_t)look->arguments[0]);
        break;
    case SUBJECT_NONE:
        if (look->number == SYS_futex)
            add_futex(&text, tid, look, owner_name);
        break;
    }
    return text.length;
}
