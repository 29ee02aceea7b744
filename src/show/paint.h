/* SPDX-License-Identifier: MIT */
/*
 * paint.h -- the colours of text on a terminal: the eight that every terminal
 * has. The caller prints one of these strings before a text and END after it.
 * Without colours all strings are "".
 */
#ifndef SHOW_PAINT_H
#define SHOW_PAINT_H

struct paint {
    const char *title;    /* titles of columns and sections */
    const char *hot;      /* a large share */
    const char *warm;     /* a share to look at */
    const char *alert;    /* important */
    const char *faint;    /* of minor importance */
    const char *end;      /* back to plain text */
    const char *cells[2]; /* of a flame graph, in turn */
};

static const struct paint paint_none = {"", "", "", "", "", "", {"", ""}};

static const struct paint paint_terminal = {
    .title = "\033[1m",
    .hot = "\033[31m",
    .warm = "\033[32m",
    .alert = "\033[31m",
    .faint = "\033[2m",
    .end = "\033[0m",
    .cells = {"\033[30;43m", "\033[30;41m"},
};

#endif
