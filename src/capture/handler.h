/* SPDX-License-Identifier: MIT */
/*
 * handler.h -- the target thread's half of a capture; shared.h has the data
 * that it shares with the sampler's half (ask.h, serve.h).
 */
#ifndef CAPTURE_HANDLER_H
#define CAPTURE_HANDLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"
#include "signals/signals.h"

struct handler_options {
    const struct settings *settings;
    uint32_t threads; /* indexes are below this */
    /* Index + 1 of each tid below TID_COUNT; 0: no index. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    /* sigaction(2) itself, not a hook around it. The second is the sigaction
     * that the program would call without us, which may be another
     * library's. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*leaving)(enum signals_role role); /* see disposition_begin */
    /* A signal of the closed number has come. Returns false if it is the
     * program's own. Context: any. */
    bool (*request)(const siginfo_t *info);
};

/* Install the handler. None of our signals is sent yet. Returns 0, or -1 with
 * errno. The child of a fork calls it again, with its own pid. */
int handler_begin(const struct handler_options *options);

/* Reserve the memory that samples need, for stacks of MAX_DEPTH frames at most
 * and a sample of each thread every PERIOD ns. The caller has called
 * handler_begin, and calls this before our first signal is sent. Returns 0, or
 * -1 if memory is short. Context: sampler. */
int handler_begin_memory(uint32_t max_depth, uint64_t period);

/* Renew what the handler keeps of the calling thread, so that it need not ask
 * the kernel. A seccomp filter of the program may forbid that. The thread
 * itself calls this at its beginning, and again in the child of a fork. IS_OLD:
 * the thread's age does not matter. Context: any thread. */
void handler_know_thread(bool is_old);

/* The calling thread takes no more samples: its end is about to be reported,
 * and later CPU time is not counted. Context: any thread. */
void handler_leave_thread(void);

/* Whether SIGNO, which a thread has taken from its queue with INFO, is ours.
 * Context: any. */
bool handler_is_ours(int signo, const siginfo_t *info);

#endif
