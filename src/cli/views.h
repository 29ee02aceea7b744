/* SPDX-License-Identifier: MIT */
/* views.h -- the views of a profile that `sprofile report` can show. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "show/columns.h"
#include "show/text_report.h"
#include "screen.h"

enum view { VIEW_TABLE, VIEW_TREE, VIEW_CALLERS, VIEW_CALLEES, VIEW_LINES };

struct views_request {
    enum view view;
    const char *function;            /* of callers, callees and lines */
    bool is_flame;                   /* a tree is drawn as a flame graph */
    enum table_order order;          /* of a table */
    uint32_t depth;                  /* largest depth of a tree; 0: any */
    struct text_report_options text; /* columns and paint: the screen's */
    enum columns_format format;      /* COLUMNS_TEXT: text */
    enum screen_colour colour;
};

/* Print PROFILE to standard output as REQUEST says. Returns the exit status;
 * unless that is STATUS_DONE, a message was printed. */
int views_show(struct profile *profile, struct views_request *request);

#endif
