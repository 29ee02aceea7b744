/* SPDX-License-Identifier: MIT */
/* freeze.c -- see freeze.h. No thread waits for an answer. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>

#include "base/digits.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "process/status.h"
#include "sampling/tracee.h"
#include "freeze.h"

void
freeze_others(pid_t ender, bool only_running)
{
    _Alignas(8) char buffer[512];
    pid_t own = sys_gettid();
    /* A tracer would see the signal. */
    if (tracee_is_foreign())
        return;
    long got, fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return;
    while ((got = sys_getdents((int)fd, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            struct dirent64 *entry = (struct dirent64 *)(void *)(buffer + at);
            const char *name = entry->d_name;
            pid_t tid = (pid_t)digits_take(&name);
            if (tid != 0 && tid != ender && tid != own &&
                (!only_running || status_state(tid) == 'R'))
                ask_freeze(tid);
            at += entry->d_reclen;
        }
    sys_close((int)fd);
}
