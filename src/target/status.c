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

int
status_read(pid_t tid, struct status *status)
{
    char text[4096];
    if (threads_read_file(tid, "/status", text, sizeof(text)) <= 0)
        return -1;
    const char *state = strstr(text, "\nState:\t");
    const char *tracer = strstr(text, "\nTracerPid:\t");
    const char *at = strstr(text, "\nSigBlk:\t");
    if (state == NULL || at == NULL)
        return -1;
    *status = (struct status){.state = state[8]};
    if (tracer != NULL) {
        tracer += 12;
        status->tracer = (pid_t)digits_take(&tracer);
    }
    for (at += 9; *at != '\n' && *at != '\0'; at++)
        status->blocked = status->blocked << 4 |
                          (uint64_t)(*at <= '9' ? *at - '0' : *at - 'W');
    return 0;
}
