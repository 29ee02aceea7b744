/* SPDX-License-Identifier: MIT */
/*
 * nearest.c -- an edit distance (Damerau and Levenshtein): the likelier a step,
 * the less it costs. Users leave letters out, or end too early, more often than
 * they add some. So FREQ is nearer to FREQUENCY than to FORK.
 */
#include <string.h>
#include <strings.h>

#include "nearest.h"

enum { MOST = 63 }; /* bytes of a name that are looked at */

/* A part of a name is nearer than other changes of it: only the bytes that the
 * part lacks count. */
enum { COST_PART = 1, COST_STEPS = 2, PART_LEAST = 3 };

enum { COST_SWAP = 1, COST_INSERT = 1, COST_CHANGE = 2, COST_DELETE = 3 };

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* A letter equals its capital. */
static int
is_same_letter(char a, char b)
{
    return a == b ||
           ((a ^ b) == 0x20 && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
}

/* Whether PART, which is no single letter, is somewhere in WHOLE. */
static int
is_part(const char *part, const char *whole)
{
    size_t length = strlen(part);
    if (length < PART_LEAST)
        return 0;
    for (; *whole != '\0'; whole++)
        if (strncasecmp(whole, part, length) == 0)
            return 1;
    return 0;
}

/* Row I of the table: the costs of making each beginning of KNOWN from the
 * first I bytes of TYPED. The two rows before it are all that it needs. */
static unsigned
steps(const char *typed, size_t rows, const char *known, size_t columns)
{
    unsigned table[3][MOST + 1];
    for (size_t i = 0; i <= rows; i++) {
        unsigned *row = table[i % 3];
        const unsigned *above = table[(i + 2) % 3];
        const unsigned *two_above = table[(i + 1) % 3];
        row[0] = (unsigned)i * COST_DELETE;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = row[j - 1] + COST_INSERT;
            if (i == 0)
                continue;
            int same = is_same_letter(typed[i - 1], known[j - 1]);
            row[j] = least(row[j], above[j] + COST_DELETE);
            row[j] = least(row[j], above[j - 1] + (same ? 0 : COST_CHANGE));
            if (i > 1 && j > 1 && is_same_letter(typed[i - 1], known[j - 2]) &&
                is_same_letter(typed[i - 2], known[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + COST_SWAP);
        }
    }
    return table[rows % 3][columns];
}

unsigned
nearest_cost(const char *typed, const char *known)
{
    if (strcasecmp(typed, known) == 0)
        return 0;
    size_t rows = strnlen(typed, MOST), columns = strnlen(known, MOST);
    if (is_part(typed, known))
        return COST_PART + (unsigned)(columns - rows);
    if (is_part(known, typed))
        return COST_PART + (unsigned)(rows - columns);
    return COST_STEPS + steps(typed, rows, known, columns);
}
