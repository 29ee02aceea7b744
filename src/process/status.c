/* SPDX-License-Identifier: MIT */
/* status.c -- see status.h. */
#include "base/digits.h"
#include "base/proc.h"
#include "task_file.h"
#include "status.h"
#include "base/poison.h"

/* USER_HZ of the kernel, for all architectures: sysconf(_SC_CLK_TCK). */
#define TICK_NS 10000000u

/* Read the file "stat" of thread TID. Returns its text from FIELD on, or "". */
static const char *
read_field(pid_t tid, unsigned field, char *stat, size_t size)
{
    return task_file_read(tid, "/stat", stat, size) > 0
               ? proc_stat_field(stat, field)
               : "";
}

char
status_state(pid_t tid)
{
    char stat[512];
    return *read_field(tid, 3, stat, sizeof(stat));
}

uint64_t
status_user_time(pid_t tid)
{
    char stat[512];
    return proc_number(read_field(tid, 14, stat, sizeof(stat))) * TICK_NS;
}

int
status_read(pid_t tid, struct status *status)
{
    char text[4096];
    if (task_file_read(tid, "/status", text, sizeof(text)) <= 0)
        return -1;
    const char *blocked = proc_status_line(text, "SigBlk");
    const char *queued = proc_status_line(text, "SigQ"); /* "3/63432" */
    uint64_t signals = digits_take(&queued);
    *status =
        (struct status){.state = *proc_status_line(text, "State"),
                        .blocked = proc_bits(blocked),
                        .pending = proc_bits(proc_status_line(text, "SigPnd")) |
                                   proc_bits(proc_status_line(text, "ShdPnd")),
                        .threads =
                            proc_number(proc_status_line(text, "Threads")),
                        .queued = signals,
                        .queued_most = proc_number(queued + (*queued == '/'))};
    return status->state != '\0' && *blocked != '\0' ? 0 : -1;
}

pid_t
status_tracer(pid_t tid)
{
    char text[4096];
    return task_file_read_again(tid, TASK_FILE_STATUS, text, sizeof(text)) > 0
               ? (pid_t)proc_number(proc_status_line(text, "TracerPid"))
               : 0;
}
