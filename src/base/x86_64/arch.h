/* SPDX-License-Identifier: MIT */
/*
 * arch.h -- what only x86-64 has: its registers, where the kernel puts them,
 * its system calls, and what C cannot say.
 */
#ifndef BASE_X86_64_ARCH_H
#define BASE_X86_64_ARCH_H

#include <limits.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>

/* e_machine of the ELF files that can be walked. */
#define ARCH_MACHINE 62
#define ARCH_NAME "x86-64"

/* The interpreter of programs (x86-64 psABI, section 5.2.1). */
#define ARCH_DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"

/* The older versions of functions of which libc has two (libsprof.map). */
#define ARCH_OLD_QUICK_EXIT "GLIBC_2.10"
#define ARCH_OLD_SPAWN "GLIBC_2.2.5"
#define ARCH_OLD_KILL "GLIBC_2.2.5"

/* The flag that libc adds to a signal's action, for its restorer. */
#define ARCH_RESTORER_FLAG 0x04000000

/* Size in bytes of the area below the stack pointer that a function may use
 * (psABI, section 3.2.2). */
#define ARCH_RED_ZONE 128u

/* Offset from the thread pointer, in bytes, of the address of glibc's table of
 * the thread's data of modules (dtv_t). */
#define ARCH_MODULES_DATA 8u

/* The relocations (elf.h) of a thread-local variable: the number of its module,
 * its distance from the thread pointer, and the function that finds that
 * distance. */
#define ARCH_RELOCATION_MODULE R_X86_64_DTPMOD64
#define ARCH_RELOCATION_DISTANCE R_X86_64_TPOFF64
#define ARCH_RELOCATION_DESCRIPTOR R_X86_64_TLSDESC

/* Where glibc keeps the tid of a thread, in bytes from its thread pointer. It
 * has not moved since 2.4: debuggers rely on it (nptl_db). */
#define ARCH_THREAD_TID 720u

/* Number of bits in an address of the program, without 5-level page tables. */
#define ARCH_ADDRESS_BITS 47

/* Number of bytes in a page. */
static inline uint64_t
arch_page_size(void)
{
    return 4096;
}

/* From this kernel (1,000 * major + minor) on, perf's events with SIGTRAP may
 * sample the kernel. */
#define ARCH_PERF_KERNEL_FROM 6001u

/* Registers have the numbers of DWARF (psABI, table 3.36), as in libunwind.
 * These have a part in every frame, or in a system call. */
enum arch_register {
    ARCH_RESULT = 0,  /* rax: the result of a call */
    ARCH_NUMBER = 0,  /* rax: the number of a system call that is to be made */
    ARCH_FP = 6,      /* rbp */
    ARCH_SP = 7,      /* rsp */
    ARCH_PC = 16,     /* rip */
    ARCH_RETURN = 16, /* in tables, the return address, which is on the stack */
    ARCH_REGISTERS = 17
};

/* Registers that the loop of PHP keeps for its frame and its instruction
 * (Zend/zend_execute.c, ZEND_VM_FP_GLOBAL_REG). */
#define ARCH_PHP_FRAME 14u
#define ARCH_PHP_INSTRUCTION 15u

/* Registers that a function leaves as they were (psABI, figure 3.4). Compilers
 * save them just below the return address. */
#define ARCH_KEPT_COUNT 6u
static inline unsigned
arch_kept(unsigned i)
{
    static const uint8_t numbers[ARCH_KEPT_COUNT] = {3, 6, 12, 13, 14, 15};
    return numbers[i];
}

/* The register in which Go keeps its "struct g"
 * (src/cmd/compile/abi-internal.md).
 */
#define ARCH_GO 14u

/* Bytes of a direct call. arch_call_target: whether WORD, the 8 bytes at its
 * first one, is a direct call that ends at NEXT. *TARGET is what it calls. */
#define ARCH_CALL_BYTES 5u
static inline bool
arch_call_target(uint64_t word, uint64_t next, uint64_t *target)
{
    *target = next + (uint64_t)(int64_t)(int32_t)(word >> 8);
    return (word & 0xff) == 0xe8;
}

/* The registers that an unwind table can describe, by number. */
struct arch_registers {
    uint64_t at[ARCH_REGISTERS];
};

/* A frame's registers: where it stands and where its memory is. */
struct regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp; /* rbp, whether or not the function uses it as such */
};

/* Whether a call leaves its return address in a register. arch_link is what
 * is there, 0 if that is not known. */
#define ARCH_HAS_LINK 0
static inline uint64_t
arch_link(const struct regs *regs)
{
    (void)regs;
    return 0;
}

static inline void
arch_set_link(struct regs *regs, uint64_t link)
{
    (void)regs;
    (void)link;
}

/* Note that the caller's sp may be above REGS->sp. A frame that was found by
 * its frame record shows no more. Here the record lies where sp ends. */
static inline void
arch_doubt_sp(struct regs *regs)
{
    (void)regs;
}

static inline bool
arch_doubts_sp(const struct regs *regs)
{
    (void)regs;
    return false;
}

/* The address in WORD, a pointer to data. On this machine it holds nothing
 * else. */
static inline uint64_t
arch_data(uint64_t word)
{
    return word;
}

/* The address of code in a word of the stack. This machine has no
 * signatures. */
static inline uint64_t
arch_code(uint64_t word)
{
    return word;
}

/* The index of register NUMBER in a ucontext. */
static inline unsigned
arch_context_index(unsigned number)
{
    static const uint8_t index[ARCH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX,
                                                  REG_RBX, REG_RSI, REG_RDI,
                                                  REG_RBP, REG_RSP, REG_R8,
                                                  REG_R9,  REG_R10, REG_R11,
                                                  REG_R12, REG_R13, REG_R14,
                                                  REG_R15, REG_RIP};
    return index[number];
}

/* The number of the register whose code in instructions is CODE (Intel SDM,
 * volume 2, table 2-2; ABI, figure 3.36). */
static inline unsigned
arch_register_of_code(unsigned code)
{
    static const uint8_t number[] = {0, 2, 1, 3, 7, 6, 4, 5};
    return code < sizeof(number) ? number[code] : code;
}

static inline uint64_t
arch_register(const ucontext_t *context, unsigned number)
{
    return (uint64_t)context->uc_mcontext.gregs[arch_context_index(number)];
}

/* Where register NUMBER lies in a signal frame, relative to the stack pointer
 * at the restorer. That points at the ucontext (kernel: struct rt_sigframe). */
static inline uint64_t
arch_signal_offset(unsigned number)
{
    return __builtin_offsetof(ucontext_t, uc_mcontext.gregs) +
           8u * arch_context_index(number);
}

static inline void
arch_regs(const ucontext_t *context, struct regs *regs)
{
    regs->pc = arch_register(context, ARCH_PC);
    regs->sp = arch_register(context, ARCH_SP);
    regs->fp = arch_register(context, ARCH_FP);
}

static inline void
arch_set_regs(ucontext_t *context, const struct regs *regs)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)regs->pc;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)regs->sp;
    context->uc_mcontext.gregs[REG_RBP] = (greg_t)regs->fp;
}

static inline void
arch_all_registers(const ucontext_t *context, struct arch_registers *registers)
{
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        registers->at[i] = arch_register(context, i);
}

/* Set *REGS to what the registers were when the calling function was entered,
 * and its pc to ENTRY. A walk begins with that, and goes on with the caller.
 * This gives the calling function a frame pointer. */
static inline __attribute__((always_inline)) void
arch_entry(struct regs *regs, const void *entry)
{
    const uint64_t *frame = __builtin_frame_address(0);
    regs->pc = (uint64_t)entry;
    regs->sp = (uint64_t)(frame + 1);
    regs->fp = frame[0];
}

/* The same without fp, which is then to be found (REGS_FP_UNKNOWN of walk.h).
 * The calling function needs no frame pointer for that. */
static inline __attribute__((always_inline)) void
arch_entry_bare(struct regs *regs, const void *entry)
{
    regs->pc = (uint64_t)entry;
    regs->sp = (uint64_t)__builtin_dwarf_cfa() - sizeof(uint64_t);
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

/* For a function that the kernel calls as a signal's handler: it aligns its
 * stack as the ABI demands (section 3.2.2). The kernel aligns it, but not every
 * emulator does (qemu-user 7.2 leaves it 8 bytes off). */
#define ARCH_SIGNAL_ENTRY __attribute__((force_align_arg_pointer))

/* Copy LENGTH bytes, up from TO and FROM. */
static inline void
arch_copy(void *to, const void *from, size_t length)
{
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(length)
                     :
                     : "memory");
}

/* Copy LENGTH bytes, down from TO and FROM. */
static inline void
arch_copy_down(void *to, const void *from, size_t length)
{
    __asm__ volatile("std\n\trep movsb\n\tcld"
                     : "+D"(to), "+S"(from), "+c"(length)
                     :
                     : "memory", "cc");
}

static inline void
arch_fill(void *to, int byte, size_t length)
{
    __asm__ volatile("rep stosb"
                     : "+D"(to), "+c"(length)
                     : "a"(byte)
                     : "memory");
}

/* FUNCTION is called with ARGUMENT on the stack that ends at TOP, a multiple of
 * 16. A longjmp must not leave it. */
void arch_call_on(void *top, void (*function)(void *), void *argument);

/* The number of the register with argument I, 0 to 5, of a system call, which
 * keeps it (syscall(2)). */
static inline unsigned
arch_argument(unsigned i)
{
    static const uint8_t numbers[] = {5, 4, 1, 10, 8, 9};
    return numbers[i];
}

/* Whether a system call is at CODE. The second byte is read only if the first
 * one belongs to the instruction. */
#define ARCH_CALL_SIZE 2u
static inline bool
arch_is_call(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/* Whether a thread that was interrupted at PC was woken from a system call. It
 * may also be about to make one, or have just left one. The pc is then after
 * the instruction, or on it: the kernel sets the pc back when the call is to be
 * restarted (signal(7)). */
static inline bool
arch_is_at_call(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    return arch_is_call(code) || ((pc & 4095) >= ARCH_CALL_SIZE &&
                                  arch_is_call(code - ARCH_CALL_SIZE));
}

/* Whether the kernel is about to repeat the call ARCH_NUMBER, which a signal
 * has ended. The pc is on the instruction, which has left the address of the
 * next one in rcx. */
static inline bool
arch_is_restarting(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP] + ARCH_CALL_SIZE &&
           arch_is_call((const uint8_t *)registers[REG_RIP]);
}

/* Whether the instruction before the pc is a system call. */
static inline bool
arch_is_behind_call(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP];
}

/* End the call that the kernel is about to make again: it returns EINTR. */
static inline void
arch_end_call(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_RAX] = -EINTR;
    context->uc_mcontext.gregs[REG_RIP] += ARCH_CALL_SIZE;
}

/* Make the call NUMBER again, which CONTEXT has just made. */
static inline void
arch_repeat_call(ucontext_t *context, long number)
{
    context->uc_mcontext.gregs[REG_RAX] = number;
    context->uc_mcontext.gregs[REG_RIP] -= ARCH_CALL_SIZE;
}

/* The number of the system call before PC, as the code sets it: the registers
 * no longer have it. ARCH_CALL_GIVEN: PC is in syscall(2), which gets the
 * number from the program. ARCH_CALL_UNKNOWN: the code does not show it. */
#define ARCH_CALL_UNKNOWN (-1)
#define ARCH_CALL_GIVEN LONG_MIN
long arch_call_before(uint64_t pc);

/* System calls that other machines lack. There each one is a negative
 * number of its own, which no call has. */
enum arch_old_call {
    ARCH_CALL_ARCH_PRCTL = SYS_arch_prctl,
    ARCH_CALL_OPEN = SYS_open,
    ARCH_CALL_STAT = SYS_stat,
    ARCH_CALL_POLL = SYS_poll,
    ARCH_CALL_SELECT = SYS_select,
    ARCH_CALL_PAUSE = SYS_pause,
    ARCH_CALL_FORK = SYS_fork,
    ARCH_CALL_VFORK = SYS_vfork,
    ARCH_CALL_EPOLL_WAIT = SYS_epoll_wait,
    ARCH_CALL_SIGNALFD = SYS_signalfd
};

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
