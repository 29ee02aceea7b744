/* SPDX-License-Identifier: MIT */
/* x86_64/machine.h -- see ../machine.h. */
#ifndef WORKLOAD_X86_64_MACHINE_H
#define WORKLOAD_X86_64_MACHINE_H

#include <asm/prctl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "../raw_call.h"

/* The version of the oldest functions of glibc. */
#define MACHINE_FIRST_LIBC "GLIBC_2.2.5"

/* Bytes in a page. */
#define MACHINE_PAGE 4096u

/* Where libc finds the data of a thread: fs. */
static inline uint64_t
machine_thread_pointer(void)
{
    unsigned long pointer = 0;
    raw_call(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer, 0, 0);
    return pointer;
}

static inline void
machine_set_thread_pointer(uint64_t pointer)
{
    raw_call(SYS_arch_prctl, ARCH_SET_FS, (long)pointer, 0, 0);
}

/* A fork by the oldest system call that can, as by syscall(2). */
static inline pid_t
machine_fork(void)
{
    return (pid_t)syscall(SYS_fork);
}

/* FUNCTION goes on with an empty stack that ends at TOP, and never returns. The
 * word at TOP is where its return address would be. */
static inline __attribute__((always_inline)) void
machine_go_on(void *top, void (*function)(void))
{
    __asm__ volatile("mov %0, %%rsp; jmp *%1" : : "r"(top), "r"(function));
}

/* Raise SIGTRAP by an instruction. */
static inline void
machine_break(void)
{
    __asm__ volatile("int3");
}

/* Let a handler of that signal return after the instruction: so it does. */
static inline void
machine_pass_break(void *context)
{
    (void)context;
}

/* Define FUNCTION, a signal's handler that adds 1 to the int COUNTER and writes
 * nothing else: what a compiler makes may write to the stack. */
#define MACHINE_COUNT(function, counter)    \
    __asm__(".text\n" #function ":\n"       \
            "    incl " #counter "(%rip)\n" \
            "    ret\n")

#endif
