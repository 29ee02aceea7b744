/* SPDX-License-Identifier: MIT */
/*
 * go_program.h -- programs written in Go that use a C library (cgo). Their
 * runtime installs handlers for nearly all signals by raw system calls when it
 * starts, after our constructor, and dies of a SIGTRAP that it does not expect.
 */
#ifndef AGENT_GO_PROGRAM_H
#define AGENT_GO_PROGRAM_H

#include <stdbool.h>

/* A signal that Go's runtime leaves to C libraries (runtime/sigtab_linux.go),
 * and of which glibc makes no use of its own: SIGRTMIN. */
#define GO_PROGRAM_FREE_SIGNAL 34

/* Find out. In the constructor: the loader's lock is taken. */
void go_program_begin(void);

/* Whether the program is one: the linker of Go leaves a note of that name. */
bool go_program_is_this(void);

#endif
