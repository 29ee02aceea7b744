/* SPDX-License-Identifier: MIT */
/* freeze.c -- see freeze.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/digits.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "process/look.h"
#include "sampling/session.h"
#include "sampling/tracee.h"
#include "sampling/trigger/trigger.h"
#include "freeze.h"

static OF_PROFILE pid_t ender; /* valid before IS_EXITING is set */
static OF_PROFILE _Atomic bool is_exiting;
static OF_PROFILE _Atomic bool is_done; /* done once */

/* Whether thread TID may run on while the profile is written, and our signal
 * ends no wait of it. A wait for a futex goes on after a signal, and libc makes
 * it again if its time was relative (futex(2)). */
static bool
may_run_on(pid_t tid)
{
    struct look look;
    look_at(tid, &look);
    return look.state == LOOK_RUNNING ||
           (look.state == LOOK_WAITING && look.number == SYS_futex &&
            !ask_keeps_at(look.arguments[0]));
}

void
freeze_begin(pid_t tid, bool is_exit)
{
    ender = tid;
    atomic_store(&is_done, false);
    ask_spare(tid);
    atomic_store(&is_exiting, is_exit);
}

void
freeze_running(void)
{
    ask_freeze_sampled();
    if (session_is_on() && !tracee_is_foreign())
        trigger_sample_soon(ender);
}

bool
freeze_is_early(void)
{
    return atomic_load(&is_exiting);
}

pid_t
freeze_ender(void)
{
    return ender;
}

void
freeze_others(bool goes_on)
{
    _Alignas(8) char buffer[512];
    pid_t own = sys_gettid();
    /* A tracer would see the signal. */
    if (tracee_is_foreign() || atomic_exchange(&is_done, true))
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
                (!goes_on || may_run_on(tid)))
                ask_freeze(tid);
            at += entry->d_reclen;
        }
    sys_close((int)fd);
}

void
freeze_end(bool is_late)
{
    atomic_store(&is_done, true);
    ask_thaw(is_late);
}
