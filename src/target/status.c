/* SPDX-License-Identifier: MIT */
/* status.c -- see status.h. */
#include <string.h>

#include "base/digits.h"
#include "status.h"
#include "threads.h"

/* "tid (name) state ...": the name may hold anything. */
char
status_state(pid_t tid)
{
    char stat[512];
    if (threads_read_file(tid, "/stat", stat, sizeof(stat)) <= 0)
        return '\0';
    const char *name_end = strrchr(stat, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* The number in BASE behind NAME in TEXT, 0 if there is none. */
static uint64_t
number_of(const char *text, const char *name, unsigned base)
{
    uint64_t value = 0;
    const char *at = strstr(text, name);
    for (at = at != NULL ? at + strlen(name) : ""; *at != '\n' && *at != '\0';
         at++)
        value =
            value * base + (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return value;
}

int
status_read(pid_t tid, struct status *status)
{
    char text[4096];
    if (threads_read_file(tid, "/status", text, sizeof(text)) <= 0)
        return -1;
    const char *state = strstr(text, "\nState:\t");
    if (state == NULL || strstr(text, "\nSigBlk:\t") == NULL)
        return -1;
    *status =
        (struct status){.state = state[8],
                        .blocked = number_of(text, "\nSigBlk:\t", 16),
                        .pending = number_of(text, "\nSigPnd:\t", 16) |
                                   number_of(text, "\nShdPnd:\t", 16),
                        .tracer = (pid_t)number_of(text, "\nTracerPid:\t", 10),
                        .threads = number_of(text, "\nThreads:\t", 10)};
    return 0;
}
