/* SPDX-License-Identifier: MIT */
/* wait_text.c -- the words for a thread end with "NAME (TID)". A NAME may have
 * brackets, too. So may a path, which begins with '/' and names no thread. */
#include <string.h>

#include "wait_text.h"

uint32_t
wait_text_holder(const char *text)
{
    const char *open = strrchr(text, '(');
    uint64_t tid = 0;
    if (open == NULL || open == text || open[-1] != ' ' || text[0] == '/')
        return 0;
    const char *at = open + 1;
    for (; *at >= '0' && *at <= '9' && tid <= INT32_MAX; at++)
        tid = tid * 10 + (uint64_t)(*at - '0');
    return strcmp(at, ")") == 0 && tid <= INT32_MAX ? (uint32_t)tid : 0;
}
