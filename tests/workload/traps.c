/* SPDX-License-Identifier: MIT */
/* traps.c -- see traps.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "traps.h"
#include "work.h"

int signo = SIGPROF;
volatile sig_atomic_t count;
volatile uint64_t sink;

static volatile int stop_computing;
static pthread_t computing;

pthread_t main_thread;

void
count_it(int number)
{
    (void)number;
    count++;
}

sigset_t
only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

void
print_set(const char *what, const sigset_t *set)
{
    printf("%s:", what);
    for (int i = 1; i < 65; i++)
        if (sigismember(set, i) == 1)
            printf(" %d", i);
    puts("");
}

void
print_mask(const char *what)
{
    sigset_t set;
    sigemptyset(&set);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    print_set(what, &set);
}

void
print_pending(const char *what)
{
    sigset_t set;
    sigpending(&set);
    print_set(what, &set);
}

void
print_action(int number)
{
    struct sigaction action;
    sigaction(number, NULL, &action);
    printf("%d: %s flags %x\n", number,
           action.sa_handler == SIG_DFL   ? "default"
           : action.sa_handler == SIG_IGN ? "ignored"
                                          : "handler",
           (unsigned)action.sa_flags);
    print_set("sa_mask", &action.sa_mask);
}

void
handle(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_it;
    action.sa_flags = flags;
    if (sigaction(signo, &action, NULL) != 0)
        work_fail("sigaction");
}

void
pause_ms(unsigned ms)
{
    struct timespec left = {0, (long)ms * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void *
compute(void *stop)
{
    while (!*(volatile int *)stop)
        sink += work_burn(5);
    return NULL;
}

void
begin_computing(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&computing, NULL, compute, (void *)&stop_computing);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
end_computing(void)
{
    stop_computing = 1;
    pthread_join(computing, NULL);
}

void *
send_to_thread(void *unused)
{
    pause_ms(20);
    pthread_kill(main_thread, signo);
    return unused;
}

void *
send_to_process(void *unused)
{
    sigset_t set = only(signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pause_ms(20);
    kill(getpid(), signo);
    return unused;
}

pthread_t
start_thread(void *(*start)(void *))
{
    pthread_t thread;
    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, start, NULL) != 0)
        work_fail("pthread_create");
    return thread;
}

int
traps_run(int argc, char **argv, const struct trap *traps)
{
    signo = (int)work_argument(argc, argv, 2, SIGPROF);
    for (; traps->name != NULL; traps++)
        if (argc < 2) {
            puts(traps->name);
        } else if (strcmp(traps->name, argv[1]) == 0) {
            traps->run();
            puts("ok");
            return 0;
        }
    return argc < 2 ? 0 : 2;
}
