/* SPDX-License-Identifier: MIT */
/*
 * loss.c -- the words of the tables in loss.h. Pure functions, any context. All
 * tables are read through one row type. A spool of a later version may have
 * numbers that these tables lack. Only row_of handles such a number.
 */
#include "loss.h"
#include "poison.h"

struct row {
    const char *word, *text;
};

#define ROW(name, word, text) {word, text},
#define LIMIT_ROW(name, word, by_timers, why, text) {word, text},
static const struct row losses[] = {LOSS_TABLE(ROW)};
static const struct row limits[] = {LIMIT_TABLE(LIMIT_ROW)};
static const struct row cuts[] = {CUT_TABLE(ROW)};
static const struct row causes[] = {STACK_CAUSE_TABLE(ROW)};

/* The row for all other numbers. A number may come from a file, and a file can
 * hold any number. */
static const struct row unknown = {"unknown", "a cause this version lacks"};

/* Return row I of the COUNT ROWS, or the row for all other numbers. */
static const struct row *
row_of(const struct row *rows, unsigned count, unsigned i)
{
    return i < count ? &rows[i] : &unknown;
}

#define WORDS(name, rows, count)             \
    const char *name##_word(unsigned i)      \
    {                                        \
        return row_of(rows, count, i)->word; \
    }                                        \
    const char *name##_text(unsigned i)      \
    {                                        \
        return row_of(rows, count, i)->text; \
    }

WORDS(loss, losses, LOSS_COUNT)
WORDS(limit, limits, LIMIT_COUNT)
WORDS(cut, cuts, CUT_COUNT)
WORDS(stack_cause, causes, STACK_CAUSE_COUNT)
