/* SPDX-License-Identifier: MIT */
/*
 * views.c -- makes each view completely before anything is printed, so that a
 * failure is one line on stderr and not part of the pager's text.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/label_sets.h"
#include "model/quality.h"
#include "show/flame_text.h"
#include "show/head_text.h"
#include "show/source_text.h"
#include "show/data_report.h"
#include "show/table_text.h"
#include "show/tree_text.h"
#include "view/branches.h"
#include "view/callees.h"
#include "view/callers.h"
#include "view/lines.h"
#include "view/match.h"
#include "view/tree.h"
#include "command.h"
#include "views.h"

static int
print_failure(const char *reason)
{
    fprintf(stderr, "sprofile: %s\n", reason);
    return STATUS_FAILED;
}

/* Begin the output with the head. The head says what the numbers below mean and
 * what is missing from them, so it is not optional. */
static void
begin_output(struct screen *screen, struct views_request *request,
             const struct profile *profile)
{
    screen_begin(screen, request->colour, request->format == COLUMNS_TEXT);
    request->text.columns = screen->columns;
    request->text.paint = screen->paint;
    if (request->format != COLUMNS_TEXT)
        return;
    head_text_write(stdout, profile, screen->columns);
    putchar('\n');
}

/* Print the notes and end the output. Notes explain the numbers above them, so
 * they come last. Data has no notes. */
static void
end_output(struct screen *screen, const struct views_request *request,
           const struct profile *profile)
{
    char asked[512];
    if (request->format == COLUMNS_TEXT) {
        text_report_notes(stdout, profile);
        if (quality_asked(profile, asked, sizeof(asked))[0] != '\0')
            printf("note: %s\n", asked);
    }
    screen_end(screen);
}

/* Report that no sample has the label KEY, and which keys there are. Returns
 * the exit status. */
static int
fail_without_label(const struct profile *profile, const char *key)
{
    char error[1024];
    struct text text;
    text_begin(&text, error, sizeof(error));
    text_add(&text, "--by label:");
    text_add(&text, key);
    text_add(&text, ": no sample has that label");
    for (unsigned i = 0; i < profile->label_count; i++) {
        bool is_known = false;
        for (unsigned j = 0; j < i && !is_known; j++)
            is_known =
                strcmp(profile->labels[j].key, profile->labels[i].key) == 0;
        if (is_known)
            continue;
        text_add(&text, i == 0 ? "; expected one of " : ", ");
        text_add(&text, profile->labels[i].key);
    }
    text_hide_controls(error);
    return print_failure(error);
}

static bool
has_label(const struct profile *profile, const char *key)
{
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (label_sets_value(profile, profile->samples[i].labels, key) != NULL)
            return true;
    return false;
}

static int
show_table(struct profile *profile, struct views_request *request)
{
    const struct text_report_options *text = &request->text;
    if (text->by == TABLE_LABEL && profile->sample_count > 0 &&
        !has_label(profile, text->label))
        return fail_without_label(profile, text->label);
    struct table table;
    int status =
        text->by == TABLE_LABEL
            ? table_build_by_label(&table, profile, text->label, text->value)
            : table_build_by(&table, profile, text->by, text->value);
    if (status != 0)
        return print_failure(strerror(errno));
    if (request->order != TABLE_FLAT)
        table_sort(&table, text->value, request->order);
    struct screen screen;
    begin_output(&screen, request, profile);
    if (request->format == COLUMNS_TEXT)
        table_text_write(stdout, profile, &table, text);
    else
        data_report_table(&(struct data_report){stdout, request->format,
                                                text->value, text->rows},
                          profile, &table, text->by);
    end_output(&screen, request, profile);
    table_release(&table);
    return STATUS_DONE;
}

/* The smallest value that is shown, in ns. It is 0 only if everything is shown.
 */
static uint64_t
least_of(const struct profile *profile, const struct views_request *request)
{
    double whole = (double)profile->totals[request->text.value];
    if (request->text.least <= 0)
        return 0;
    return (uint64_t)fmax(1, ceil(whole * request->text.least / 100));
}

/* The name of the view in data formats. */
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
    int status = 0;
    if (branches_build(&branches, tree, request->text.value,
                       least_of(profile, request), request->depth) != 0)
        return print_failure(strerror(errno));
    struct screen screen;
    begin_output(&screen, request, profile);
    if (request->format == COLUMNS_TEXT && request->is_flame)
        status =
            flame_text_write(stdout, profile, tree, &branches, &request->text);
    else if (request->format == COLUMNS_TEXT)
        status = tree_text_write(stdout, profile, tree, &branches, callers,
                                 &request->text);
    else
        data_report_tree(&(struct data_report){stdout, request->format,
                                               request->text.value,
                                               request->text.rows},
                         profile, tree, &branches, view_word(request->view));
    end_output(&screen, request, profile);
    branches_release(&branches);
    return status != 0 ? print_failure(strerror(ENOMEM)) : STATUS_DONE;
}

/* Show callers or callees. Names are matched in the usual tree, so that is made
 * first. Then it is inverted (view/callers.h), or the trees below the function
 * are joined (view/callees.h). */
static int
show_around(struct profile *profile, struct views_request *request,
            const struct tree *tree)
{
    char error[512];
    struct match match;
    if (match_begin(&match, tree, request->function, error, sizeof(error)) != 0)
        return print_failure(error);
    struct tree *around = request->view == VIEW_CALLERS
                              ? callers_build(tree, &match)
                              : callees_build(tree, &match);
    int status = around == NULL ? print_failure(strerror(errno))
                                : show_branches(profile, request, around);
    tree_free(around);
    match_end(&match);
    return status;
}

static int
show_tree(struct profile *profile, struct views_request *request)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    if (tree == NULL)
        return print_failure(strerror(errno));
    int status = request->view == VIEW_TREE
                     ? show_branches(profile, request, tree)
                     : show_around(profile, request, tree);
    tree_free(tree);
    return status;
}

/* Show the source. Rows have the order of the source and are not sorted by a
 * value. */
static int
show_lines(struct profile *profile, struct views_request *request)
{
    struct lines lines;
    char error[512];
    if (lines_build(&lines, profile, request->function, error, sizeof(error)) !=
        0)
        return print_failure(error);
    struct screen screen;
    begin_output(&screen, request, profile);
    if (request->format == COLUMNS_TEXT)
        source_text_write(stdout, profile, &lines, &request->text);
    else
        data_report_table(&(struct data_report){stdout, request->format,
                                                request->text.value, 0},
                          profile, &lines.table, TABLE_LINE);
    end_output(&screen, request, profile);
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
