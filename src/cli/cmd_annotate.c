/* SPDX-License-Identifier: MIT */
/*
 * cmd_annotate.c -- `sprofile annotate`: shows the source of a function with
 * the time of each line, as `sprofile report --lines` does. Below it comes the
 * machine code with the time of each instruction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/code_text.h"
#include "show/text_report.h"
#include "view/code.h"
#include "view/lines.h"
#include "view/match.h"
#include "view/tree.h"
#include "arguments.h"
#include "inputs.h"
#include "objdump.h"
#include "screen.h"

/* Limit of the functions whose machine code is shown. An expression may select
 * more. */
enum { FUNCTIONS = 8 };

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    struct text_report_options text;
    enum screen_colour colour;
};

/* Print the machine code of CODE, or why it is missing. */
static void
print_code(struct profile *profile, const struct code *code,
           const struct text_report_options *text)
{
    struct objdump objdump;
    char reason[512];
    putchar('\n');
    if (objdump_function(&objdump, profile, code, reason, sizeof(reason)) == 0)
        code_text_write(stdout, profile, code, objdump.all, objdump.count,
                        text);
    else
        code_text_write_none(stdout, profile, code, reason, text);
    objdump_release(&objdump);
}

static void
print_codes(struct profile *profile, const struct code_list *list,
            const struct text_report_options *text)
{
    for (uint32_t i = 0; i < list->count && i < FUNCTIONS; i++)
        print_code(profile, &list->all[i], text);
    if (list->count > FUNCTIONS)
        printf("\nnote: %u more functions have machine code; expected the name "
               "of one\n",
               list->count - FUNCTIONS);
    if (list->inlined > 0)
        fputs("\nnote: it is inlined, too: the machine code there is that of "
              "its callers\n",
              stdout);
}

/* Collect the code of the functions that NAME selects. */
static int
collect_code(struct code_list *list, struct profile *profile, const char *name,
             char *error, size_t size)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    struct match match;
    int status = -1;
    if (tree == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return -1;
    }
    if (match_begin(&match, tree, name, error, size) == 0) {
        status = code_collect(list, profile, &match);
        if (status != 0)
            snprintf(error, size, "%s", strerror(errno));
        match_end(&match);
    }
    tree_free(tree);
    return status;
}

/* Make everything before anything is printed, so that a failure is one line. */
static int
show(struct profile *profile, struct arguments *arguments, const char *name)
{
    struct code_list list;
    struct table lines;
    char error[512];
    if (lines_build(&lines, profile, name, error, sizeof(error)) != 0)
        return command_fail("%s", error);
    if (collect_code(&list, profile, name, error, sizeof(error)) != 0) {
        table_release(&lines);
        return command_fail("%s", error);
    }
    struct screen screen;
    screen_begin(&screen, arguments->colour, true);
    arguments->text.columns = screen.columns;
    arguments->text.paint = screen.paint;
    bool has_error = false;
    arguments->text.has_error = &has_error;
    text_report_brief(stdout, profile, screen.columns, screen.paint);
    putchar('\n');
    source_text_write(stdout, profile, &lines, &arguments->text);
    print_codes(profile, &list, &arguments->text);
    text_report_notes(stdout, profile, has_error);
    screen_end(&screen);
    code_release(&list);
    table_release(&lines);
    return STATUS_DONE;
}

/* The first operand is the function. */
static int
run_annotate(void *values, char *const *operands, int count)
{
    struct arguments *arguments = values;
    struct profile *profile =
        inputs_load(&arguments->filter, operands + 1, count - 1, false);
    int status = STATUS_FAILED;
    if (profile != NULL)
        status = inputs_status(profile, show(profile, arguments, operands[0]));
    profile_free(profile);
    return status;
}

#define FIELD(member) .field = offsetof(struct arguments, member)

static const struct command_option options[] = {
    {"cpu", NULL, "CPU time (the default)", arguments_enum, FIELD(text.value),
     .number = VALUE_CPU},
    {"wall", NULL, "wall time", arguments_enum, FIELD(text.value),
     .number = VALUE_WALL},
    {SCREEN_COLOUR_OPTION, FIELD(colour)},
    {0},
};

const struct command cmd_annotate = {
    .name = "annotate",
    .summary = "print source and machine code of a function",
    .usage = "[OPTION]... F FILE...",
    .about = "Prints the source of function F with the time of each line, and "
             "its machine\n"
             "code, by objdump, with the time of each instruction. F is a name "
             "or a regular\n"
             "expression. flat is the time spent there, cum also the time in "
             "what was\n"
             "called from there, in seconds.\n",
    .options = options,
    .group = {"Which samples", inputs_options},
    .notes = "Long output on a terminal goes through $SPROF_PAGER, $PAGER or "
             "less.\n",
    .least = 2,
    .operands = "F and a FILE",
    .values = &(const struct arguments){.text.value = VALUE_CPU},
    .size = sizeof(struct arguments),
    .run = run_annotate,
    .release = inputs_release,
};
