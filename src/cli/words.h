/* SPDX-License-Identifier: MIT */
/* words.h -- `sprofile help words`: the meanings of the words that commands
 * print. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdio.h>

void words_print(FILE *stream);

#endif
