/* SPDX-License-Identifier: MIT */
/*
 * screen.h -- where a command's output goes. On a terminal it is as wide as
 * that, coloured, and goes through a pager, as git's does; in a pipe or a file
 * it is plain and goes straight there.
 *
 *   $SPROF_PAGER, then $PAGER, then "less"; "" or "cat": none. less quits if
 *   one screen is enough, unless $LESS says otherwise.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <sys/types.h>

struct paint;

enum screen_colour { SCREEN_AUTO, SCREEN_ALWAYS, SCREEN_NEVER };

struct screen {
    unsigned columns; /* 0: as long as lines are */
    const struct paint *paint;
    pid_t pager; /* 0: none */
    int saved;   /* descriptor of standard output, while there is a pager */
};

/* Take --color WORD ("auto", "always" or "never") into *COLOUR; complain about
 * another word in the name of COMMAND. Returns STATUS_DONE or STATUS_USAGE. */
int screen_take_colour(const char *command, const char *word,
                       enum screen_colour *colour);

/* Whether output is to have colours. Of "auto", NO_COLOR and TERM=dumb make
 * none, nor do pipes and files. */
bool screen_has_colour(enum screen_colour colour);

/* Begin output. Without PAGES there is no pager and no width to fit: for data.
 */
void screen_begin(struct screen *screen, enum screen_colour colour, bool pages);

/* Everything is written: wait until the pager's user has seen it. A reader that
 * went away before the end is no failure. */
void screen_end(struct screen *screen);

#endif
