/* SPDX-License-Identifier: MIT */
/*
 * beside.h -- what `sprofile record --serve` and `--push` run beside the
 * recorded program: `sprofile serve` and `sprofile push`, for the spools of
 * this recording alone.
 */
#ifndef CLI_RECORD_BESIDE_H
#define CLI_RECORD_BESIDE_H

#include <limits.h>
#include <stdbool.h>

#include "helper.h"

struct beside {
    bool is_serving;
    const char *address; /* NULL: that of `sprofile serve` */
    const char *push;    /* options of `sprofile push`; NULL: no push */
    struct helper server, pusher;
    char state[PATH_MAX + 16]; /* directory of `sprofile push` */
};

/*
 * Start what BESIDE wants for the spools in DIRECTORY. IS_QUIET: print no line
 * that says where. Returns STATUS_DONE, or another exit status after a message;
 * nothing runs then.
 */
int beside_begin(struct beside *beside, const char *directory, bool is_quiet);

/* The program has ended, and its spools are still in their directory: let the
 * rest be sent, and end all. A line says what could not be sent. */
void beside_end(struct beside *beside);

#endif
