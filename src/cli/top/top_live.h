/* SPDX-License-Identifier: MIT */
/* top_live.h -- `sprofile top` on a terminal: it refreshes the page and obeys
 * keys until the user leaves. */
#ifndef CLI_TOP_TOP_LIVE_H
#define CLI_TOP_TOP_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "top_page.h"

struct follow;

struct top_options {
    struct top_view view;
    uint64_t interval; /* ns */
    uint32_t rows;     /* 0: as many as fit */
    bool has_colour;
};

/* Run until a key or a signal ends the display. The caller has called
 * follow_look once. Returns an exit status; unless that is STATUS_DONE, a
 * message was printed. */
int top_live_run(struct follow *follow, const struct top_options *options);

#endif
