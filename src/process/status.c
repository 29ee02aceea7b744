/* SPDX-License-Identifier: MIT */
/* status.c -- see status.h. */
#include <string.h>

#include "base/digits.h"
#include "threads.h"
#include "status.h"

/* USER_HZ of the kernel, for all architectures: sysconf(_SC_CLK_TCK). */
#define TICK_NS 10000000u

/* "tid (name) state ...", where the name may hold anything, into STAT. Returns
 * what begins with the state, or "". */
static const char *
read_stat(pid_t tid, char *stat, size_t size)
{
    if (threads_read_file(tid, "/stat", stat, size) <= 0)
        return "";
    const char *name_end = strrchr(stat, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end + 2 : "";
}

char
status_state(pid_t tid)
{
    char stat[512];
    return *read_stat(tid, stat, sizeof(stat));
}

uint64_t
status_user_time(pid_t tid)
{
    char stat[512];
    const char *at = read_stat(tid, stat, sizeof(stat));
    /* The 14th of all, the state being the 3rd. */
    for (int field = 3; field < 14 && at != NULL; field++)
        at = (at = strchr(at, ' ')) != NULL ? at + 1 : NULL;
    return at != NULL ? digits_take(&at) * TICK_NS : 0;
}

/* The number that TAKE finds behind NAME in TEXT, 0 if there is none. */
static uint64_t
number_of(const char *text, const char *name, uint64_t (*take)(const char **))
{
    const char *at = strstr(text, name);
    if (at == NULL)
        return 0;
    at += strlen(name);
    return take(&at);
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
    *status = (struct status){
        .state = state[8],
        .blocked = number_of(text, "\nSigBlk:\t", digits_take_hex),
        .pending = number_of(text, "\nSigPnd:\t", digits_take_hex) |
                   number_of(text, "\nShdPnd:\t", digits_take_hex),
        .tracer = (pid_t)number_of(text, "\nTracerPid:\t", digits_take),
        .threads = number_of(text, "\nThreads:\t", digits_take)};
    return 0;
}
