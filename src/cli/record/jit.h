/* SPDX-License-Identifier: MIT */
/*
 * jit.h -- `sprofile record --jit`: asks the runtimes that generate code for
 * its names, by the environment of the program and of all that it starts.
 */
#ifndef CLI_RECORD_JIT_H
#define CLI_RECORD_JIT_H

#include <stdint.h>
#include <stdio.h>

struct profile;

/* A variable that a runtime reads. */
struct jit_variable {
    const char *name;
    const char *words; /* what it needs, with blanks between */
    const char *runtime;
};
extern const struct jit_variable jit_variables[];
extern const unsigned jit_variable_count;

/* Returns the value that VARIABLE gets, which is OLD (NULL: it is not set) and
 * after it the words that OLD lacks. Options of the user are kept. The caller
 * frees the result; NULL if memory is short. */
char *jit_value(const struct jit_variable *variable, const char *old);

/* Set all variables for the program, and for this process. If STREAM is not
 * NULL, a line is printed there for each. Returns 0, or -1 with errno set. */
int jit_set(FILE *stream);

/* Print a line on the files with names that the processes of PROFILE have left
 * in /tmp, if any. */
void jit_say_files(FILE *stream, const struct profile *profile);

#endif
