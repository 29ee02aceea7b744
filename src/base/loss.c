/* SPDX-License-Identifier: MIT */
/*
 * loss.c -- the words of the loss tables. Pure functions, any context. All
 * tables are read through one row type. A spool of a later version may have
 * causes that are unknown here: that is dealt with in one place.
 */
#include "loss.h"

struct row {
    const char *word, *text;
};

static const struct row losses[] = {
#define LOSS(name, word, text) {word, text},
    LOSS_TABLE(LOSS)
#undef LOSS
};

static const struct row limits[] = {
#define LIMIT(name, word, by_timers, why, text) {word, text},
    LIMIT_TABLE(LIMIT)
#undef LIMIT
};

static const struct row cuts[] = {
#define CUT(name, word, text) {word, text},
    CUT_TABLE(CUT)
#undef CUT
};

/* Numbers come from files too, and a file can hold any. */
static const struct row unknown = {"unknown", "a cause this version lacks"};

/* Row I of COUNT, or the one that stands for all others. */
static const struct row *
row_of(const struct row *rows, unsigned count, unsigned i)
{
    return i < count ? &rows[i] : &unknown;
}

const char *
loss_word(unsigned loss)
{
    return row_of(losses, LOSS_COUNT, loss)->word;
}

const char *
limit_word(unsigned limit)
{
    return row_of(limits, LIMIT_COUNT, limit)->word;
}

const char *
cut_word(unsigned cut)
{
    return row_of(cuts, CUT_COUNT, cut)->word;
}

const char *
loss_text(unsigned loss)
{
    return row_of(losses, LOSS_COUNT, loss)->text;
}

const char *
limit_text(unsigned limit)
{
    return row_of(limits, LIMIT_COUNT, limit)->text;
}

const char *
cut_text(unsigned cut)
{
    return row_of(cuts, CUT_COUNT, cut)->text;
}
