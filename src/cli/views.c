/* SPDX-License-Identifier: MIT */
/*
 * views.c -- each view is made before anything is printed, so that what goes
 * wrong is told in one line, and not in the pager.
 */
#include "views.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile/branches.h"
#include "profile/callees.h"
#include "profile/callers.h"
#include "profile/lines.h"
#include "profile/match.h"
#include "profile/tree.h"
#include "write/flame_text.h"
#include "write/head_text.h"
#include "write/phrase.h"
#include "write/source_text.h"
#include "write/table_data.h"
#include "write/table_text.h"
#include "write/tree_text.h"

#include "command.h"

static int
fail(const char *reason)
{
    fprintf(stderr, "sprofile: %s\n", reason);
    return STATUS_FAILED;
}

/* The head says what the numbers below stand for, and what is missing from
 * them; so it is not an option. */
static void
begin(struct screen *screen, struct views_request *request,
      const struct profile *profile)
{
    screen_begin(screen, request->colour, request->format == DATA_NONE);
    request->text.columns = screen->columns;
    request->text.paint = screen->paint;
    if (request->format != DATA_NONE)
        return;
    head_text_write(stdout, profile, screen->columns);
    putchar('\n');
}

/* Notes explain the numbers above them, and stand where the eye ends; data has
 * no place for them. */
static void
end(struct screen *screen, const struct views_request *request,
    const struct profile *profile)
{
    char asked[512];

    if (request->format == DATA_NONE) {
        text_report_notes(stdout, profile);
        if (phrase_asked(profile, asked, sizeof asked)[0] != '\0')
            printf("note: %s\n", asked);
    }
    screen_end(screen);
}

static int
show_table(struct profile *profile, struct views_request *request)
{
    const struct text_report_options *text = &request->text;
    struct screen screen;
    struct table table;
    int status =
        text->by == TABLE_LABEL
            ? table_build_by_label(&table, profile, text->label, text->value)
            : table_build_by(&table, profile, text->by, text->value);

    if (status < 0)
        return fail(strerror(errno));
    if (request->order != TABLE_FLAT)
        table_sort(&table, text->value, request->order);
    begin(&screen, request, profile);
    if (request->format == DATA_NONE)
        table_text_write(stdout, profile, &table, text);
    else
        table_data_write(stdout, request->format, profile, &table, text->by,
                         text->value, text->rows);
    end(&screen, request, profile);
    table_release(&table);
    return STATUS_DONE;
}

/* What PERCENT of the whole is, in ns; 0 only if everything is asked for. */
static uint64_t
least_of(const struct profile *profile, const struct views_request *request)
{
    double whole = (double)profile->totals[request->text.value];

    if (request->text.least <= 0)
        return 0;
    return (uint64_t)fmax(1, ceil(whole * request->text.least / 100));
}

/* What data calls the view. */
static const char *
view_word(enum view view)
{
    if (view == VIEW_TREE)
        return "tree";
    return view == VIEW_CALLERS ? "callers" : "callees";
}

static int
show_branches(struct profile *profile, struct views_request *request,
              const struct tree *tree)
{
    bool callers = request->view == VIEW_CALLERS;
    struct branches branches;
    struct screen screen;
    int status = 0;

    if (branches_build(&branches, tree, request->text.value,
                       least_of(profile, request), request->depth) < 0)
        return fail(strerror(errno));
    begin(&screen, request, profile);
    if (request->format == DATA_NONE && request->is_flame)
        status =
            flame_text_write(stdout, profile, tree, &branches, &request->text);
    else if (request->format == DATA_NONE)
        status = tree_text_write(stdout, profile, tree, &branches, callers,
                                 &request->text);
    else
        table_data_write_tree(stdout, request->format, profile, tree, &branches,
                              view_word(request->view), request->text.value,
                              request->text.rows);
    end(&screen, request, profile);
    branches_release(&branches);
    return status < 0 ? fail(strerror(ENOMEM)) : STATUS_DONE;
}

/* The names to match are in the usual tree, so that is made first; then it is
 * turned upside down (profile/callers.h), or what is below the function is put
 * together (profile/callees.h). */
static int
show_around(struct profile *profile, struct views_request *request,
            const struct tree *tree)
{
    char error[512];
    struct match match;
    struct tree *around;
    int status;

    if (match_begin(&match, tree, request->function, error, sizeof error) < 0)
        return fail(error);
    around = request->view == VIEW_CALLERS ? callers_build(tree, &match)
                                           : callees_build(tree, &match);
    status = around == NULL ? fail(strerror(errno))
                            : show_branches(profile, request, around);
    tree_free(around);
    match_end(&match);
    return status;
}

static int
show_tree(struct profile *profile, struct views_request *request)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    int status;

    if (tree == NULL)
        return fail(strerror(errno));
    status = request->view == VIEW_TREE ? show_branches(profile, request, tree)
                                        : show_around(profile, request, tree);
    tree_free(tree);
    return status;
}

/* Rows are in the order of the source; no value sorts them. */
static int
show_lines(struct profile *profile, struct views_request *request)
{
    struct screen screen;
    struct lines lines;
    char error[512];

    if (lines_build(&lines, profile, request->function, error, sizeof error) <
        0)
        return fail(error);
    begin(&screen, request, profile);
    if (request->format == DATA_NONE)
        source_text_write(stdout, profile, &lines, &request->text);
    else
        table_data_write(stdout, request->format, profile, &lines.table,
                         TABLE_LINE, request->text.value, 0);
    end(&screen, request, profile);
    lines_release(&lines);
    return STATUS_DONE;
}

int
views_show(struct profile *profile, struct views_request *request)
{
    switch (request->view) {
    case VIEW_TREE:
    case VIEW_CALLERS:
    case VIEW_CALLEES:
        return show_tree(profile, request);
    case VIEW_LINES:
        return show_lines(profile, request);
    default:
        return show_table(profile, request);
    }
}
