/* SPDX-License-Identifier: MIT */
/* views.h -- what `sprofile report` can show of a profile, and how. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "write/data.h"
#include "write/text_report.h"

#include "screen.h"

enum view { VIEW_TABLE, VIEW_TREE, VIEW_CALLERS, VIEW_CALLEES, VIEW_LINES };

struct views_request {
    enum view view;
    const char *function;            /* of callers, callees and lines */
    bool is_flame;                   /* a tree is drawn as a flame graph */
    enum table_order order;          /* of a table */
    uint32_t depth;                  /* of a tree, at most; 0: any */
    struct text_report_options text; /* columns and paint are the screen's */
    enum data_format format;         /* DATA_NONE: text */
    enum screen_colour colour;
};

/* Print PROFILE to standard output as REQUEST says. Returns the exit status,
 * after a message if it is not STATUS_DONE. */
int views_show(struct profile *profile, struct views_request *request);

#endif
