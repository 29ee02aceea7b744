/* SPDX-License-Identifier: MIT */
/*
 * look.c -- reads what the kernel tells about a thread of this process; see
 * look.h. Every file is opened for one reading: a descriptor for each of many
 * threads would be too many, and count against RLIMIT_NOFILE.
 */
#include <string.h>

#include "status.h"
#include "task_file.h"
#include "look.h"
#include "base/poison.h"

/* Set once the kernel has refused to tell system calls. */
static bool is_blind;

/* The next number at *AT, decimal or with 0x, and the space behind it. */
static uint64_t
take_number(const char **at)
{
    const char *p = *at;
    unsigned base = p[0] == '0' && p[1] == 'x' ? 16 : 10;
    uint64_t number = 0;
    p += base == 16 ? 2 : 0;
    for (; *p != ' ' && *p != '\n' && *p != '\0'; p++)
        number = number * base +
                 (uint64_t)(*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
    *at = *p == ' ' ? p + 1 : p;
    return number;
}

/* "running"; "-1 SP PC"; or "NUMBER A1 ... A6 SP PC". */
static void
parse_call(const char *line, struct look *look)
{
    if (line[0] == 'r') {
        look->state = LOOK_RUNNING;
        return;
    }
    look->state = LOOK_WAITING;
    if (line[0] == '-') {
        look->number = LOOK_NO_CALL;
        line += strcspn(line, " ");
        line += *line == ' ';
    } else {
        look->number = (long)take_number(&line);
        for (unsigned i = 0; i < 6; i++)
            look->arguments[i] = take_number(&line);
    }
    look->sp = take_number(&line);
    look->pc = take_number(&line);
}

static void
look_at_state(pid_t tid, struct look *look)
{
    char state = status_state(tid);
    if (state == '\0')
        look->state = LOOK_GONE;
    else
        look->state = state == 'R' ? LOOK_RUNNING : LOOK_BLOCKED;
}

void
look_at(pid_t tid, struct look *look)
{
    char line[256];
    memset(look, 0, sizeof(*look));
    if (!is_blind) {
        long length = task_file_read(tid, "/syscall", line, sizeof(line));
        if (length > 0) {
            parse_call(line, look);
            return;
        }
        look_at_state(tid, look);
        is_blind = look->state != LOOK_GONE;
        return;
    }
    look_at_state(tid, look);
}

bool
look_is_blind(void)
{
    return is_blind;
}

/* "ns-on-a-CPU ns-queued slices". */
uint64_t
look_queued(pid_t tid)
{
    char line[128];
    const char *at = line;
    if (task_file_read(tid, "/schedstat", line, sizeof(line)) <= 0)
        return 0;
    take_number(&at);
    return take_number(&at);
}
