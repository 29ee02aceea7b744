/* SPDX-License-Identifier: MIT */
/*
 * thread_word.h -- where a function finds the thread-local word that it
 * returns. Handlers read such words without a call: __tls_get_addr may
 * allocate.
 * Context: sampler.
 */
#ifndef UNWIND_THREAD_WORD_H
#define UNWIND_THREAD_WORD_H

#include <stdbool.h>
#include <stdint.h>

struct thread_word {
    uint64_t index; /* of its pair of module and offset; 0: FIXED is right */
    int64_t more;   /* is added to the offset of the pair */
    int64_t fixed;  /* distance from the thread pointer */
};

/* Read the function at ADDRESS, which does nothing but return the word. Returns
 * false if it does not look like that. */
bool thread_word_read(struct thread_word *word, uint64_t address);

/* The distance of WORD from the thread pointer, by the table that the thread
 * with POINTER has of its modules' data (glibc). 0: not known now, or not the
 * same in all threads, because the module was loaded late. */
int64_t thread_word_place(const struct thread_word *word, uint64_t pointer);

#endif
