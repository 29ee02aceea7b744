/* SPDX-License-Identifier: MIT */
/* begin.h -- the handler and its memory, before the first sample. */
#ifndef CAPTURE_BEGIN_H
#define CAPTURE_BEGIN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"
#include "signals/signals.h"

struct begin_options {
    const struct settings *settings;
    uint32_t threads; /* indexes are below this */
    /* Index + 1 of each tid below TID_COUNT, 0 if it has none. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    /* sigaction(2) itself, not a hook around it. Next, the sigaction that the
     * program would call without us: it may be another library's. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*leaving)(enum signals_role role); /* see disposition_begin */
    /* A signal of the closed number has come. Returns false if it is the
     * program's own. Context: any. */
    bool (*request)(const siginfo_t *info);
};

/* Install the handler. None of our signals is sent yet. Returns 0, or -1 with
 * errno. The child of a fork calls it again, with its own pid. */
int begin_handler(const struct begin_options *options);

/* Reserve the memory that samples need, for stacks of MAX_DEPTH frames at most.
 * The caller has called begin_handler, and calls this before our first signal
 * is sent. Returns 0, or -1 if memory is short. Context: sampler. */
int begin_memory(uint32_t max_depth);

#endif
