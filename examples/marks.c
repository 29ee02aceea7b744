/* SPDX-License-Identifier: MIT */
/*
 * marks.c -- what happens when? Marks on the time axis of the Firefox Profiler.
 * No library to link: cc -O2 -I include examples/marks.c -o steps
 *
 *   sprofile record -o steps.json ./steps    (open it at profiler.firefox.com)
 */
#include <stdio.h>

#include "sprof.h"

static volatile unsigned long sum;

static void
step(const char *name, unsigned long work)
{
    int64_t span = sprof_span_begin();

    for (unsigned long i = 0; i < work * 1000000; i++)
        sum += i;
    sprof_span_end(span, name);
}

int
main(void)
{
    for (int i = 0; i < 3; i++) {
        int error = sprof_mark("a round begins");

        if (error < 0)
            printf("no marks: %s\n", sprof_error_text(error));
        step("read", 20);
        step("sort", 50);
        step("write", 10);
    }
    return 0;
}
