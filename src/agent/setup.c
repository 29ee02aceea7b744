/* SPDX-License-Identifier: MIT */
/* setup.c -- see setup.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/note.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "journal/journal.h"
#include "libc/real.h"
#include "process/modules.h"
#include "sampling/go_program.h"
#include "sampling/trigger/trigger.h"
#include "setup.h"

/* Bytes that a limit must leave to the program when it starts. Our own tables,
 * some 104 MiB, are a quarter of it. */
#define ROOM (400u << 20)

/* Limit of the names that are tried for the files of a process. */
#define ATTEMPTS 10000u

/* ThreadSanitizer ends the child of a program with threads if the child makes a
 * thread itself: ours would be one, in both. */
static bool has_thread_sanitizer;

void
setup_process(const struct settings *settings, struct record_process *record)
{
    static const enum trigger triggers[] = {
        [OPTION_TRIGGER_AUTO] = TRIGGER_NONE,
        [OPTION_TRIGGER_PERF] = TRIGGER_PERF,
        [OPTION_TRIGGER_TIMER] = TRIGGER_TIMER,
        [OPTION_TRIGGER_ASK] = TRIGGER_ASK};
    *record = (struct record_process){
        .period = settings->period,
        .pid = (uint32_t)settings->pid,
        .ppid = (uint32_t)getppid(),
        .mode = (uint32_t)settings->options->mode.number,
        .trigger = triggers[settings->options->trigger.number]};
}

/* Make the spool that FILES names. Returns 0, or -1 with errno. */
static int
begin_journal(const struct config *config, const struct settings *settings,
              struct config_files *files)
{
    struct journal_options journal = {
        .spool = files->spool,
        .past = files->past,
        .next = files->next,
        .name_beside = config_name_beside,
        .files = files,
        .is_kept_open = settings->has_own_files,
        .max_size = config->options.max_size.number,
        .start = settings->start,
        .keep = config->options.keep.number,
        .purpose = config_keeps_spool(config) ? SPOOL_WANTED : SPOOL_TEMPORARY,
        .exe = config->exe,
        .command = config->command};
    setup_process(settings, &journal.process);
    return journal_begin(&journal);
}

int
setup_names(const struct config *config, pid_t pid, struct config_files *files)
{
    char error[512];
    if (config_names(config, pid, 0, files, error, sizeof(error)) == 0)
        return 0;
    if (error[0] != '\0')
        note(NOTE_ERROR, error, "; not profiling", NULL);
    return -1;
}

void
setup_no_trigger(uint64_t wanted, int error)
{
    static const char *const words[] = {"auto", "perf", "timer", "ask"};
    const char *why = error == EOPNOTSUPP ? "it needs Linux 6.1"
                      : error == EDEADLK  ? "it needs Linux 6.15, or 6.12.24, "
                                            "6.13.12 or 6.14.3"
                      : error == EBUSY ? "Go's runtime has SIGTRAP for itself"
                                       : note_errno(error);
    note(NOTE_ERROR, "SPROF_TRIGGER=", words[wanted], ": does not work here (",
         why, "); expected auto or another trigger; not profiling", NULL);
}

int
setup_trigger(const struct config *config)
{
    uint64_t wanted = config->options.trigger.number;
    int result = trigger_try((enum option_trigger)wanted);
    if (result == 0)
        return 0;
    setup_no_trigger(wanted, -result);
    return -1;
}

/* Write to ERROR that SPOOL cannot be made. */
static void
tell_problem(const char *spool, int problem, char *error, size_t size)
{
    struct text text;
    text_begin(&text, error, size);
    text_add(&text, "SPROF_OUTPUT: cannot create ");
    text_add(&text, spool);
    text_add(&text, ": ");
    text_add(&text, note_errno(problem));
}

int
setup_journal(const struct config *config, const struct settings *settings,
              struct config_files *files, char *error, size_t size)
{
    int named = 0;
    files->pid = settings->pid;
    files->start = settings->start;
    errno = EEXIST;
    for (unsigned attempt = 0;
         attempt < ATTEMPTS && named >= 0 && errno == EEXIST; attempt++) {
        named =
            config_name_files(config, files->pid, attempt, files, error, size);
        errno = EEXIST;
        if (named == 0 && begin_journal(config, settings, files) == 0)
            return 0;
    }
    int problem = errno;
    if (named >= 0)
        error[0] = '\0';
    /* The recorder may have ended since the names were checked. */
    if (named >= 0 && (problem != ENOENT || !config_recording_is_over(files)))
        tell_problem(files->spool, problem, error, size);
    config_spare_variable(config, error, size);
    return -1;
}

/* The number of the signal by which threads are asked. */
static int
choose_signal(const struct options *options)
{
    int signo = (int)options->signal.number;
    return signo == SIGPROF && go_program_is_this() ? GO_PROGRAM_FREE_SIGNAL
                                                    : signo;
}

/* If every process leaves a spool, one of them has all that it used. */
static void
choose_origin(struct settings *settings)
{
    const struct options *o = settings->options;
    bool is_from_start = o->start.number != 0 && o->delay.number == 0;
    settings->since = is_from_start || settings->is_child ? settings->start : 0;
    settings->clock = clock_own();
    settings->base = settings->is_child || settings_keeps_all(settings)
                         ? 0
                         : settings->clock;
}

void
setup_settings(const struct config *config, pid_t pid, bool is_child,
               struct settings *settings)
{
    bool goes_on = settings->since != 0 && !is_child;
    settings->options = &config->options;
    settings->pid = pid;
    settings->signo = choose_signal(&config->options);
    settings->period = NS_PER_SECOND / config->options.frequency.number;
    settings->start = goes_on ? settings->since : clock_now();
    settings->is_child = is_child;
    if (!goes_on)
        choose_origin(settings);
}

/* Bytes in use of the address space, or of private memory that can be written;
 * 0: not known. proc_pid_statm(5). */
static uint64_t
memory_in_use(int limit)
{
    char line[128];
    if (sys_read_file("/proc/self/statm", line, sizeof(line)) <= 0)
        return 0;
    const char *at = line;
    unsigned column = limit == RLIMIT_AS ? 0 : 5;
    for (unsigned i = 0; i < column && at != NULL; i++)
        at = (at = strchr(at, ' ')) != NULL ? at + 1 : NULL;
    return at != NULL ? digits_take(&at) * arch_page_size() : 0;
}

/* Whether the program's limits leave enough room beside our tables. */
static bool
has_room(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    static const char *const names[] = {"RLIMIT_AS", "RLIMIT_DATA"};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) != 0 ||
            limit.rlim_cur == RLIM_INFINITY ||
            limit.rlim_cur >= memory_in_use(limits[i]) + ROOM)
            continue;
        note(NOTE_ERROR, names[i],
             " leaves less than 400 MiB: the program needs it for itself; "
             "not profiling",
             NULL);
        return false;
    }
    return true;
}

/* Without /proc neither threads nor their code are found, nor whether a main
 * thread that has left was the last one. Only its absence costs a call. */
static bool
has_proc(const struct config *config)
{
    if (config->exe[0] != '\0' ||
        faccessat(AT_FDCWD, "/proc/self/maps", R_OK, 0) == 0)
        return true;
    note(NOTE_ERROR, "/proc/self/maps: ", note_errno(errno),
         "; expected /proc to be mounted (proc(5)); not profiling", NULL);
    return false;
}

struct config_files *
setup_reserve(const struct config *config)
{
    has_thread_sanitizer = dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
    return has_proc(config) && has_room()
               ? sys_reserve(sizeof(struct config_files))
               : NULL;
}

/* qemu-user 7.2 ends a child of fork that makes a thread, if its parent has had
 * two. */
bool
setup_follows_fork(const struct config *config)
{
    return config->options.fork.number == OPTION_FORK_FOLLOW &&
           !modules_state.is_emulated && !has_thread_sanitizer;
}

enum note_level
setup_failure_level(int error)
{
    bool is_choice = error == EINVAL ||
                     arch_syscall(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0) ==
                         SCHED_DEADLINE;
    return is_choice ? NOTE_INFO : NOTE_ERROR;
}

/*
 * A filter of system calls (seccomp(2)) that the process was started with may
 * kill it for what the profiler does. Filters of services and sandboxes may
 * kill; those of containers answer with an error. So a child tries each call
 * first. It shares our memory, and the caller waits for its end, so its
 * progress is known without a further call. It reports its end by no signal.
 *
 * The hard thing is that wait4(2) may kill, too. So it is the first call that
 * the child tries, and a child that dies of it is not reaped.
 */
#define MODE_FILTER 2u /* SECCOMP_MODE_FILTER */

#define STACK_SIZE 16384u

/* The system calls of this process. The writer of the profile is a process of
 * its own. */
#define CALL(name)        \
    {                     \
        SYS_##name, #name \
    }
static const struct {
    long number;
    const char *name;
} calls[] = {
    CALL(wait4),
    {ARCH_CALL_ARCH_PRCTL, "arch_prctl"},
    CALL(capget),
    CALL(capset),
    CALL(chdir),
    CALL(clock_getres),
    CALL(clock_gettime),
    CALL(clock_nanosleep),
    CALL(clone),
    CALL(clone3),
    CALL(close),
    CALL(close_range),
    CALL(dup3),
    CALL(execve),
    CALL(faccessat2),
    CALL(fallocate),
    CALL(fchmod),
    CALL(fchown),
    CALL(fcntl),
    CALL(fdatasync),
    CALL(flock),
    CALL(fstat),
    CALL(ftruncate),
    CALL(futex),
    CALL(getcwd),
    CALL(getdents64),
    CALL(geteuid),
    CALL(getpgid),
    CALL(getpid),
    CALL(getppid),
    CALL(getrandom),
    CALL(get_robust_list),
    CALL(getrusage),
    CALL(gettid),
    CALL(ioctl),
    CALL(kill),
    CALL(linkat),
    CALL(lseek),
    CALL(madvise),
    CALL(mincore),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat),
    CALL(openat),
    CALL(perf_event_open),
    CALL(pidfd_getfd),
    CALL(pidfd_open),
    CALL(pipe2),
    {ARCH_CALL_POLL, "poll"},
    CALL(ppoll),
    CALL(prctl),
    CALL(pread64),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(pwrite64),
    CALL(pwritev),
    CALL(read),
    CALL(readlinkat),
    CALL(renameat2),
    CALL(rseq),
    CALL(rt_sigaction),
    CALL(rt_sigpending),
    CALL(rt_sigprocmask),
    CALL(rt_sigqueueinfo),
    CALL(rt_sigtimedwait),
    CALL(rt_tgsigqueueinfo),
    CALL(sched_getattr),
    CALL(sched_getscheduler),
    CALL(sched_setattr),
    CALL(sched_setaffinity),
    CALL(set_robust_list),
    CALL(sigaltstack),
    {ARCH_CALL_STAT, "stat"},
    CALL(symlinkat),
    CALL(tgkill),
    CALL(timer_create),
    CALL(timer_delete),
    CALL(timer_settime),
    CALL(uname),
    CALL(unlinkat),
    CALL(unshare),
    CALL(write),
};
#define COUNT (sizeof(calls) / sizeof(calls[0]))

struct trial {
    _Atomic size_t passed; /* number of calls */
    _Alignas(16) char stack[STACK_SIZE];
};

/* The seccomp mode of the main thread, which is the caller. For another thread
 * the kernel would first make a folder (30 us). */
bool
setup_has_filter(void)
{
    static enum { UNKNOWN, NONE, FILTER } known;
    char status[4096];
    if (known == UNKNOWN &&
        proc_read(0, PROC_PROCESS, "/status", status, sizeof(status)) > 0)
        known = proc_number(proc_status_line(status, "Seccomp")) == MODE_FILTER
                    ? FILTER
                    : NONE;
    return known == FILTER;
}

/* No core file of the child. 1 means the same for a core that is piped to a
 * program (core(5)). */
static void
leave_no_core(void)
{
    struct rlimit limit;
    if (arch_syscall(SYS_prlimit64, 0, RLIMIT_CORE, 0, (long)&limit, 0, 0) != 0)
        return;
    limit.rlim_cur = limit.rlim_max > 0 ? 1 : 0;
    arch_syscall(SYS_prlimit64, 0, RLIMIT_CORE, (long)&limit, 0, 0, 0);
}

/* In the child. No call takes an argument of -1, be it an address, a
 * descriptor, a size, a number or a set of flags. */
static int
try_all(void *argument)
{
    struct trial *trial = argument;
    leave_no_core();
    for (size_t i = 0; i < COUNT; i++) {
        arch_syscall(calls[i].number, -1, -1, -1, -1, -1, -1);
        atomic_store(&trial->passed, i + 1);
    }
    return 0;
}

/* All signals wait meanwhile. */
static long
run_child(struct trial *trial)
{
    uint64_t old = 0;
    sys_mask(SIG_BLOCK, UINT64_MAX, &old);
    pid_t pid = real_libc.clone(try_all, trial->stack + STACK_SIZE,
                                CLONE_VM | CLONE_VFORK | CLONE_UNTRACED, trial);
    if (pid > 0 && atomic_load(&trial->passed) > 0)
        arch_syscall(SYS_wait4, pid, 0, __WALL, 0, 0, 0);
    sys_mask(SIG_SETMASK, old, NULL);
    return pid;
}

const char *
setup_forbidden_call(void)
{
    if (!setup_has_filter())
        return NULL;
    /* If the child is a copy (emulators), it still shares this. */
    long memory = sys_map(sizeof(struct trial), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory < 0)
        return NULL;
    struct trial *trial = (struct trial *)memory;
    size_t passed = run_child(trial) > 0 ? atomic_load(&trial->passed) : COUNT;
    sys_release(trial, sizeof(*trial));
    return passed < COUNT ? calls[passed].name : NULL;
}
