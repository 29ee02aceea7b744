/* SPDX-License-Identifier: MIT */
/*
 * terminal.h -- the terminal while `sprofile top` draws on it (ncurses).
 * There is one screen at a time.
 */
#ifndef CLI_TOP_TERMINAL_H
#define CLI_TOP_TERMINAL_H

#include <stdbool.h>

struct page;

/* Keys without a character. */
enum terminal_key {
    TERMINAL_NONE = 0x100, /* no key came in time */
    TERMINAL_RESIZED,
    TERMINAL_UP,
    TERMINAL_DOWN,
    TERMINAL_PAGE_UP,
    TERMINAL_PAGE_DOWN,
    TERMINAL_HOME,
    TERMINAL_OTHER,
};

/* Switch the terminal to full-screen mode. Returns 0, or -1 with a sentence in
 * *WHY, for example if its type is not known. */
int terminal_begin(bool with_colour, const char **why);

/* The present size of the terminal. */
unsigned terminal_lines(void);
unsigned terminal_columns(void);

/* Draw PAGE from its first line on, and FOOT in the last line of the screen.
 * Text that does not fit is left out. */
void terminal_draw(const struct page *page, const char *foot);

/* Wait at most MILLISECONDS for a key. Returns a character or an enum
 * terminal_key. A signal may end the wait early. */
int terminal_key(int milliseconds);

/* Restore the terminal. It may be called twice. */
void terminal_end(void);

#endif
