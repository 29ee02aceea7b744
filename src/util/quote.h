/* SPDX-License-Identifier: MIT */
/* quote.h -- writes texts for CSV (RFC 4180), JSON (RFC 8259) and shell
 * commands. The texts are clean UTF-8, as all texts of a profile are. */
#ifndef UTIL_QUOTE_H
#define UTIL_QUOTE_H

#include <stdio.h>

/* Write TEXT as a field of CSV, in quotes only if it needs them. */
void quote_csv(FILE *stream, const char *text);

/* Write TEXT as a string of JSON, in quotes. */
void quote_json(FILE *stream, const char *text);

/* Write TEXT as a word of a shell command (POSIX, Shell Command Language, 2.2),
 * in quotes only if it needs them. */
void quote_shell(FILE *stream, const char *text);

#endif
