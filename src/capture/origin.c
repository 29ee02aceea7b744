/* SPDX-License-Identifier: MIT */
/*
 * origin.c -- see origin.h. It runs in handlers, also of threads without
 * thread-local words.
 */
#include <string.h>

#include "base/phase.h"
#include "base/sys.h"
#include "base/proc.h"
#include "signals/signals.h"
#include "shared.h"
#include "origin.h"
#include "base/poison.h"

/* Offset of the event's data in the siginfo of a perf event's signal, in bytes.
 */
#define PERF_DATA_OFFSET 24

bool
origin_is_own_clock(int signo, const siginfo_t *info, enum cookie_own *kind)
{
    uint64_t cookie = 0;
    if (info->si_code == SI_TIMER)
        cookie = (uint64_t)info->si_value.sival_ptr;
    else if (signo == SIGTRAP && info->si_code == SIGNALS_PERF_CODE)
        memcpy(&cookie, (const char *)info + PERF_DATA_OFFSET, sizeof(cookie));
    *kind = (enum cookie_own)(uint32_t)cookie;
    return cookie != 0 && cookie == cookie_make_own(*kind);
}

bool
origin_is_question(const siginfo_t *info, uint64_t *cookie)
{
    if (info->si_code != COOKIE_CODE)
        return false;
    *cookie = (uint64_t)info->si_value.sival_ptr;
    return info->si_pid == shared.pid && *cookie >> 48 == cookie_secret;
}

bool
origin_is_bare_question(const siginfo_t *info, uint64_t *cookie)
{
    if (info->si_code != SI_USER || info->si_pid != 0 || !phase_may_ask())
        return false;
    bool is_frozen = atomic_load(&shared.frozen) != 0;
    uint32_t index = shared_index_of(sys_gettid());
    const struct shared_thread *thread = shared_thread_at(index);
    uint32_t asked = thread != NULL ? atomic_load(&thread->asked) : 0;
    if (is_frozen)
        index = COOKIE_FREEZE;
    *cookie = cookie_make(index, asked - 1);
    return asked != 0 || is_frozen;
}

bool
origin_is_tracer(const siginfo_t *info)
{
    return info->si_code == SI_USER && info->si_pid != 0 && phase_may_ask() &&
           info->si_pid == proc_tracer();
}

bool
origin_is_ours(int signo, const siginfo_t *info)
{
    uint64_t question;
    enum cookie_own kind;
    return origin_is_question(info, &question) ||
           origin_is_own_clock(signo, info, &kind);
}
