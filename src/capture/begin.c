/* SPDX-License-Identifier: MIT */
/* begin.c -- see begin.h. */
#include <stddef.h>

#include "base/sys.h"
#include "signals/cookie.h"
#include "signals/disposition.h"
#include "unwind/learn.h"
#include "unwind/rules.h"
#include "ask.h"
#include "handler.h"
#include "serve.h"
#include "shared.h"
#include "slot.h"
#include "begin.h"
#include "base/poison.h"

/* Limits of the number of slots, and of the frames in all slots together.
 * Deeper stacks make fewer slots. */
#define SLOTS_MAX 256u
#define FRAMES_MAX (8u << 20)
#define SLOTS_MIN 64u

int
begin_handler(const struct begin_options *options)
{
    bool is_first = shared.threads == NULL;
    if (is_first) {
        shared.threads =
            sys_reserve(options->threads * sizeof(*shared.threads));
        if (shared.threads == NULL)
            return -1;
    }
    shared.thread_count = options->threads;
    shared.index_of_tid = options->index_of_tid;
    shared.tid_count = options->tid_count;
    shared.request = options->request;
    shared.settings = options->settings;
    atomic_store(&shared.period, options->settings->period);
    atomic_store(&shared.own_taken, 0);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        atomic_store(&shared.own_lost[i], 0);
    shared.pid = options->settings->pid;
    atomic_store(&shared.frozen, 0);
    serve_begin();
    if (!is_first) {
        disposition_after_fork();
        return 0;
    }
    cookie_begin();
    disposition_begin(handler_run, options->sigaction, options->next_sigaction,
                      options->leaving, ask_ring);
    return disposition_borrow(SIGNALS_ASK, options->settings->signo);
}

int
begin_memory(uint32_t max_depth)
{
    uint32_t slots = FRAMES_MAX / max_depth;
    slots = slots > SLOTS_MAX ? SLOTS_MAX : slots;
    slots = slots < SLOTS_MIN ? SLOTS_MIN : slots;
    return slots_begin(slots, max_depth) == 0 && rules_begin() == 0 &&
                   learn_begin() == 0
               ? 0
               : -1;
}
