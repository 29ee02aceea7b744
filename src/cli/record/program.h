/* SPDX-License-Identifier: MIT */
/*
 * program.h -- checks whether a program can be profiled at all: the dynamic
 * linker must be able to preload a library into it.
 */
#ifndef CLI_RECORD_PROGRAM_H
#define CLI_RECORD_PROGRAM_H

#include <stddef.h>

/*
 * Check the file that execvp(3) would run for COMMAND, and the interpreters
 * that scripts name. Returns 0, or -1 with a sentence in WHY (of SIZE bytes).
 * The file is refused if it is static, is for another machine, or changes its
 * user (ld.so(8), secure-execution mode). A file that cannot be read is
 * accepted here; the exec decides.
 */
int program_check(const char *command, char *why, size_t size);

#endif
