/* SPDX-License-Identifier: MIT */
/*
 * exits.c -- ends in the way that its first argument names, after some work,
 * with a second thread still running. The status must be the same with and
 * without a profiler.
 *
 * Arguments: exit, return, _exit, _Exit, by_number (syscall(2)), exit_group
 * (past every hook), quick_exit, abort, segv, term, int, kill, handler (exit
 * from a signal handler), atexit (work in a function registered with atexit),
 * noise or noise_now (while the other thread writes a line every 10 ms), second
 * or second_now (half a second after another thread); milliseconds of CPU time,
 * 100.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw_call.h"
#include "work.h"

static volatile uint64_t sink;

FRAME static void
before_the_end(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

static volatile int is_noisy;

static void *
companion(void *argument)
{
    for (;;) {
        sink += work_burn(10);
        if (is_noisy && write(STDOUT_FILENO, "more\n", 5) != 5)
            work_fail("write");
    }
    return argument;
}

static void
at_exit(void)
{
    before_the_end(50);
    puts("atexit ran");
}

static void
on_signal(int number)
{
    (void)number;
    exit(23);
}

static void
end_by_exit(void)
{
    exit(21);
}

static void
end_by_exit_now(void)
{
    fflush(stdout);
    _exit(22);
}

static void
end_by_Exit(void)
{
    fflush(stdout);
    _Exit(27);
}

static void
end_by_number(void)
{
    fflush(stdout);
    syscall(SYS_exit_group, 29);
}

/* Past every hook: only the spool is left. */
static void
end_by_system_call(void)
{
    fflush(stdout);
    raw_call(SYS_exit_group, 28, 0, 0, 0);
}

static void
end_by_quick_exit(void)
{
    fflush(stdout);
    quick_exit(24);
}

static void
end_by_segv(void)
{
    raise(SIGSEGV);
}

static void
end_by_term(void)
{
    kill(getpid(), SIGTERM);
    pause();
}

static void
end_by_int(void)
{
    kill(getpid(), SIGINT);
    pause();
}

static void
end_by_kill(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static void
end_in_handler(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
}

static void
end_with_atexit(void)
{
    atexit(at_exit);
    exit(25);
}

static void *
exit_now(void *unused)
{
    exit(45);
    return unused;
}

/* From here on every line of the other thread is one too many. */
static void
end_in_noise(void)
{
    is_noisy = 1;
    exit(27);
}

static void
end_in_noise_now(void)
{
    is_noisy = 1;
    _exit(27);
}

/* Another thread is first, by half a second. */
static void
end_second(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_now, NULL) != 0)
        work_fail("pthread_create");
    usleep(500000);
}

/* The same, but main never returns. */
static void
end_second_now(void)
{
    end_second();
    _exit(46);
}

static const struct {
    const char *name;
    void (*end)(void);
} ends[] = {
    {"exit", end_by_exit},
    {"_exit", end_by_exit_now},
    {"_Exit", end_by_Exit},
    {"by_number", end_by_number},
    {"exit_group", end_by_system_call},
    {"quick_exit", end_by_quick_exit},
    {"abort", abort},
    {"segv", end_by_segv},
    {"term", end_by_term},
    {"int", end_by_int},
    {"kill", end_by_kill},
    {"handler", end_in_handler},
    {"atexit", end_with_atexit},
    {"noise", end_in_noise},
    {"noise_now", end_in_noise_now},
    {"second", end_second},
    {"second_now", end_second_now},
};

int
main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "return";
    pthread_t thread;

    if (pthread_create(&thread, NULL, companion, NULL) != 0)
        work_fail("pthread_create");
    before_the_end(work_argument(argc, argv, 2, 100));
    puts("ok");
    fflush(stdout);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(ends[i].name, way) == 0)
            ends[i].end();
    return strcmp(way, "return") == 0 ? 26 : 1;
}
