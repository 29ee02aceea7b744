/* SPDX-License-Identifier: MIT */
/*
 * program.h -- whether a program can be profiled at all: the dynamic linker
 * must load a library into it.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stddef.h>

/*
 * Look at the file that execvp(3) would run for COMMAND, and at the interpreter
 * that a script names. Returns 0, or -1 with a sentence in WHY (of SIZE bytes):
 * it is static, for another machine, or changes its user (ld.so(8),
 * secure-execution mode). A file that cannot be looked at is left to the exec.
 */
int program_check(const char *command, char *why, size_t size);

#endif
