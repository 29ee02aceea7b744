/* SPDX-License-Identifier: MIT */
/*
 * paint.h -- the colours of text on a terminal. The caller prints one of these
 * strings before a text and END behind it. Without colours all strings are "".
 */
#ifndef SHOW_PAINT_H
#define SHOW_PAINT_H

struct paint {
    const char *title;    /* of columns and sections */
    const char *hot;      /* a large share */
    const char *warm;     /* a share to look at */
    const char *alert;    /* must not be overlooked */
    const char *faint;    /* of minor importance */
    const char *end;      /* back to plain text */
    const char *cells[2]; /* of a flame graph, in turn */
};

extern const struct paint paint_none, paint_terminal;

/* The colour for a share of PERCENT; "" for a small share. */
const char *paint_share(const struct paint *paint, double percent);

#endif
