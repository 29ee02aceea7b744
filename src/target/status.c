/* SPDX-License-Identifier: MIT */
/* status.c -- see status.h. */
#include <string.h>

#include "status.h"
#include "threads.h"

int
status_read(pid_t tid, struct status *status)
{
    char text[4096];
    if (threads_read_file(tid, "/status", text, sizeof(text)) <= 0)
        return -1;
    const char *state = strstr(text, "\nState:\t");
    const char *at = strstr(text, "\nSigBlk:\t");
    if (state == NULL || at == NULL)
        return -1;
    *status = (struct status){.state = state[8]};
    for (at += 9; *at != '\n' && *at != '\0'; at++)
        status->blocked = status->blocked << 4 |
                          (uint64_t)(*at <= '9' ? *at - '0' : *at - 'W');
    return 0;
}
