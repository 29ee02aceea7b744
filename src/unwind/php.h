/* SPDX-License-Identifier: MIT */
/*
 * php.h -- the frames of PHP functions, for PHP without threads (NTS). PHP
 * keeps all of its state in one variable, so a process has at most one. A
 * handler follows the chain of frames, leaves out those of native functions,
 * and reads the lines of the others.
 */
#ifndef UNWIND_PHP_H
#define UNWIND_PHP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "process/modules.h"
#include "heap_view.h"
#include "script.h"

/* Begin without an interpreter. Context: sampler. */
void php_begin(void);

enum php_found {
    PHP_NONE,    /* the module is no PHP */
    PHP_READY,   /* from now on frames can be read */
    PHP_REFUSED, /* it is of a version or of a build that is not known */
};

/* Look for an interpreter in MODULE. Context: sampler. */
enum php_found php_look(const struct module *module);

/* MODULE is gone. Context: sampler. */
void php_gone(const struct module *module);

/* Whether one was found. Context: any. */
bool php_is_there(void);

/* Collect in SCRIPT the frames of the thread that runs PHP, which was
 * interrupted at CONTEXT; NULL: it waits. Instructions are lines. Returns
 * whether it has some. Context: any. */
bool php_collect(struct script *script, struct heap_view *view,
                 const ucontext_t *context);

/* Whether PC is in the loop. Context: any. */
bool php_is_in_loop(uint64_t pc);

/* As python_code_sum, python_code_sums, python_code_copy and python_code_name,
 * for the function at ADDRESS. */
uint32_t php_sum(uint64_t address);
unsigned php_sums(const uint64_t *addresses, unsigned count, uint32_t *sums);
size_t php_copy(uint64_t address, uint32_t sum, void *to, size_t room);
bool php_name(uint64_t address, char *text);

#endif
