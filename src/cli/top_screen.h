/* SPDX-License-Identifier: MIT */
/*
 * top_screen.h -- the terminal while `sprofile top` has it (ncurses). One at a
 * time.
 */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdbool.h>

struct page;

/* Keys that are no characters. */
enum top_key {
    TOP_KEY_NONE = 0x100, /* the time is over */
    TOP_KEY_RESIZED,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_OTHER,
};

/* Take the terminal. Returns 0, or -1 with a sentence: its type is not known.
 */
int top_screen_begin(bool with_colour, const char **why);

/* Lines and columns, as they are now. */
unsigned top_screen_lines(void);
unsigned top_screen_columns(void);

/* Show PAGE from the first line on, and FOOT in the last line. What does not
 * fit is left out. */
void top_screen_draw(const struct page *page, const char *foot);

/* Wait for a key, for MILLISECONDS at the most. Returns a character or an enum
 * top_key. A signal may end the wait earlier. */
int top_screen_key(int milliseconds);

/* Give the terminal back as it was. May be called twice. */
void top_screen_end(void);

#endif
