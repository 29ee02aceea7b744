/* SPDX-License-Identifier: MIT */
/*
 * go_program.h -- programs written in Go that use a C library (cgo). Their
 * runtime starts after our constructor. It installs handlers for nearly all
 * signals by raw system calls. It dies of a SIGTRAP that it does not expect.
 */
#ifndef SAMPLING_GO_PROGRAM_H
#define SAMPLING_GO_PROGRAM_H

#include <stdbool.h>

/* The signal that Go's runtime leaves to C libraries (runtime/sigtab_linux.go),
 * and that glibc does not use itself: SIGRTMIN. */
#define GO_PROGRAM_FREE_SIGNAL 34

/* Find out whether the program is one. In the constructor: takes the loader's
 * lock. */
void go_program_begin(void);

/* Whether the program is one: the linker of Go leaves a note of that name. */
bool go_program_is_this(void);

#endif
