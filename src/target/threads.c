/* SPDX-License-Identifier: MIT */
/*
 * threads.c -- the table of threads; see threads.h. A directory is opened for
 * each enumeration, because the program may close every descriptor it finds.
 * Indexes are found by tid in one sparse array that covers all tids there can
 * be (PID_MAX_LIMIT, 2^22 on 64-bit kernels).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "threads.h"

/* 16 MiB of addresses, of which one page is touched for 1,024 neighbouring
 * tids; a search or a hash would be paid at every tick. */
#define TIDS (1u << 22)
#define NO_INDEX 0u /* the array holds index + 1 */

/* The reserved memory stays for ever: after a fork the child goes on in it. */
static struct thread *threads;
static uint32_t *index_of_tid;
static uint32_t limit, last_serial;
static pid_t process, own_tid;
static threads_listener *listen;
static _Atomic uint32_t touched;
static _Atomic pid_t ignored_tid;
static uint32_t refreshed;

int
threads_begin(pid_t pid, pid_t own, threads_listener *listener)
{
    if (threads == NULL) {
        threads = sys_reserve(THREADS_MAX * sizeof(*threads));
        index_of_tid = sys_reserve(TIDS * sizeof(*index_of_tid));
    }
    if (threads == NULL || index_of_tid == NULL)
        return -1;
    /* Undone one by one: to clear the whole array would touch all of it. */
    for (uint32_t i = 0; i < limit; i++)
        if (threads[i].tid != 0) {
            index_of_tid[threads[i].tid] = NO_INDEX;
            threads[i].tid = 0;
        }
    limit = last_serial = 0;
    process = pid;
    own_tid = own;
    listen = listener;
    threads_touch();
    return 0;
}

void
threads_ignore(pid_t tid)
{
    atomic_store(&ignored_tid, tid);
}

void
threads_touch(void)
{
    atomic_fetch_add_explicit(&touched, 1, memory_order_relaxed);
}

bool
threads_are_stale(void)
{
    return atomic_load_explicit(&touched, memory_order_relaxed) != refreshed;
}

uint32_t
threads_limit(void)
{
    return limit;
}

struct thread *
threads_at(uint32_t index)
{
    return &threads[index];
}

/* "/proc/self/task/TID/FILE" into PATH of SIZE bytes. */
static void
task_path(char *path, size_t size, pid_t tid, const char *file)
{
    struct text text;
    text_begin(&text, path, size);
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)tid);
    text_add(&text, file);
}

bool
threads_read_name(uint32_t index)
{
    char path[64], name[64];
    task_path(path, sizeof(path), threads[index].tid, "/comm");
    long length = sys_read_file(path, name, sizeof(name));
    /* The thread has just ended: the name it had is as good. */
    if (length <= 0)
        return false;
    name[strcspn(name, "\n")] = '\0';
    name[THREAD_NAME_SIZE - 1] = '\0';
    if (strcmp(name, threads[index].name) == 0)
        return false;
    strcpy(threads[index].name, name);
    return true;
}

/* Whether thread TID has ended but is still listed, as a main thread is that
 * called pthread_exit. */
static bool
is_zombie(pid_t tid)
{
    char path[64], stat[256];
    task_path(path, sizeof(path), tid, "/stat");
    if (sys_read_file(path, stat, sizeof(stat)) <= 0)
        return true;
    /* "tid (name) state ...": the name may hold anything. */
    const char *state = strrchr(stat, ')');
    return state != NULL && (state[2] == 'Z' || state[2] == 'X');
}

uint64_t
threads_wait_sp(pid_t tid)
{
    char path[64], line[256];
    task_path(path, sizeof(path), tid, "/syscall");
    if (sys_read_file(path, line, sizeof(line)) <= 0)
        return 0;
    /* "number 0xarg1 ... 0xarg6 0xsp 0xpc", or "running". */
    char *pc = strrchr(line, ' ');
    if (pc == NULL)
        return 0;
    *pc = '\0';
    const char *at = strrchr(line, ' ');
    uint64_t sp = 0;
    for (at = at != NULL ? at + 3 : ""; *at != '\0'; at++)
        sp = sp << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return sp;
}

/* Indexes of ended threads are used again, the lowest first, so that loops over
 * all indexes stay short. Threads beyond the table are not profiled. */
static void
add_thread(pid_t tid)
{
    uint32_t i = 0;
    while (i < limit && threads[i].tid != 0)
        i++;
    if (i == THREADS_MAX)
        return;
    threads[i] =
        (struct thread){.tid = tid, .serial = ++last_serial, .seen = true};
    if (i == limit)
        limit++;
    index_of_tid[tid] = i + 1;
    threads_read_name(i);
    listen(i, false);
}

static void
remove_thread(uint32_t index)
{
    /* The listener still sees the thread as it was. */
    listen(index, true);
    index_of_tid[threads[index].tid] = NO_INDEX;
    threads[index].tid = 0;
    while (limit != 0 && threads[limit - 1].tid == 0)
        limit--;
}

/* 0 for "." and "..", and for what no tid can be. */
static pid_t
tid_of_name(const char *name)
{
    uint32_t tid = 0;
    for (; *name >= '0' && *name <= '9' && tid < TIDS; name++)
        tid = tid * 10 + (uint32_t)(*name - '0');
    return *name == '\0' && tid < TIDS ? (pid_t)tid : 0;
}

/* Take note of one directory entry. Returns how many threads it was. */
static int
see_entry(const char *name)
{
    pid_t tid = tid_of_name(name);
    if (tid == 0 || tid == own_tid || tid == atomic_load(&ignored_tid) ||
        (tid == process && is_zombie(tid)))
        return 0;
    uint32_t i = index_of_tid[tid];
    if (i == NO_INDEX)
        add_thread(tid);
    else
        threads[i - 1].seen = true;
    return 1;
}

int
threads_refresh(void)
{
    char buffer[4096] __attribute__((aligned(8)));
    uint32_t as_of = atomic_load_explicit(&touched, memory_order_relaxed);
    long fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY), got;
    int count = 0;
    if (fd < 0)
        return -1;
    for (uint32_t i = 0; i < limit; i++)
        threads[i].seen = false;
    while ((got = sys_getdents((int)fd, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            struct dirent64 *entry = (struct dirent64 *)(void *)(buffer + at);
            count += see_entry(entry->d_name);
            at += entry->d_reclen;
        }
    sys_close((int)fd);
    for (uint32_t i = limit; i-- > 0;)
        if (threads[i].tid != 0 && !threads[i].seen)
            remove_thread(i);
    refreshed = as_of;
    return count;
}
