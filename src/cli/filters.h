/* SPDX-License-Identifier: MIT */
/*
 * filters.h -- the options that select the samples that a command reads, and
 * the form of function names. All reading commands share them:
 *
 *   static const struct option options[] = {
 *       FILTERS_OPTIONS,
 *       {"help", no_argument, NULL, 'h'},
 *       {NULL, 0, NULL, 0},
 *   };
 *   struct filter_options filter = {0};
 *   ...
 *   default:
 *       if (filters_take(&filter, argv[0], option, optarg) != STATUS_DONE)
 *           return STATUS_USAGE;
 */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include <getopt.h>

#include "view/filter.h"

enum filters_option {
    FILTERS_THREAD = 0x1000,
    FILTERS_STATE,
    FILTERS_LABEL,
    FILTERS_TIME,
    FILTERS_FOCUS,
    FILTERS_IGNORE,
    FILTERS_FULL_NAMES,
    FILTERS_MODULE,
};

#define FILTERS_OPTIONS                                      \
    {"thread", required_argument, NULL, FILTERS_THREAD},     \
        {"state", required_argument, NULL, FILTERS_STATE},   \
        {"label", required_argument, NULL, FILTERS_LABEL},   \
        {"module", required_argument, NULL, FILTERS_MODULE}, \
        {"time", required_argument, NULL, FILTERS_TIME},     \
        {"focus", required_argument, NULL, FILTERS_FOCUS},   \
        {"ignore", required_argument, NULL, FILTERS_IGNORE}, \
    {                                                        \
        "full-names", no_argument, NULL, FILTERS_FULL_NAMES  \
    }

/* The lines of these options on a help page. */
#define FILTERS_HELP                                                          \
    "  --thread NAME|TID  samples of this thread (NAME may be a pattern, "    \
    "a*)\n"                                                                   \
    "  --state S          in this state: running, runnable, waiting, "        \
    "futex...\n"                                                              \
    "  --label KEY=VALUE  with this label: thread, tid, process, state,\n"    \
    "                     waits_on, or one of the program's\n"                \
    "  --module GLOB      taken in the code of this module: libc.so*, app\n"  \
    "  --time A-B         from second A to second B (5-: to the end)\n"       \
    "  --focus REGEX      stacks with a function that matches\n"              \
    "  --ignore REGEX     no stacks with a function that matches\n"           \
    "                     (--thread a --thread b: either; --focus a --focus " \
    "b:\n"                                                                    \
    "                     both on one stack; different options: all of "      \
    "them)\n"                                                                 \
    "  --full-names       functions with parameters, return types and all\n"  \
    "                     template arguments; REGEX sees them, too\n"

/* Take OPTION with its ARGUMENT into FILTER. A wrong argument, or an option
 * that is none of these, is reported in the name of COMMAND. Returns
 * STATUS_DONE, STATUS_USAGE, or STATUS_FAILED if memory is short. */
int filters_take(struct filter_options *filter, const char *command, int option,
                 const char *argument);

/* Load the COUNT files at PATHS (inputs.h) and keep what FILTER selects. A
 * message is printed if that is nothing. KEEPS_EVENTS is for commands that need
 * the times of samples themselves. Returns NULL after a message. */
struct profile *filters_load(const struct filter_options *filter,
                             char *const *paths, int count, bool keeps_events);

#endif
