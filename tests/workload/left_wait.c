/* SPDX-License-Identifier: MIT */
/*
 * left_wait.c -- a main thread whose handler leaves sigsuspend by siglongjmp.
 * From then on it blocks again what the wait had open: that signal, sent to the
 * process, is handled by another thread, and at once. Prints "ok", or how many
 * were not.
 *
 *   left_wait [COUNT]
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static sigjmp_buf before;
static pthread_t main_thread;
static volatile sig_atomic_t waits, is_out, handled_here, handled_by_main;
static volatile unsigned long sink;

static void
leave(int signo)
{
    (void)signo;
    siglongjmp(before, 1);
}

static void
handle(int signo)
{
    (void)signo;
    if (syscall(SYS_gettid) == getpid())
        handled_by_main++;
    else
        handled_here++;
}

/* Wait until *FLAG is more than COUNT, a minute at most. */
static void
await(const volatile sig_atomic_t *flag, int count)
{
    for (unsigned i = 0; *flag <= count && i < 60000; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void *
send_all(void *argument)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (int i = 0; i < *(int *)argument; i++) {
        await(&waits, i);
        /* Sent to the one thread, and to the process. */
        if (i % 2 == 0)
            pthread_kill(main_thread, SIGUSR2);
        else
            kill(getpid(), SIGUSR2);
        await(&is_out, i);
        kill(getpid(), SIGUSR1);
        await(&handled_here, i);
        if (handled_here <= i)
            break;
    }
    printf(handled_here == *(int *)argument && handled_by_main == 0
               ? "ok\n"
               : "%d of %d, and %d by the main thread\n",
           (int)handled_here, *(int *)argument, (int)handled_by_main);
    fflush(stdout);
    _exit(0);
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = leave};
    int count = (int)work_argument(argc, argv, 1, 20);
    sigset_t both, none;
    pthread_t thread;

    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, send_all, &count) != 0)
        work_fail("pthread_create");
    for (;;) {
        if (sigsetjmp(before, 1) == 0) {
            waits++;
            sigsuspend(&none);
        }
        is_out++;
        while (handled_here < is_out && handled_by_main == 0)
            sink++;
    }
}
