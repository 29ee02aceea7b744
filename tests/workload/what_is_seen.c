/* SPDX-License-Identifier: MIT */
/*
 * what_is_seen.c -- what a program can find out about itself, and which calls
 * answer otherwise in a process with a second thread: "what_is_seen FACT..."
 * prints "FACT VALUE" for each. Results of system calls are 0 or the errno.
 * Without arguments it prints all that leave the process as it was.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

static long
error_of(long result)
{
    return result < 0 ? errno : 0;
}

static long
count_entries(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    long count = 0;

    if (directory == NULL)
        work_fail(path);
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static long
threads(void)
{
    return count_entries("/proc/self/task");
}

/* The number of threads in /proc/self/stat, as CPython reads it after a fork.
 * -1 if the file reads differently a second time. */
static long
counted_threads(void)
{
    FILE *file = fopen("/proc/self/stat", "r");
    char line[1024] = "";
    long counts[2] = {0, 0};

    if (file == NULL)
        work_fail("/proc/self/stat");
    for (unsigned turn = 0; turn < 2; turn++) {
        const char *at =
            fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
        for (unsigned field = 2; at != NULL && field < 20; field++)
            at = strchr(at + 1, ' ');
        counts[turn] = at != NULL ? strtol(at, NULL, 10) : 0;
        rewind(file);
    }
    fclose(file);
    return counts[0] == counts[1] ? counts[0] : -1;
}

static long
descriptors(void)
{
    return count_entries("/proc/self/fd");
}

/* The number after NAME in /proc/self/status, in BASE. */
static long
status_of(const char *name, int base)
{
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = strlen(name);
    char line[256];
    long value = -1;

    if (file == NULL)
        work_fail("/proc/self/status");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            value = (long)strtoull(line + length + 1, NULL, base);
    fclose(file);
    return value;
}

static long
signals_caught(void)
{
    return status_of("SigCgt", 16);
}

static long
signals_blocked(void)
{
    return status_of("SigBlk", 16);
}

static long
signals_ignored(void)
{
    return status_of("SigIgn", 16);
}

static long
signals_queued(void)
{
    return status_of("SigQ", 10);
}

static long
size_kb(void)
{
    return status_of("VmSize", 10);
}

static long
resident_kb(void)
{
    return status_of("VmRSS", 10);
}

static long
lines_of_maps(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    long count = 0;
    int c;

    if (file == NULL)
        work_fail("/proc/self/maps");
    while ((c = fgetc(file)) != EOF)
        count += c == '\n';
    fclose(file);
    return count;
}

/* How many of its own dispositions the program reads as not default.
 */
static long
dispositions(void)
{
    struct sigaction action;
    long count = 0;

    for (int signo = 1; signo < NSIG; signo++)
        if (sigaction(signo, NULL, &action) == 0)
            count += action.sa_handler != SIG_DFL;
    return count;
}

static long
children(void)
{
    return error_of(waitpid(-1, NULL, WNOHANG | __WALL));
}

static long
is_secure(void)
{
    return (long)getauxval(AT_SECURE);
}

static long
has_preload(void)
{
    return getenv("LD_PRELOAD") != NULL;
}

static long
timer_number(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer = NULL;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return -errno;
    timer_delete(timer);
    return (long)timer;
}

static long
key_number(void)
{
    pthread_key_t key;

    if (pthread_key_create(&key, NULL) != 0)
        return -1;
    pthread_key_delete(key);
    return key;
}

static long
clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* CPU time of the process that is not the calling thread's, in microseconds for
 * a second of work. */
static long
other_cpu_us(void)
{
    long all = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    long own = clock_us(CLOCK_THREAD_CPUTIME_ID);

    sink += work_burn(500);
    all = clock_us(CLOCK_PROCESS_CPUTIME_ID) - all;
    return 2 * (all - (clock_us(CLOCK_THREAD_CPUTIME_ID) - own));
}

#define BELOW 32768
#define PATTERN 0xa5

/* Write PATTERN below the stack pointer, or find how deep it is gone. */
static FRAME long
look_below(int is_first)
{
    volatile unsigned char below[BELOW];
    long intact = 0;

    if (is_first)
        for (long i = 0; i < BELOW; i++)
            below[i] = PATTERN;
    while (intact < BELOW && below[intact] == PATTERN)
        intact++;
    return BELOW - intact;
}

/* How many bytes below a thread's stack pointer signals have written. The clock
 * is a call into the vdso, which has its own frame; hence the loop. */
static long
stack_bytes(void)
{
    uint64_t mix = 1;

    look_below(1);
    for (long i = 0; i < 400000000; i++)
        mix = mix * 6364136223846793005u + 1442695040888963407u;
    sink += mix;
    return look_below(0);
}

static long
unshare_user(void)
{
    return error_of(unshare(CLONE_NEWUSER));
}

static long
unshare_others(void)
{
    return error_of(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS |
                            CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWTIME |
                            CLONE_FILES | CLONE_FS));
}

static long
unshare_memory(void)
{
    return error_of(unshare(CLONE_VM));
}

static long
join_namespace(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long error = fd < 0 ? errno : error_of(setns(fd, 0));

    close(fd);
    return error;
}

static long
setns_mount(void)
{
    return join_namespace("/proc/self/ns/mnt");
}

static long
setns_time(void)
{
    return join_namespace("/proc/self/ns/time");
}

/* A user namespace of a child's: one's own cannot be joined again. The child is
 * made so that no hook sees it: it must have one thread. */
static long
setns_user(void)
{
    int ready[2];
    char path[64], byte = 0;
    pid_t child;
    long error;

    if (pipe(ready) != 0 ||
        (child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) < 0)
        work_fail("clone");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        byte = unshare(CLONE_NEWUSER) != 0;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    if (read(ready[0], &byte, 1) != 1 || byte != 0)
        work_fail("the child has no user namespace");
    snprintf(path, sizeof path, "/proc/%d/ns/user", child);
    error = join_namespace(path);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return error;
}

static long
drop_user(void)
{
    if (getuid() == 0 && setgid(65534) != 0)
        return errno;
    return error_of(setuid(getuid() == 0 ? 65534 : getuid()));
}

/* A fork where one process more is allowed to this user. */
static long
fork_at_limit(void)
{
    struct rlimit limit = {2, 2};
    pid_t child;

    if (setrlimit(RLIMIT_NPROC, &limit) != 0)
        return errno;
    child = fork();
    if (child == 0)
        _exit(0);
    if (child < 0)
        return errno;
    waitpid(child, NULL, 0);
    return 0;
}

static long
session_to_parent(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
        _exit((int)error_of(syscall(SYS_keyctl, KEYCTL_SESSION_TO_PARENT)));
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static long
lock_memory_kb(void)
{
    if (mlockall(MCL_CURRENT) != 0)
        return -errno;
    return status_of("VmLck", 10);
}

static long
not_dumpable(void)
{
    long error = error_of(prctl(PR_SET_DUMPABLE, 0));

    sink += work_burn(50);
    return error + 100 * prctl(PR_GET_DUMPABLE);
}

static long
use_membarrier(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) != 0)
        return errno;
    return error_of(
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
}

static long
use_personality(void)
{
    return error_of(personality(ADDR_NO_RANDOMIZE)) + personality(0xffffffff);
}

static long
priority(void)
{
    long error = error_of(setpriority(PRIO_PROCESS, 0, 3));

    return error + 100 * getpriority(PRIO_PROCESS, 0);
}

static long
affinity(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -errno;
    return CPU_COUNT(&set);
}

/* A sum of all that the children that were waited for have used. */
static long
children_used(void)
{
    struct rusage used;

    if (getrusage(RUSAGE_CHILDREN, &used) != 0)
        return -errno;
    return used.ru_utime.tv_usec + used.ru_stime.tv_usec + used.ru_maxrss +
           used.ru_minflt + used.ru_nvcsw;
}

static void
on_child(int signo)
{
    if (signo != SIGCHLD || write(STDOUT_FILENO, "a child\n", 8) < 0)
        abort();
}

/* The same, by the next image of this process. */
static long
used_after_exec(void)
{
    signal(SIGCHLD, on_child);
    sink += work_burn(50);
    execl("/proc/self/exe", "what_is_seen", "children_used", (char *)NULL);
    return -errno;
}

static const struct fact {
    const char *name;
    long (*find)(void);
    int is_asked; /* changes the process: only if asked for */
} facts[] = {
    {"threads", threads, 0},
    {"counted_threads", counted_threads, 0},
    {"descriptors", descriptors, 0},
    {"dispositions", dispositions, 0},
    {"signals_caught", signals_caught, 0},
    {"signals_blocked", signals_blocked, 0},
    {"signals_ignored", signals_ignored, 0},
    {"signals_queued", signals_queued, 0},
    {"children", children, 0},
    {"is_secure", is_secure, 0},
    {"has_preload", has_preload, 0},
    {"timer_number", timer_number, 0},
    {"key_number", key_number, 0},
    {"affinity", affinity, 0},
    {"lines_of_maps", lines_of_maps, 0},
    {"size_kb", size_kb, 0},
    {"resident_kb", resident_kb, 0},
    {"other_cpu_us", other_cpu_us, 0},
    {"stack_bytes", stack_bytes, 0},
    {"unshare_user", unshare_user, 1},
    {"unshare_others", unshare_others, 1},
    {"unshare_memory", unshare_memory, 1},
    {"setns_mount", setns_mount, 1},
    {"setns_time", setns_time, 1},
    {"setns_user", setns_user, 1},
    {"drop_user", drop_user, 1},
    {"fork_at_limit", fork_at_limit, 1},
    {"session_to_parent", session_to_parent, 1},
    {"lock_memory_kb", lock_memory_kb, 1},
    {"not_dumpable", not_dumpable, 1},
    {"use_membarrier", use_membarrier, 1},
    {"use_personality", use_personality, 1},
    {"priority", priority, 1},
    {"children_used", children_used, 1},
    {"used_after_exec", used_after_exec, 1},
};

static void
print_fact(const char *name)
{
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (name == NULL ? !facts[i].is_asked
                         : strcmp(facts[i].name, name) == 0)
            printf("%s %ld\n", facts[i].name, facts[i].find());
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 1)
        print_fact(NULL);
    for (int i = 1; i < argc; i++)
        print_fact(argv[i]);
    return 0;
}
