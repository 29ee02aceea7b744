/* SPDX-License-Identifier: MIT */
/*
 * top_screen.h -- the terminal while `sprofile top` draws on it (ncurses).
 * There is one screen at a time.
 */
#ifndef CLI_TOP_TOP_SCREEN_H
#define CLI_TOP_TOP_SCREEN_H

#include <stdbool.h>

struct page;

/* Keys without a character. */
enum top_key {
    TOP_KEY_NONE = 0x100, /* no key came in time */
    TOP_KEY_RESIZED,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_OTHER,
};

/* Switch the terminal to full-screen mode. Returns 0, or -1 with a sentence in
 * *WHY, for example if its type is not known. */
int top_screen_begin(bool with_colour, const char **why);

/* The present size of the terminal. */
unsigned top_screen_lines(void);
unsigned top_screen_columns(void);

/* Draw PAGE from its first line on, and FOOT in the last line of the screen.
 * Text that does not fit is left out. */
void top_screen_draw(const struct page *page, const char *foot);

/* Wait at most MILLISECONDS for a key. Returns a character or an enum top_key.
 * A signal may end the wait early. */
int top_screen_key(int milliseconds);

/* Restore the terminal. It may be called twice. */
void top_screen_end(void);

#endif
