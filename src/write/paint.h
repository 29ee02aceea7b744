/* SPDX-License-Identifier: MIT */
/*
 * paint.h -- the colours of text on a terminal. Whoever prints puts these
 * strings around what they are for; without colours all are "".
 */
#ifndef WRITE_PAINT_H
#define WRITE_PAINT_H

struct paint {
    const char *title;    /* of columns and sections */
    const char *hot;      /* a large share */
    const char *warm;     /* a share to look at */
    const char *faint;    /* what is beside the point */
    const char *end;      /* back to plain text */
    const char *cells[2]; /* of a flame graph, in turns */
};

extern const struct paint paint_none, paint_terminal;

enum paint_heat { PAINT_COLD, PAINT_WARM, PAINT_HOT };

enum paint_heat paint_heat(double percent);

/* How a share of PERCENT is shown: "" for a small one. */
const char *paint_share(const struct paint *paint, double percent);

#endif
