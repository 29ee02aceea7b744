/* SPDX-License-Identifier: MIT */
/*
 * changed_rate.c -- each process, image, session and thread does two things in
 * turn, in functions of its own: a short one, while the rate is still high, and
 * a long one. Each thing ends by the CPU clock of its thread.
 *
 *   changed_rate WAY FIRST SECOND     ms of CPU time of each thing
 *
 * WAY: "plain"; "fork": then a child does the same; "exec": then a new image;
 * "stops": then the same after a stop and a start; "registers": then a thread
 * that registers itself late, beside one that does not.
 *
 * Prints "truth FUNCTION NS" for each function, and "ok".
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

static volatile uint64_t sink;
static unsigned first_ms, second_ms;

/* A loop of its own, so that the time is its own. */
#define THING(name)                                                            \
    FRAME static void name(unsigned ms)                                        \
    {                                                                          \
        uint64_t begin = work_cpu_ns(), end = begin + ms * 1000000ull, x = ms; \
                                                                               \
        while (work_cpu_ns() < end)                                            \
            for (unsigned i = 0; i < 20000; i++)                               \
                x = x * 6364136223846793005u + i;                              \
        sink += x;                                                             \
        printf("truth " #name " %llu\n",                                       \
               (unsigned long long)(work_cpu_ns() - begin));                   \
        fflush(stdout);                                                        \
        KEEP_FRAME();                                                          \
    }

THING(first)
THING(second)
THING(child_first)
THING(child_second)
THING(image_first)
THING(image_second)
THING(hidden)
THING(later_first)
THING(later_second)
THING(late_first)
THING(late_second)

static void
fork_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid < 0)
        work_fail("fork");
    if (pid == 0) {
        child_first(first_ms);
        child_second(second_ms);
        return;
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        work_fail("child");
}

static void
change_image(char **argv)
{
    execl("/proc/self/exe", argv[0], "image", argv[2], argv[3], (char *)NULL);
    work_fail("exec");
}

static void
stop_and_start(void)
{
    if (sprof_stop() != 0)
        work_fail("sprof_stop");
    hidden(first_ms);
    if (sprof_start() != 0)
        work_fail("sprof_start");
    later_first(first_ms);
    later_second(second_ms);
}

static void
join(void)
{
    if (sprof_thread_register("worker") != 0)
        work_fail("sprof_thread_register");
}

static void *
register_late(void *argument)
{
    hidden(first_ms);
    join();
    late_first(first_ms);
    late_second(second_ms);
    return argument;
}

static void
make_late_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, register_late, NULL) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
}

int
main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "plain";

    first_ms = work_argument(argc, argv, 2, 300);
    second_ms = work_argument(argc, argv, 3, 2000);
    if (strcmp(way, "image") == 0) {
        image_first(first_ms);
        image_second(second_ms);
        puts("ok");
        return 0;
    }
    if (strcmp(way, "registers") == 0)
        join();
    first(first_ms);
    second(second_ms);
    if (strcmp(way, "fork") == 0)
        fork_child();
    else if (strcmp(way, "exec") == 0)
        change_image(argv);
    else if (strcmp(way, "stops") == 0)
        stop_and_start();
    else if (strcmp(way, "registers") == 0)
        make_late_thread();
    puts("ok");
    return 0;
}
