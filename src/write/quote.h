/* SPDX-License-Identifier: MIT */
/* quote.h -- texts inside CSV (RFC 4180), JSON (RFC 8259) and shell commands.
 * Texts of a profile are clean UTF-8; what is not becomes '?'. */
#ifndef WRITE_QUOTE_H
#define WRITE_QUOTE_H

#include <stdio.h>

/* In quotes only where it needs them. */
void quote_csv(FILE *stream, const char *text);

/* In quotes. */
void quote_json(FILE *stream, const char *text);

/* A word of a shell command (POSIX, Shell Command Language, 2.2), in quotes
 * only where it needs them. */
void quote_shell(FILE *stream, const char *text);

#endif
