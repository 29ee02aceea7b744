/* SPDX-License-Identifier: MIT */
/*
 * exec_chain.c -- computes and then replaces itself by exec, as often as its
 * first argument says, while a second thread computes, too. A profiling signal
 * that is still on its way at the exec kills the new image.
 *
 * Arguments: execs to go, 10; milliseconds of CPU time in each image, 20.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

FRAME static void
image_work(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

static void *
companion(void *argument)
{
    for (;;)
        image_work(10);
    return argument;
}

int
main(int argc, char **argv)
{
    unsigned left = work_argument(argc, argv, 1, 10);
    unsigned ms = work_argument(argc, argv, 2, 20);
    pthread_t thread;
    char left_text[16], ms_text[16];

    if (pthread_create(&thread, NULL, companion, NULL) != 0)
        work_fail("pthread_create");
    image_work(ms);
    if (left == 0) {
        work_expect("image_work;work_burn");
        puts("ok");
        return 0;
    }
    snprintf(left_text, sizeof left_text, "%u", left - 1);
    snprintf(ms_text, sizeof ms_text, "%u", ms);
    /* Failing execs must leave the program as it was. */
    execl("/nonexistent/program", "program", (char *)NULL);
    execl("/proc/self/exe", argv[0], left_text, ms_text, (char *)NULL);
    work_fail("exec");
}
