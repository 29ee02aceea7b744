/* SPDX-License-Identifier: MIT */
/*
 * single_thread.c -- see single_thread.h. libc itself reads the public variable
 * (since glibc 2.36; in older ones only other code does). It exists twice if
 * the program has its own copy, by a copy relocation. pthread_create clears
 * both.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "single_thread.h"

/* The public variable in which libc keeps its belief. */
#define NAME "__libc_single_threaded"

static volatile char *of_libc, *of_program;

/* Number of threads that have not left (GLIBC_PRIVATE): the last one calls
 * exit(3). The child of a fork has one thread; libc sets this there only if it
 * believed in several threads before. */
static volatile uint32_t *thread_count;
static volatile bool has_ended;

void
single_thread_begin(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (libc == NULL)
        return;
    thread_count = dlsym(libc, "__nptl_nthreads");
    of_program = dlsym(RTLD_DEFAULT, NAME);
    if (thread_count != NULL)
        of_libc = dlsym(libc, NAME);
}

bool
single_thread_is_believed(void)
{
    return of_libc != NULL && of_program != NULL && *of_libc && *of_program;
}

void
single_thread_believe(bool is_single)
{
    if (!is_single || !has_ended)
        *of_libc = *of_program = (char)is_single;
}

void
single_thread_after_fork(void)
{
    if (single_thread_is_believed())
        *thread_count = 1;
}

void
single_thread_end(void)
{
    has_ended = true;
}
