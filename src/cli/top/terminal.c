/* SPDX-License-Identifier: MIT */
/*
 * terminal.c -- see terminal.h. Text is clean UTF-8 (util/clean.h), but the
 * terminal may use another encoding. A character may take two columns there, or
 * none. Therefore each character is asked for its width, and one that cannot be
 * shown is drawn as '?'. So no line is ever wider than the screen.
 */
#include <curses.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "page.h"
#include "terminal.h"

/* Pairs of colours. */
enum { PAIR_HOT = 1, PAIR_WARM };

/* ESCAPE_MS: bytes that follow an escape within this time, in ms, belong to the
 * code of the same key. */
enum { ESCAPE_MS = 25 };

static SCREEN *screen;
static bool has_colour;

/* Whether the terminal can place its cursor; a screen cannot be drawn without
 * that. */
static bool
has_cursor(void)
{
    const char *text = tigetstr("cup");
    return text != NULL && text != (const char *)-1;
}

/* Make the screen. Returns NULL, or a sentence that says why it cannot be made.
 * newterm(3) is used because initscr(3) would end the process. */
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
    terminal_end();
    return "this terminal (TERM) cannot place its cursor";
}

int
terminal_begin(bool with_colour, const char **why)
{
    /* Only LC_CTYPE is taken from the locale: numbers keep their form. */
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

/* ncurses handles SIGWINCH and reports it as the key KEY_RESIZE. */
unsigned
terminal_lines(void)
{
    return LINES > 0 ? (unsigned)LINES : 1;
}

unsigned
terminal_columns(void)
{
    return COLS > 0 ? (unsigned)COLS : 1;
}

/* Without colours, hot text is bold. */
static attr_t
attribute_of(enum page_look look)
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

/* Return the next character at *TEXT, which has at most LENGTH bytes, and
 * advance *TEXT. *WIDTH becomes its width in columns. A character that cannot
 * be shown becomes '?'. */
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
        /* The other bytes of the character belong to the same '?'. */
        for (size = 1;
             size < length && ((unsigned char)(*text)[size] & 0xc0) == 0x80;
             size++)
            continue;
    }
    *text += size;
    return is_shown ? character : L'?';
}

/* Draw PART from column AT on, as far as it fits. Returns the column behind it.
 */
static unsigned
draw_part(const struct page_part *part, unsigned at)
{
    const char *text = part->text, *end = text + part->length;
    attrset(attribute_of(part->look));
    unsigned width;
    while (text < end) {
        wchar_t character = next_character(&text, (size_t)(end - text), &width);
        if (at + width > terminal_columns())
            return UINT_MAX / 2;
        addnwstr(&character, 1);
        at += width;
    }
    return at;
}

/* ncurses compares the page with the screen and sends only the difference. */
void
terminal_draw(const struct page *page, const char *foot)
{
    struct page_reader reader = {.text = page->text};
    struct page_part part;
    unsigned last = terminal_lines() - 1;
    erase();
    for (unsigned i = 0; reader.text[0] != '\0' && i < last; i++) {
        unsigned at = 0;
        move((int)i, 0);
        for (bool goes_on = true; goes_on;) {
            goes_on = page_next_part(&reader, &part);
            at = draw_part(&part, at);
        }
    }
    part = (struct page_part){foot, strlen(foot), PAGE_ALERT, PAGE_PLAIN};
    move((int)last, 0);
    draw_part(&part, 0);
    attrset(A_NORMAL);
    refresh();
}

/* A key of several bytes arrives as one code (keypad(3)). */
int
terminal_key(int milliseconds)
{
    timeout(milliseconds);
    int key = getch();
    switch (key) {
    case ERR:
        return TERMINAL_NONE;
    case KEY_RESIZE:
        return TERMINAL_RESIZED;
    case KEY_UP:
        return TERMINAL_UP;
    case KEY_DOWN:
        return TERMINAL_DOWN;
    case KEY_PPAGE:
        return TERMINAL_PAGE_UP;
    case KEY_NPAGE:
        return TERMINAL_PAGE_DOWN;
    case KEY_HOME:
        return TERMINAL_HOME;
    default:
        return key < 0x80 ? key : TERMINAL_OTHER;
    }
}

void
terminal_end(void)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
}
