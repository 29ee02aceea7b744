/* SPDX-License-Identifier: MIT */
/*
 * own_names.c -- a program of ISO C, which may use the names of POSIX (C11,
 * 7.1.3). Its own functions are called open, mmap, kill..., and do something
 * else. Only the program may call them. It says which were called, and "ok" if
 * none was.
 *
 * Argument: milliseconds of CPU time, in each of two threads, 300. No header of
 * the system is included but those that declare none of the names.
 */
#include <stddef.h>

typedef unsigned long thrd_t;
long clock(void);
int thrd_create(thrd_t *, int (*)(void *), void *);
int thrd_join(thrd_t, int *);
int puts(const char *);
int atoi(const char *);

static const char *called[1000];
static unsigned count;

static long
note(const char *name)
{
    if (count < 1000)
        called[count++] = name;
    return -77;
}

#define OWN(name)           \
    long name(void);        \
    long name(void)         \
    {                       \
        return note(#name); \
    }
#define OWN4(a, b, c, d) \
    OWN(a)               \
    OWN(b)               \
    OWN(c)               \
    OWN(d)               \
    long a(void)

/* Files. */
OWN4(access, faccessat, open, openat);
OWN4(creat, close, read, write);
OWN4(pread, pwrite, lseek, fcntl);
OWN4(ioctl, flock, stat, lstat);
OWN4(fstat, fstatat, getcwd, readlink);
OWN4(readlinkat, realpath, renameat, renameat2);
OWN4(unlink, unlinkat, chdir, fchdir);
OWN4(dup, dup2, dup3, pipe);
OWN4(pipe2, poll, select, ftruncate);
OWN4(fallocate, mkdir, opendir, readdir);
OWN4(closedir, fnmatch, isatty, umask);
OWN4(fsync, symlink, link, truncate);

/* Memory. */
OWN4(mmap, munmap, mprotect, madvise);
OWN4(msync, mincore, mlock, sbrk);

/* The process and the system. */
OWN4(fork, vfork, clone, waitpid);
OWN4(wait4, getpid, getppid, getpgrp);
OWN4(gettid, getuid, setsid, daemon);
OWN4(execve, execv, execvpe, unshare);
OWN4(setns, syscall, prctl, getrlimit);
OWN4(setrlimit, prlimit, getrusage, uname);
OWN4(gethostname, sysconf, getpagesize, getauxval);
OWN4(getrandom, dladdr, dl_iterate_phdr, setuid);
OWN4(setresuid, popen, posix_spawn, wordexp);

/* Clocks and CPUs. */
OWN4(clock_gettime, clock_getres, gettimeofday, nanosleep);
OWN4(usleep, timer_create, timer_settime, timer_delete);
OWN4(sched_yield, sched_getcpu, sched_getaffinity, sched_setaffinity);

/* Threads. */
OWN4(pthread_create, pthread_exit, pthread_self, pthread_detach);
OWN4(pthread_atfork, pthread_attr_init, pthread_attr_destroy,
     pthread_attr_setdetachstate);
OWN4(pthread_attr_setstacksize, pthread_attr_getsigmask_np, pthread_key_create,
     pthread_key_delete);
OWN4(pthread_getspecific, pthread_setspecific, pthread_mutex_init,
     pthread_mutex_lock);
OWN4(pthread_mutex_unlock, pthread_sigmask, pthread_kill, pthread_join);

/* Signals. */
OWN4(kill, killpg, tgkill, sigqueue);
OWN4(sigaction, sigprocmask, sigpending, sigsuspend);
OWN4(sigwait, sigtimedwait, sigwaitinfo, sigaltstack);
OWN4(sigemptyset, sigfillset, sigaddset, sigdelset);
OWN4(sigismember, sigabbrev_np, siginterrupt, sighold);

/* Text. */
OWN4(strnlen, stpcpy, strdup, strerror_r);
OWN4(strsignal, stpncpy, strtok_r, swab);

/* Its own, too, and not filled. */
char **environ;

static volatile unsigned long sink;

static int
burn(void *ms)
{
    long end = clock() + *(int *)ms * 1000L;
    while (clock() < end)
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
    return 0;
}

int
main(int argc, char **argv)
{
    int ms = argc > 1 ? atoi(argv[1]) : 300;
    thrd_t thread;

    if (thrd_create(&thread, burn, &ms) != 0)
        puts("no thread");
    burn(&ms);
    thrd_join(thread, NULL);
    for (unsigned i = 0; i < count; i++)
        puts(called[i]);
    if (count == 0)
        puts("ok");
    return 4;
}
