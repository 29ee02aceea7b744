/* SPDX-License-Identifier: MIT */
/*
 * prune.h -- which functions of a pprof file drop_frames and keep_frames name.
 * Both are expressions for the whole name of a function, without its
 * parameters. The frames of a function that is dropped, and not kept, are left
 * out, with all their callees. For pprof_file.c alone.
 */
#ifndef READ_PRUNE_H
#define READ_PRUNE_H

#include <regex.h>
#include <stdbool.h>

/* All zero: no function is dropped. */
struct prune {
    regex_t drop, keep;
    bool has_drop, has_keep;
};

/* Take the expressions DROP and KEEP; "": none. Returns 0, or -1 if one is not
 * understood: then no function is dropped. prune_end is due in both cases. */
int prune_begin(struct prune *prune, const char *drop, const char *keep);

bool prune_is_dropped(const struct prune *prune, const char *function);

void prune_end(struct prune *prune);

#endif
