/* SPDX-License-Identifier: MIT */
/* interactive_none.c -- see top.h: a build without ncurses. cmd_top.c does not
 * call it. */
#include "cli/command.h"

#include "top.h"

int
interactive_run(struct follow *follow, const struct top_options *options)
{
    (void)follow;
    (void)options;
    return STATUS_FAILED;
}
