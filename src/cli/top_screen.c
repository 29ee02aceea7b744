/* SPDX-License-Identifier: MIT */
/*
 * top_screen.c -- see top_screen.h. Text is UTF-8 and clean (profile/clean.h),
 * but the terminal may speak something else, and may show a character in two
 * columns or in none: each is asked for its width, and what cannot be shown is
 * a '?'. So no line is ever wider than the screen.
 */
#include "top_screen.h"

#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "page.h"

/* Pairs of colours. */
enum { PAIR_HOT = 1, PAIR_WARM };

/* What follows an escape so soon is the rest of a key's code. */
enum { ESCAPE_MS = 25 };

static SCREEN *screen;
static bool has_colour;

/* Whether the terminal can put its cursor anywhere: else no screen can be
 * drawn. */
static bool
has_cursor(void)
{
    const char *text = tigetstr("cup");

    return text != NULL && text != (const char *)-1;
}

/* Make the screen. Returns why it cannot be made, NULL if it was. initscr(3)
 * would end the process. */
static const char *
make_screen(void)
{
    if (getenv("TERM") == NULL)
        return "TERM is not set";
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL)
        return "TERM is not known here";
    set_term(screen);
    if (has_cursor())
        return NULL;
    top_screen_end();
    return "this terminal (TERM) cannot place its cursor";
}

int
top_screen_begin(bool with_colour, const char **why)
{
    /* Of the locale, what characters are: numbers stay as they are printed. */
    setlocale(LC_CTYPE, "");
    *why = make_screen();
    if (*why != NULL)
        return -1;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    (void)curs_set(0);
    has_colour = with_colour && has_colors() && start_color() == OK;
    if (has_colour && use_default_colors() == OK) {
        init_pair(PAIR_HOT, COLOR_RED, -1);
        init_pair(PAIR_WARM, COLOR_GREEN, -1);
    } else if (has_colour) {
        init_pair(PAIR_HOT, COLOR_RED, COLOR_BLACK);
        init_pair(PAIR_WARM, COLOR_GREEN, COLOR_BLACK);
    }
    return 0;
}

/* The library follows SIGWINCH, and tells by a key that it did. */
unsigned
top_screen_lines(void)
{
    return LINES > 0 ? (unsigned)LINES : 1;
}

unsigned
top_screen_columns(void)
{
    return COLS > 0 ? (unsigned)COLS : 1;
}

/* Where there are no colours, what is hot is bold. */
static attr_t
attribute(enum page_look look)
{
    switch (look) {
    case PAGE_TITLE:
        return A_BOLD;
    case PAGE_ALERT:
        return A_REVERSE;
    case PAGE_HOT:
        return has_colour ? (attr_t)COLOR_PAIR(PAIR_HOT) : A_BOLD;
    case PAGE_WARM:
        return has_colour ? (attr_t)COLOR_PAIR(PAIR_WARM) : A_NORMAL;
    default:
        return A_NORMAL;
    }
}

/* The look of column AT of LINE, which is ASCII up to there. */
static enum page_look
look_at(const struct page_line *line, unsigned at)
{
    for (unsigned i = 0; i < line->mark_count; i++)
        if (at - line->marks[i].start < line->marks[i].length)
            return line->marks[i].look;
    return line->look;
}

/* The next character at *TEXT, of LENGTH bytes at the most, and its width: '?'
 * for what cannot be shown here. */
static wchar_t
next_character(const char **text, size_t length, unsigned *width)
{
    mbstate_t state = {0};
    wchar_t character;
    size_t size = mbrtowc(&character, *text, length, &state);
    bool is_shown = size != (size_t)-1 && size != (size_t)-2 && size != 0 &&
                    wcwidth(character) > 0;

    *width = is_shown ? (unsigned)wcwidth(character) : 1;
    if (size == (size_t)-1 || size == (size_t)-2 || size == 0) {
        /* Its other bytes belong to the same '?'. */
        for (size = 1;
             size < length && ((unsigned char)(*text)[size] & 0xc0) == 0x80;
             size++)
            continue;
    }
    *text += size;
    return is_shown ? character : L'?';
}

/* Draw LENGTH bytes of TEXT in line Y. */
static void
draw_line(int y, const struct page_line *line, const char *text, size_t length)
{
    const char *end = text + length;
    unsigned at = 0, width;

    move(y, 0);
    clrtoeol();
    while (text < end) {
        wchar_t character = next_character(&text, (size_t)(end - text), &width);
        if (at + width > top_screen_columns())
            break;
        attrset(attribute(look_at(line, at)));
        addnwstr(&character, 1);
        at += width;
    }
    attrset(A_NORMAL);
}

/* The library compares with what is on the screen, and sends the difference. */
void
top_screen_draw(const struct page *page, const char *foot)
{
    static const struct page_line foot_line = {.look = PAGE_ALERT};
    const char *text = page->text;
    unsigned last = top_screen_lines() - 1, i;

    erase();
    for (i = 0; i < page->count && i < last; i++) {
        size_t length = strcspn(text, "\n");
        draw_line((int)i, &page->lines[i], text, length);
        text += length + 1;
    }
    draw_line((int)last, &foot_line, foot, strlen(foot));
    refresh();
}

/* Keys that are several bytes long come as one (keypad). */
int
top_screen_key(int milliseconds)
{
    int key;

    timeout(milliseconds);
    key = getch();
    switch (key) {
    case ERR:
        return TOP_KEY_NONE;
    case KEY_RESIZE:
        return TOP_KEY_RESIZED;
    case KEY_UP:
        return TOP_KEY_UP;
    case KEY_DOWN:
        return TOP_KEY_DOWN;
    case KEY_PPAGE:
        return TOP_KEY_PAGE_UP;
    case KEY_NPAGE:
        return TOP_KEY_PAGE_DOWN;
    case KEY_HOME:
        return TOP_KEY_HOME;
    default:
        return key < 0x80 ? key : TOP_KEY_OTHER;
    }
}

void
top_screen_end(void)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
}
