/* SPDX-License-Identifier: MIT */
/*
 * screen.h -- where the output of a command goes. On a terminal, it is as wide
 * as the terminal, coloured, and goes through a pager, as that of git does.
 * Into a pipe or a file it is plain and goes there directly.
 *
 * The pager is $SPROF_PAGER, else $PAGER, else "less"; "" or "cat" means none.
 * less quits if one screen is enough, unless $LESS says otherwise.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "arguments.h"

struct paint;

enum screen_colour { SCREEN_AUTO, SCREEN_ALWAYS, SCREEN_NEVER };

struct screen {
    unsigned columns; /* 0: no limit */
    const struct paint *paint;
    pid_t pager; /* 0: none */
    int saved;   /* copy of standard output while a pager runs */
};

/* The option that all commands with a screen have; the caller adds its field.
 */
#define SCREEN_COLOUR_OPTION                                                \
    "color", "WHEN", "auto (the default), always or never", arguments_word, \
        .words = "auto|always|never"

/* Whether output to FD has colours. With "auto" it has none into pipes and
 * files, with NO_COLOR, or with TERM=dumb. */
bool screen_has_colour(enum screen_colour colour, int fd);

/* Begin output. Without PAGES, which is for data, the output has no pager, no
 * colour and no limit of width. */
void screen_begin(struct screen *screen, enum screen_colour colour, bool pages);

/* End output: wait until the user has left the pager. It is no failure if the
 * reader goes away before the end. */
void screen_end(struct screen *screen);

#endif
