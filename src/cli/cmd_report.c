/* SPDX-License-Identifier: MIT */
/*
 * cmd_report.c -- `sprofile report`: shows where the time went, as a table, a
 * call tree, the callers of a function or its source. Modules without symbols
 * are noted below, because their functions have no names. Each view is made
 * completely before anything is printed, so that a failure is one line on
 * stderr and not part of the pager's text.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/idle.h"
#include "model/label_sets.h"
#include "model/quality.h"
#include "show/data_report.h"
#include "show/text_report.h"
#include "view/lines.h"
#include "view/match.h"
#include "view/tree.h"
#include "arguments.h"
#include "inputs.h"
#include "screen.h"

/* Rows of a table as text, unless -n says otherwise. */
enum { DEFAULT_ROWS = 40 };

/* Branches of a tree below this percentage are folded by default. */
static const double default_least = 1;

enum view { VIEW_TABLE, VIEW_TREE, VIEW_CALLERS, VIEW_CALLEES, VIEW_LINES };

/* The values of the options. */
struct request {
    struct filter_options filter;
    enum view view;
    const char *function;            /* of callers, callees and lines */
    bool is_flame;                   /* a tree is drawn as a flame graph */
    bool is_once;                    /* recursion is folded in a tree */
    enum table_order order;          /* of a table */
    bool shows_idle;                 /* as all other threads */
    uint32_t depth;                  /* largest depth of a tree; 0: any */
    struct text_report_options text; /* columns and paint: the screen's */
    bool has_error;                  /* a column ± was shown */
    enum screen_colour colour;
};

/* Begin the output with the head. The head says what the numbers below mean and
 * what is missing from them, so it is not optional. */
static void
begin_output(struct screen *screen, struct request *request,
             struct profile *profile)
{
    screen_begin(screen, request->colour, request->text.format == COLUMNS_TEXT);
    request->text.columns = screen->columns;
    request->text.paint = screen->paint;
    request->text.has_error = &request->has_error;
    if (request->text.format != COLUMNS_TEXT)
        return;
    text_report_brief(stdout, profile, screen->columns, screen->paint);
    putchar('\n');
}

/* Print the notes and end the output. Notes explain the numbers above them, so
 * they come last. Data has no notes. */
static void
end_output(struct screen *screen, const struct request *request,
           const struct profile *profile)
{
    char asked[512];
    if (request->text.format == COLUMNS_TEXT) {
        text_report_notes(stdout, profile, request->has_error);
        if (quality_asked(profile, asked, sizeof(asked))[0] != '\0')
            printf("note: %s\n", asked);
    }
    screen_end(screen);
}

/* Report that no sample has the label KEY, and which keys exist. Returns the
 * exit status. */
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
    return command_fail("%s", error);
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
show_table(struct profile *profile, struct request *request)
{
    const struct text_report_options *text = &request->text;
    if (text->by == TABLE_LABEL && profile->sample_count > 0 &&
        !has_label(profile, text->label))
        return fail_without_label(profile, text->label);
    struct table table;
    int status =
        table_build(&table, profile, text->by, text->label, text->value);
    if (status != 0)
        return command_fail("%s", strerror(errno));
    if (request->order != TABLE_FLAT)
        table_sort(&table, text->value, request->order);
    struct screen screen;
    begin_output(&screen, request, profile);
    (text->format == COLUMNS_TEXT
         ? table_text_write
         : data_report_table)(stdout, profile, &table, text);
    end_output(&screen, request, profile);
    table_release(&table);
    return STATUS_DONE;
}

static int
show_branches(struct profile *profile, struct request *request,
              const struct tree *tree)
{
    static const char *const words[] = {[VIEW_TREE] = "tree",
                                        [VIEW_CALLERS] = "callers",
                                        [VIEW_CALLEES] = "callees"};
    const struct text_report_options *text = &request->text;
    bool callers = request->view == VIEW_CALLERS;
    /* The smallest value that is shown; 0 only if everything is. */
    double least = (double)profile->totals[text->value] * text->least / 100;
    struct branches branches;
    int status = 0;
    if (tree_branches(&branches, tree, text->value,
                      text->least > 0 ? (uint64_t)fmax(1, ceil(least)) : 0,
                      request->depth) != 0)
        return command_fail("%s", strerror(errno));
    struct screen screen;
    begin_output(&screen, request, profile);
    if (request->text.format == COLUMNS_TEXT && request->is_flame)
        status =
            flame_text_write(stdout, profile, tree, &branches, &request->text);
    else if (request->text.format == COLUMNS_TEXT)
        status = tree_text_write(stdout, profile, tree, &branches, callers,
                                 &request->text);
    else
        data_report_tree(stdout, profile, tree, &branches, words[request->view],
                         &request->text);
    end_output(&screen, request, profile);
    tree_release_branches(&branches);
    return status != 0 ? command_fail("%s", strerror(ENOMEM)) : STATUS_DONE;
}

/* Show callers or callees. Names are matched in the usual tree, so that is made
 * first. Then it is inverted (view/match.h), or the trees below the function
 * are joined (view/match.h). */
static int
show_around(struct profile *profile, struct request *request,
            const struct tree *tree)
{
    char error[512];
    struct match match;
    if (match_begin(&match, tree, request->function, error, sizeof(error)) != 0)
        return command_fail("%s", error);
    struct tree *around = request->view == VIEW_CALLERS
                              ? match_callers(tree, &match)
                              : match_callees(tree, &match);
    int status = around == NULL ? command_fail("%s", strerror(errno))
                                : show_branches(profile, request, around);
    tree_free(around);
    match_end(&match);
    return status;
}

static int
show_tree(struct profile *profile, struct request *request)
{
    struct tree *tree =
        tree_build(profile, request->is_once ? TREE_ONCE : TREE_FUNCTIONS);
    if (tree == NULL)
        return command_fail("%s", strerror(errno));
    int status = request->view == VIEW_TREE
                     ? show_branches(profile, request, tree)
                     : show_around(profile, request, tree);
    tree_free(tree);
    return status;
}

/* Show the source. Rows have the order of the source and are not sorted by a
 * value. */
static int
show_lines(struct profile *profile, struct request *request)
{
    struct table lines;
    char error[512];
    if (lines_build(&lines, profile, request->function, error, sizeof(error)) !=
        0)
        return command_fail("%s", error);
    struct screen screen;
    begin_output(&screen, request, profile);
    request->text.by = TABLE_LINE;
    (request->text.format == COLUMNS_TEXT
         ? source_text_write
         : data_report_table)(stdout, profile, &lines, &request->text);
    end_output(&screen, request, profile);
    table_release(&lines);
    return STATUS_DONE;
}

static int
show_view(struct profile *profile, struct request *request)
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

/* Take --by. */
static int
take_by(const struct command_option *option, void *field, const char *word)
{
    struct text_report_options *text = field;
    if (strncmp(word, "label:", 6) != 0 || word[6] == '\0')
        return arguments_word(option, &text->by, word);
    text->by = TABLE_LABEL;
    text->label = word + 6;
    return STATUS_DONE;
}

/* Take an option that selects a view. A second one is refused, because only one
 * view is shown. */
static int
take_view(const struct command_option *option, void *values,
          const char *function)
{
    struct request *request = values;
    if (request->view != VIEW_TABLE)
        return command_usage("expected one of --tree, --callers, --callees and "
                             "--lines");
    request->view = (enum view)option->number;
    request->function = function;
    return STATUS_DONE;
}

/* Take --sort. "wall" means the same as --wall: a table is sorted by its first
 * column. */
static int
take_order(const struct command_option *option, void *values, const char *word)
{
    struct request *request = values;
    if (strcmp(word, "wall") != 0)
        return arguments_word(option, &request->order, word);
    request->text.value = VALUE_WALL;
    return STATUS_DONE;
}

/* Check which options go together, and set defaults that depend on others. Text
 * is limited to be readable; data is complete. */
static int
check_request(void *values, char *const *operands)
{
    struct request *request = values;
    bool is_text = request->text.format == COLUMNS_TEXT;
    bool has_rows = command_was_given("-n");
    bool has_least = command_was_given("--min");
    bool has_by = command_was_given("--by");
    (void)operands;
    if (request->is_flame && request->view == VIEW_TABLE && !has_by)
        request->view = VIEW_TREE;
    bool is_table = request->view == VIEW_TABLE;
    bool is_tree = !is_table && request->view != VIEW_LINES;
    if (request->is_flame && (!is_tree || !is_text))
        return command_usage("--flame goes with --tree, --callers and "
                             "--callees, as text");
    if (request->depth > 0 && !is_tree)
        return command_usage("--depth goes with --tree, --callers, --callees "
                             "and --flame");
    if (request->is_once && !is_tree)
        return command_usage("--fold goes with --tree, --callers, --callees "
                             "and --flame");
    if (command_was_given("--sort") && !is_table)
        return command_usage("--sort goes with a table only");
    if (has_rows && request->is_flame)
        return command_usage("-n does not go with --flame; expected --depth");
    if (has_by && !is_table)
        return command_usage("--by goes with a table only");
    if (has_least && !is_tree)
        return command_usage("--min goes with --tree, --callers, --callees "
                             "and --flame");
    if (has_rows && request->view == VIEW_LINES)
        return command_usage("-n does not go with --lines");
    if (is_text && !has_least && !request->is_flame)
        request->text.least = default_least;
    if (is_text && is_table && !has_rows)
        request->text.rows = DEFAULT_ROWS;
    return STATUS_DONE;
}

/* Find idle threads, and make them one row of a text about wall time. A user
 * who asks for some threads, stacks or functions has chosen. Data is complete.
 */
static int
find_idle(const struct request *request, struct profile *profile)
{
    bool folds = request->text.value == VALUE_WALL && !request->shows_idle &&
                 request->text.format == COLUMNS_TEXT &&
                 (request->view == VIEW_TABLE || request->view == VIEW_TREE);
    if (request->filter.count > 0)
        return 0;
    return idle_find(profile) != 0 || (folds && idle_fold(profile) != 0) ? -1
                                                                         : 0;
}

/* Load and show. */
static int
run_report(void *values, char *const *paths, int count)
{
    struct request *request = values;
    struct profile *profile =
        inputs_load(&request->filter, paths, count, false);
    int status = STATUS_FAILED;
    if (profile != NULL && find_idle(request, profile) != 0)
        status = command_fail("%s", strerror(errno));
    else if (profile != NULL)
        status = inputs_status(profile, show_view(profile, request));
    profile_free(profile);
    return status;
}

#define FIELD(member) .field = offsetof(struct request, member)

static const struct command_option options[] = {
    {"cpu", NULL, "the most CPU time first (the default)", arguments_enum,
     FIELD(text.value), .number = VALUE_CPU},
    {"wall", NULL, "the most wall time first", arguments_enum,
     FIELD(text.value), .number = VALUE_WALL},
    {"sort", "WHAT", "flat (the default), cum, or wall (as --wall)", take_order,
     .words = "flat|cum|wall"},
    {"by", "WHAT",
     "function (the default), line, module, thread, state,\n"
     "process, exe, command or label:KEY (a label of the\n"
     "program)",
     take_by, FIELD(text),
     "function|line|module|thread|state|process|exe|command|label:KEY"},
    {"tree", NULL,
     "the call tree, the largest branch first; > is the\n"
     "only function that the one above it calls",
     take_view, .number = VIEW_TREE},
    {"callers", "F", "the functions that call F: the tree upside down",
     take_view, .number = VIEW_CALLERS},
    {"callees", "F", "what F calls, wherever F was called from", take_view,
     .number = VIEW_CALLEES},
    {"flame", NULL, "a tree as a flame graph, as wide as the terminal",
     arguments_flag, FIELD(is_flame)},
    {"fold", NULL,
     "a tree with recursion folded, direct or not: a\n"
     "function stands once on a stack",
     arguments_flag, FIELD(is_once)},
    {"depth", "N", "a tree of at most N levels of calls", ARGUMENTS_COUNT,
     FIELD(depth)},
    {"lines", "F",
     "the source of F with the time of each line\n"
     "(F: a function's name, or a regular expression)",
     take_view, .number = VIEW_LINES},
    {"idle", NULL,
     "with --wall, the stacks of idle threads as those of\n"
     "all others, not as one row at the end",
     arguments_flag, FIELD(shows_idle)},
    {"min", "PERCENT", "fold branches of a tree below this, 1 by default",
     ARGUMENTS_PERCENT, FIELD(text.least)},
    {NULL, "N", "N rows, 40 by default in a table; 0 for all", ARGUMENTS_COUNT,
     FIELD(text.rows), .letter = 'n'},
    {"csv", NULL, NULL, arguments_enum, FIELD(text.format),
     .number = COLUMNS_CSV},
    {"json", NULL, "for programs: all rows, times in nanoseconds",
     arguments_enum, FIELD(text.format), .number = COLUMNS_JSON},
    {SCREEN_COLOUR_OPTION, FIELD(colour)},
    {0},
};

const struct command cmd_report = {
    .name = "report",
    .summary = "print the functions that took the time",
    .usage = "[OPTION]... FILE...",
    .about = "Prints where the time went. flat is the time spent in a function "
             "itself,\n"
             "cum the time spent while it was on the stack, in seconds. "
             "Several files\n"
             "are added up.\n",
    .options = options,
    .group = {"Which samples", inputs_options},
    .notes = "Long output on a terminal goes through $SPROF_PAGER, $PAGER or "
             "less.\n",
    .least = 1,
    .operands = "a FILE",
    .values = &(const struct request){.text.value = VALUE_CPU},
    .size = sizeof(struct request),
    .check = check_request,
    .run = run_report,
    .release = inputs_release,
};
