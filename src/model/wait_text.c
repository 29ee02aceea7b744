/* SPDX-License-Identifier: MIT */
/*
 * wait_text.c -- the words for a thread end with "NAME (TID)", or "NAME (TID)
 * in FUNCTION". A NAME may have brackets, too. A path, which begins with '/'
 * and names no thread, may have them as well.
 */
#include <stdbool.h>
#include <string.h>

#include "wait_text.h"

/* The number of "NUMBER)" or "NUMBER) in FUNCTION" at TEXT; 0: it is neither.
 */
static uint32_t
tid_at(const char *text)
{
    uint64_t tid = 0;
    for (; *text >= '0' && *text <= '9' && tid <= INT32_MAX; text++)
        tid = tid * 10 + (uint64_t)(*text - '0');
    bool is_tid = strcmp(text, ")") == 0 || strncmp(text, ") in ", 5) == 0 ||
                  strncmp(text, "), ", 3) == 0;
    return is_tid && tid <= INT32_MAX ? (uint32_t)tid : 0;
}

uint32_t
wait_text_holder(const char *text)
{
    uint32_t found = 0;
    for (const char *at = text; text[0] != '/' && *at != '\0'; at++)
        if (at[0] == ' ' && at[1] == '(' && at > text)
            found = tid_at(at + 2) != 0 ? tid_at(at + 2) : found;
    return found;
}
