/* SPDX-License-Identifier: MIT */
/*
 * raw_threads.c -- threads made by clone(2) alone, without the control block of
 * a C library: one has no thread pointer at all, one has another's. A handler
 * that reads thread-local words there would crash.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw_call.h"
#include "work.h"

#define STACK (1u << 20)

static volatile unsigned long done;

/* No function of libc here: they would need what is not there. */
static int
burn(void *unused)
{
    volatile unsigned long sum = 0;
    (void)unused;
    for (unsigned long i = 0; i < 300000000ul; i++)
        sum = sum + i;
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    raw_call(SYS_exit, 0, 0, 0, 0);
    return 0;
}

int
main(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *pointers[] = {NULL, other};
    if (stack == MAP_FAILED || other == MAP_FAILED)
        work_fail("mmap");
    for (int i = 0; i < 2; i++) {
        __atomic_store_n(&done, 0, __ATOMIC_SEQ_CST);
        if (clone(burn, stack + STACK,
                  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                      CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS,
                  NULL, NULL, pointers[i], NULL) < 0)
            work_fail("clone");
        while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
            usleep(1000);
    }
    puts("ok");
    return 0;
}
