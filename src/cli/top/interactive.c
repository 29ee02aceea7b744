/* SPDX-License-Identifier: MIT */
/*
 * interactive.c -- `sprofile top` on a terminal (interactive_run in top.h),
 * with ncurses. All data that is drawn is in memory, so a key or a resized
 * terminal is answered at once. The process is looked at once per interval.
 *
 * SIGINT quits, like the key q. SIGTERM and SIGHUP end this process, but the
 * terminal is restored first.
 *
 * Text is clean UTF-8 (util/clean.h), but the terminal may use another
 * encoding. A character may take two columns there, or none. Therefore each
 * character is asked for its width, and one that cannot be shown is drawn as
 * '?'. So no line is ever wider than the screen.
 */
#include <curses.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "cli/command.h"
#include "top.h"

/* WAIT_MS: the longest wait for a key, in ms. A signal that comes just before
 * the wait does not interrupt it. */
enum { WAIT_MS = 200 };

/* LINES_FEW: a terminal with fewer lines has no room for the whole head. */
enum { LINES_FEW = 16 };

/* The smallest step of `+` and `-`, which is also the shortest interval, and
 * the longest interval, in ns. */
#define INTERVAL_LEAST 100000000u
#define INTERVAL_MOST 86400000000000u

static const char foot[] = "q quit  c cpu  w wall  f functions  t threads  "
                           "s sort  r recent/all  p pause  h help";
static const char foot_over[] =
    "it has ended; keys still change the view, any other leaves";

static const char *const help[] = {
    "c  w        CPU time; wall time",
    "f  t        functions; threads",
    "s           sort by the next column",
    "r           shares of the last interval, or of all since the start",
    "i           of wall time, idle threads as one row, or as all others",
    "p  blank    pause, and go on",
    "+  -        longer and shorter intervals",
    "arrows, page up, page down, home",
    "            the other rows",
    "q, Ctrl-C   quit",
    "",
    "self and total are the shares of a function itself, and of all while it",
    "was on the stack. Seconds are always those since the start. ± is",
    "the error of self, with 95 %. Functions of fewer than five samples",
    "are dim.",
};

/* Pairs of colours. */
enum { PAIR_HOT = 1, PAIR_WARM };

/* ESCAPE_MS: bytes that follow an escape within this time, in ms, belong to the
 * code of the same key. */
enum { ESCAPE_MS = 25 };

static SCREEN *screen;
static bool has_colour;

/* Restore the terminal. It may be called twice. */
static void
terminal_end(void)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
}

/* Make the screen. Returns NULL, or a sentence that says why it cannot be made.
 * newterm(3) is used because initscr(3) would end the process. A screen cannot
 * be drawn if the terminal cannot place its cursor. */
static const char *
make_screen(void)
{
    if (getenv("TERM") == NULL)
        return "TERM is not set";
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL)
        return "TERM is not known here";
    set_term(screen);
    const char *cursor = tigetstr("cup");
    if (cursor != NULL && cursor != (const char *)-1)
        return NULL;
    terminal_end();
    return "this terminal (TERM) cannot place its cursor";
}

/* Switch the terminal to full-screen mode. Returns 0, or -1 with a sentence in
 * *WHY, for example if its type is not known. */
static int
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
static unsigned
terminal_lines(void)
{
    return LINES > 0 ? (unsigned)LINES : 1;
}

static unsigned
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
    case PAGE_FAINT:
        return has_colour ? A_DIM : A_NORMAL;
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

/* Draw PART from column AT on, as far as it fits. Returns the column after it.
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

/* Draw PAGE from its first line on, and BOTTOM in the last line of the screen.
 * Text that does not fit is left out. ncurses sends only what differs from the
 * screen. */
static void
terminal_draw(const struct page *page, const char *bottom)
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
    part = (struct page_part){bottom, strlen(bottom), PAGE_ALERT, PAGE_PLAIN};
    move((int)last, 0);
    draw_part(&part, 0);
    attrset(A_NORMAL);
    refresh();
}

/* The state of the display. */
struct display {
    struct follow *follow;
    struct top_options options;
    uint32_t first, count; /* first row shown; number of all rows */
    uint64_t next;         /* time of the next look, ns */
    bool is_paused, is_help, is_done;
};

static volatile sig_atomic_t signal_seen;

static void
on_signal(int number)
{
    signal_seen = number;
}

/* A signal that is ignored stays ignored: nohup(1) relies on that. */
static void
catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    struct sigaction old;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

/* Fill PAGE. The number of lines of the head is not known here, so more rows
 * are made than fit. The screen leaves the surplus out. */
static int
compose_page(struct display *display, struct page *page)
{
    const struct follow *follow = display->follow;
    unsigned lines = terminal_lines();
    bool is_short = lines < LINES_FEW;
    if (display->is_help) {
        fprintf(page->stream, "%skeys%s\n", page_paint.title, page_paint.end);
        for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
            fprintf(page->stream, "  %s\n", help[i]);
        return 0;
    }
    tables_add_head(page, follow,
                    display->is_paused ? "paused" : follow_state(follow),
                    is_short);
    if (!is_short)
        fputc('\n', page->stream);
    return tables_add(page, follow->watch, &display->options.view,
                      display->first,
                      display->options.rows > 0 ? display->options.rows : lines,
                      &display->count);
}

/* Make a page and draw it. */
static int
draw_page(struct display *display)
{
    struct page page;
    int status = page_begin(&page, terminal_columns());
    if (status == 0)
        status = compose_page(display, &page);
    if (page.stream != NULL && page_end(&page) != 0)
        status = -1;
    if (status == 0)
        terminal_draw(&page,
                      display->is_help
                          ? "any key goes back"
                          : (display->follow->is_over ? foot_over : foot));
    page_release(&page);
    return status;
}

/* Change the view as KEY says. The new view begins at its first row. */
static void
change_view(struct display *display, int key)
{
    struct top_view *view = &display->options.view;
    display->first = 0;
    if (key == 'c' || key == 'w')
        view->value = key == 'c' ? VALUE_CPU : VALUE_WALL;
    else if (key == 'f' || key == 't')
        view->by = key == 'f' ? TOP_FUNCTIONS : TOP_THREADS;
    else if (key == 'r')
        view->span = view->span == SPAN_ALL ? SPAN_INTERVAL : SPAN_ALL;
    else if (key == 'i')
        view->shows_idle = !view->shows_idle;
    else
        tables_next_order(view);
}

/* Scroll if KEY is one that scrolls. Returns whether it is. */
static bool
scroll_rows(struct display *display, int key)
{
    uint32_t page = terminal_lines() / 2;
    switch (key) {
    case KEY_UP:
        display->first -= display->first > 0;
        return true;
    case KEY_DOWN:
        display->first += display->first + 1 < display->count;
        return true;
    case KEY_PPAGE:
        display->first -= display->first < page ? display->first : page;
        return true;
    case KEY_NPAGE:
        if (display->first + page < display->count)
            display->first += page;
        return true;
    case KEY_HOME:
        display->first = 0;
        return true;
    default:
        return false;
    }
}

/* Change the interval by a step: a tenth of a second, a second, ten, and so on.
 * The step fits the size of the interval. */
static void
change_interval(struct display *display, bool longer)
{
    uint64_t *interval = &display->options.interval, step = INTERVAL_LEAST;
    while (*interval >= step * 10 + (longer ? 0 : 1) &&
           step < INTERVAL_MOST / 10)
        step *= 10;
    if (longer && *interval + step <= INTERVAL_MOST)
        *interval += step;
    else if (!longer && *interval > step)
        *interval -= step;
    display->next = clock_now() + *interval;
}

/* After the end of the process, a key without a meaning quits. */
static void
obey_key(struct display *display, int key)
{
    if (key == ERR || key == KEY_RESIZE)
        return;
    if (display->is_help) {
        display->is_help = false;
        return;
    }
    if (key == 'q' || key == 'Q' || key == 27)
        display->is_done = true;
    else if (key < 0x80 && strchr("cwftrsi", key) != NULL)
        change_view(display, key);
    else if (key == 'p' || key == ' ')
        display->is_paused = !display->is_paused;
    else if (key == '+' || key == '-')
        change_interval(display, key == '+');
    else if (key == 'h' || key == '?')
        display->is_help = true;
    else if (!scroll_rows(display, key) && display->follow->is_over)
        display->is_done = true;
}

/* Time until the next look in ms, at most WAIT_MS. */
static int
time_to_wait(const struct display *display)
{
    uint64_t now = clock_now();
    if (display->is_paused || display->follow->is_over)
        return WAIT_MS;
    uint64_t ms = now < display->next ? (display->next - now) / 1000000 + 1 : 0;
    return ms < WAIT_MS ? (int)ms : WAIT_MS;
}

/* Look at the process if the interval is over. After a pause, all that came
 * meanwhile is one interval. */
static int
look_if_due(struct display *display, bool *is_new)
{
    uint64_t now = clock_now();
    *is_new = false;
    if (display->is_paused || display->follow->is_over || now < display->next)
        return 0;
    display->next += display->options.interval;
    if (display->next < now)
        display->next = now + display->options.interval;
    *is_new = true;
    return follow_look(display->follow);
}

/* A terminal that has gone answers every read at once; isatty(3) ends that
 * loop. */
static int
run_display(struct display *display)
{
    bool is_new = true;
    while (!display->is_done && signal_seen == 0 && isatty(STDIN_FILENO)) {
        if (is_new && draw_page(display) != 0)
            return -1;
        /* A key of several bytes arrives as one code (keypad(3)). A signal may
         * end the wait early. */
        timeout(time_to_wait(display));
        int key = getch();
        obey_key(display, key);
        if (look_if_due(display, &is_new) != 0)
            return -1;
        is_new |= key != ERR;
    }
    return 0;
}

int
interactive_run(struct follow *follow, const struct top_options *options)
{
    struct display display = {.follow = follow,
                              .options = *options,
                              .next = clock_now() + options->interval};
    catch_signals();
    const char *why;
    if (terminal_begin(options->has_colour, &why) != 0)
        return command_complain("%s: try --once", why);
    int status = run_display(&display);
    int error = errno;
    terminal_end();
    if (status != 0)
        command_fail("%s", strerror(error));
    if (signal_seen == SIGTERM || signal_seen == SIGHUP) {
        signal((int)signal_seen, SIG_DFL);
        raise((int)signal_seen);
    }
    return status != 0 ? STATUS_FAILED : STATUS_DONE;
}
