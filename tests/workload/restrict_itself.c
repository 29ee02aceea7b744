/* SPDX-License-Identifier: MIT */
/*
 * restrict_itself.c -- gives up a right after it has run for a while, as
 * servers and sandboxes do, and goes on. It says ok and ends with status 33.
 *
 * Usage: restrict_itself MODE [MS [BEFORE]], the CPU time after that in ms,
 * 300, and before it, 100
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;
static unsigned ms;

static void
change_root(void)
{
    if (mkdir("empty", 0700) != 0 || chroot("empty") != 0 || chdir("/") != 0)
        work_fail("chroot");
}

static void
change_directory(void)
{
    if (chdir("/") != 0)
        work_fail("chdir");
}

/* The directory is that of a mount, which a child leaves last and unmounts. */
static void
leave_mount(void)
{
    char *directory = getcwd(NULL, 0);
    int status;
    pid_t child = fork();
    if (child == 0)
        sink += work_burn(ms);
    if (chdir("/") != 0)
        work_fail("chdir");
    if (child == 0) {
        /* The parent may be late. */
        for (int i = 0; i < 6000 && umount(directory) != 0; i++) {
            if (errno != EBUSY || i == 5999)
                work_fail("umount");
            work_sleep(10);
        }
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        work_fail("child");
    free(directory);
}

static void
change_user(void)
{
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        work_fail("setuid");
}

/* What is opened after that has the lowest numbers. */
static void
close_all(void)
{
    int out = dup(1);
    close(0);
    close(1);
    close(2);
    for (int i = 0; i < 3; i++)
        if (open("/dev/null", O_RDWR) != i)
            exit(2);
    dup2(out, 1);
    closefrom(3);
    if (open("/dev/null", O_RDWR) != 3)
        exit(3);
}

static void
limit_files(void)
{
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        work_fail("setrlimit");
}

static void
install(unsigned flags)
{
    static const long allowed[] = {SYS_read,
                                   SYS_write,
                                   SYS_exit,
                                   SYS_exit_group,
                                   SYS_futex,
                                   SYS_rt_sigreturn,
                                   SYS_clock_gettime,
                                   SYS_mmap,
                                   SYS_munmap,
                                   SYS_brk,
                                   SYS_madvise,
                                   SYS_rt_sigprocmask,
                                   SYS_mprotect,
                                   SYS_clone,
                                   SYS_clone3,
                                   SYS_rseq,
                                   SYS_fstat,
                                   SYS_newfstatat,
                                   SYS_gettid,
                                   SYS_rt_sigaction,
                                   SYS_getrandom,
                                   SYS_sched_getaffinity,
                                   SYS_sysinfo,
                                   SYS_getpid,
                                   SYS_set_robust_list,
                                   SYS_restart_syscall,
                                   SYS_clock_nanosleep};
    enum { COUNT = sizeof(allowed) / sizeof(allowed[0]) };
    struct sock_filter code[2 * COUNT + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < COUNT; i++) {
        code[1 + 2 * i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                         (unsigned)allowed[i], 0, 1);
        code[2 + 2 * i] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[2 * COUNT + 1] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {2 * COUNT + 2, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        work_fail("no_new_privs");
    if (flags == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        work_fail("prctl");
    if (flags != 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) != 0)
        work_fail("seccomp");
}

static void
filter_itself(void)
{
    install(0);
}

static void
filter_all(void)
{
    install(SECCOMP_FILTER_FLAG_TSYNC);
}

static void *
compute(void *unused)
{
    sink += work_burn(ms);
    return unused;
}

static void
filter_and_start_threads(void)
{
    pthread_t thread;
    install(0);
    for (int i = 0; i < 20; i++)
        if (pthread_create(&thread, NULL, compute, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            work_fail("pthread_create");
}

/* read, write, exit and sigreturn are left. */
static void
strict(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        work_fail("strict");
    for (unsigned i = 0; i < 300000000; i++)
        sink += i;
    (void)!write(1, "ok\n", 3);
    syscall(SYS_exit, 33);
}

static volatile sig_atomic_t times;

static void
count_signal(int signo)
{
    (void)signo;
    times++;
}

static void
set_limit(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard};
    if (setrlimit(which, &limit) != 0)
        work_fail("setrlimit");
}

/* Its own writes reach the limit. */
static void
write_too_much(void)
{
    static char block[8192];
    int fd = open("own", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t first = write(fd, block, sizeof block);
    ssize_t second = write(fd, block, sizeof block);
    printf("%zd, %zd %s, %d signals\n", first, second, strerror(errno), times);
    close(fd);
}

static void
limit_size(void)
{
    signal(SIGXFSZ, count_signal);
    set_limit(RLIMIT_FSIZE, 8192, RLIM_INFINITY);
    write_too_much();
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY);
}

/* No write of the program reaches it. */
static void
limit_size_for_long(void)
{
    signal(SIGXFSZ, count_signal);
    set_limit(RLIMIT_FSIZE, 8192, RLIM_INFINITY);
    sink += work_burn(ms);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY);
}

static void
limit_size_to_death(void)
{
    set_limit(RLIMIT_FSIZE, 8192, RLIM_INFINITY);
    write_too_much();
}

static void
limit_time(void)
{
    signal(SIGXCPU, count_signal);
    set_limit(RLIMIT_CPU, 1, RLIM_INFINITY);
    while (times == 0)
        sink += work_burn(10);
    set_limit(RLIMIT_CPU, RLIM_INFINITY, RLIM_INFINITY);
}

static void
limit_memory(void)
{
    set_limit(RLIMIT_MEMLOCK, 0, 0);
    set_limit(RLIMIT_STACK, 128 << 10, RLIM_INFINITY);
    set_limit(RLIMIT_NPROC, 0, 0);
}

/* Ranges, by name and by number; then every number is taken, up to 1,000. */
static void
take_descriptors(void)
{
    struct rlimit files = {1024, 1024};
    int count = 0;
    close_range(3, ~0u, 0);
    syscall(SYS_close_range, 3, ~0u, 0);
    setrlimit(RLIMIT_NOFILE, &files);
    for (int fd = 3; fd < 1000; fd++)
        count += dup2(1, fd) == fd;
    while (open("/dev/null", O_RDONLY) >= 0)
        count++;
    printf("%d descriptors, %s\n", count, strerror(errno));
    sink += work_burn(ms);
    close_range(3, ~0u, CLOSE_RANGE_UNSHARE);
    printf("next is %d\n", open("/dev/null", O_RDONLY));
}

/* A thread with its own descriptors and directory. */
static void *
go_apart(void *unused)
{
    if (unshare(CLONE_FILES | CLONE_FS) != 0 || chdir("/") != 0)
        work_fail("unshare");
    close(0);
    sink += work_burn(ms);
    printf("next is %d\n", open("/dev/null", O_RDONLY));
    return unused;
}

static void
part(void)
{
    pthread_t thread;
    char *before = getcwd(NULL, 0), *after;
    if (pthread_create(&thread, NULL, go_apart, NULL) != 0 ||
        pthread_join(thread, NULL) != 0)
        work_fail("pthread_create");
    after = getcwd(NULL, 0);
    puts(strcmp(before, after) == 0 ? "still there" : "elsewhere");
}

static const struct {
    const char *name;
    void (*restrict_it)(void);
} modes[] = {
    {"chroot", change_root},
    {"chdir", change_directory},
    {"umount", leave_mount},
    {"setuid", change_user},
    {"closefrom", close_all},
    {"nofile", limit_files},
    {"filter", filter_itself},
    {"filter_all", filter_all},
    {"filter_threads", filter_and_start_threads},
    {"strict", strict},
    {"size", limit_size},
    {"size_long", limit_size_for_long},
    {"size_death", limit_size_to_death},
    {"time", limit_time},
    {"memory", limit_memory},
    {"descriptors", take_descriptors},
    {"part", part},
};

int
main(int argc, char **argv)
{
    ms = work_argument(argc, argv, 2, 300);
    sink += work_burn(work_argument(argc, argv, 3, 100));
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].restrict_it();
    sink += work_burn(ms);
    puts("ok");
    return 33;
}
