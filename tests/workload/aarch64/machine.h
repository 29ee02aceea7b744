/* SPDX-License-Identifier: MIT */
/* aarch64/machine.h -- see ../machine.h. */
#ifndef WORKLOAD_AARCH64_MACHINE_H
#define WORKLOAD_AARCH64_MACHINE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

/* The version of the oldest functions of glibc. */
#define MACHINE_FIRST_LIBC "GLIBC_2.17"

/* Bytes in a page: the kernel may have larger ones. */
#define MACHINE_PAGE ((size_t)getauxval(AT_PAGESZ))

/* Where libc finds the data of a thread: in front of this and after it. */
static inline uint64_t
machine_thread_pointer(void)
{
    uint64_t pointer;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer) : : "memory");
    return pointer;
}

static inline void
machine_set_thread_pointer(uint64_t pointer)
{
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
}

/* A fork by the oldest system call that can, as by syscall(2). */
static inline pid_t
machine_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* FUNCTION goes on with an empty stack that ends at TOP, and never returns. Its
 * return address is in the calling function, whose frame would be at TOP. A
 * landing pad lets x16 jump to it. */
static inline __attribute__((always_inline)) void
machine_go_on(void *top, void (*function)(void))
{
    __asm__ volatile("mov x16, %1\n\tmov sp, %0\n\tadr x30, .\n\tbr x16"
                     :
                     : "r"(top), "r"(function)
                     : "x16", "x30");
}

/* Raise SIGTRAP by an instruction. */
static inline void
machine_break(void)
{
    __asm__ volatile("brk #0");
}

/* Let a handler of that signal return after the instruction, and not to it. */
static inline void
machine_pass_break(void *context)
{
    ucontext_t *at = context;
    at->uc_mcontext.pc += 4;
}

/* Define FUNCTION, a signal's handler that adds 1 to the int COUNTER and writes
 * nothing else: what a compiler makes may write to the stack. */
#define MACHINE_COUNT(function, counter)              \
    __asm__(".text\n"                                 \
            ".balign 4\n" #function ":\n"             \
            "    adrp x0, " #counter "\n"             \
            "    ldr w1, [x0, #:lo12:" #counter "]\n" \
            "    add w1, w1, #1\n"                    \
            "    str w1, [x0, #:lo12:" #counter "]\n" \
            "    ret\n")

#endif
