/* SPDX-License-Identifier: MIT */
/* words.c -- see words.h: what is the same on all machines. */
#include "words.h"
#include "poison.h"

/* What errno stands for in errno.h; poison.h forbids the name. */
int *__errno_location(void);

int
words_errno(void)
{
    return words_are_there() ? *__errno_location() : 0;
}

void
words_set_errno(int value)
{
    if (words_are_there())
        *__errno_location() = value;
}
