/* SPDX-License-Identifier: MIT */
/*
 * arch.h -- the registers that a walk needs, and how they are read from a
 * signal's ucontext. x86-64 (System V ABI, section 3.4.1: rsp, rbp, and the
 * return address below the CFA).
 */
#ifndef BASE_X86_64_ARCH_H
#define BASE_X86_64_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ucontext.h>

/* e_machine of the ELF files that can be walked. */
#define ARCH_MACHINE 62

/* The interpreter of programs (x86-64 psABI, section 5.2.1). */
#define ARCH_DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"

/* A frame's registers: where it stands and where its memory is. */
struct regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp; /* rbp, whether or not the function uses it as such */
};

/* Where a signal frame's saved registers lie relative to the stack pointer at
 * the restorer, which points at the ucontext (kernel: struct rt_sigframe). */
#define ARCH_SIGNAL_REG(index) \
    (__builtin_offsetof(ucontext_t, uc_mcontext.gregs) + 8u * (index))

static inline void
arch_regs(const ucontext_t *context, struct regs *regs)
{
    regs->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    regs->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    regs->fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
}

/* In *REGS what the registers were when the function that uses this was
 * entered, as if it were the one at ENTRY: a walk begins with that, and goes on
 * with the caller. This gives the function a frame pointer. */
static inline __attribute__((always_inline)) void
arch_entry(struct regs *regs, const void *entry)
{
    const uint64_t *frame = __builtin_frame_address(0);
    regs->pc = (uint64_t)entry;
    regs->sp = (uint64_t)(frame + 1);
    regs->fp = frame[0];
}

/* The thread pointer of a thread that has thread-local words (words.h). glibc
 * keeps a thread's control block on top of the stack that pthread_create made
 * for it. */
static inline uint64_t
arch_thread_pointer(void)
{
    uint64_t value;
    __asm__("mov %%fs:0, %0" : "=r"(value));
    return value;
}

/* Whether valgrind runs this code: it answers to rotations that leave a CPU's
 * register as it was (valgrind.h, RUNNING_ON_VALGRIND). */
static inline bool
arch_is_simulated(void)
{
    volatile uint64_t request[6] = {0x1001};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi;"
                     "rolq $61, %%rdi; rolq $51, %%rdi;"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

/* The base of fs, which is the thread pointer, whatever it is. The processor
 * may lack the instruction, or the kernel not allow it: AT_HWCAP2 of getauxval
 * tells (Linux 5.9, asm/hwcap2.h). */
#define ARCH_HWCAP2_FSGSBASE 2u
static inline uint64_t
arch_fs_base(void)
{
    uint64_t base;
    __asm__ volatile("rdfsbase %0" : "=r"(base));
    return base;
}

/* For a function that the kernel calls as a signal's handler: it aligns its
 * stack, as the ABI has it (section 3.2.2). The kernel has done so, but not
 * every emulator does (qemu-user 7.2 leaves it 8 bytes off). */
#define ARCH_SIGNAL_ENTRY __attribute__((force_align_arg_pointer))

/* FUNCTION is called with ARGUMENT on the stack that ends at TOP, a multiple of
 * 16. A longjmp must not leave it. */
void arch_call_on(void *top, void (*function)(void *), void *argument);

/* A system call that neither touches errno nor goes through libc. Returns the
 * kernel's answer: -errno on failure. */
static inline long
arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
