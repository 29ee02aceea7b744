/* SPDX-License-Identifier: MIT */
/*
 * arch.h -- what only aarch64 has: its registers, where the kernel puts them,
 * its system calls, and what C cannot say.
 */
#ifndef BASE_AARCH64_ARCH_H
#define BASE_AARCH64_ARCH_H

#include <limits.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>

/* e_machine of the ELF files that can be walked. */
#define ARCH_MACHINE 183
#define ARCH_NAME "aarch64"

/* The interpreter of programs. */
#define ARCH_DYNAMIC_LINKER "/lib/ld-linux-aarch64.so.1"

/* The older versions of functions of which libc has two (libsprof_aarch64.map).
 * There is only one posix_spawn here, and no program asks for this version. */
#define ARCH_OLD_QUICK_EXIT "GLIBC_2.17"
#define ARCH_OLD_SPAWN "GLIBC_2.2.5"
#define ARCH_OLD_KILL "GLIBC_2.17"

/* The flag that libc adds to a signal's action, for its restorer. On aarch64 it
 * adds none, because the kernel has a restorer of its own. With the flag, the
 * kernel would return to an address that libc does not set. */
#define ARCH_RESTORER_FLAG 0

/* Size in bytes of the area below the stack pointer that a function may use:
 * none (AAPCS64, section 6.4.5.1). */
#define ARCH_RED_ZONE 0u

/* Offset from the thread pointer, in bytes, of the address of glibc's table of
 * the thread's data of modules (dtv_t). */
#define ARCH_MODULES_DATA 0u

/* The relocations (elf.h) of a thread-local variable: the number of its module,
 * its distance from the thread pointer, and the function that finds that
 * distance. */
#define ARCH_RELOCATION_MODULE R_AARCH64_TLS_DTPMOD
#define ARCH_RELOCATION_DISTANCE R_AARCH64_TLS_TPREL
#define ARCH_RELOCATION_DESCRIPTOR R_AARCH64_TLSDESC

/* Where glibc keeps the tid of a thread, in bytes from what pthread_self
 * returns. Debuggers rely on it (nptl_db). */
#define ARCH_THREAD_TID 208u

/* Number of bits in an address of the program. A kernel for 48 bits gives
 * smaller ones. One for 52 bits gives the larger ones only to a program that
 * asks mmap(2) for them (Documentation/arch/arm64/memory.rst). */
#define ARCH_ADDRESS_BITS 52

/* Number of bytes in a page: 4, 16 or 64 KiB, as the kernel was built. */
static inline uint64_t
arch_page_size(void)
{
    return getauxval(AT_PAGESZ);
}

/* From this kernel (1,000 * major + minor) on, perf's events with SIGTRAP may
 * sample the kernel. In older ones that ends system calls. */
#define ARCH_PERF_KERNEL_FROM 6011u

/* Registers have the numbers of DWARF (AADWARF64, section 4.1). */
enum arch_register {
    ARCH_RESULT = 0,  /* x0: the result of a call */
    ARCH_NUMBER = 8,  /* x8: the number of a system call */
    ARCH_FP = 29,     /* x29 */
    ARCH_RETURN = 30, /* x30: where a call leaves its return address */
    ARCH_SP = 31,
    ARCH_PC = 32,
    ARCH_REGISTERS = 33
};

/* Registers that the loop of PHP keeps for its frame and its instruction
 * (Zend/zend_execute.c, ZEND_VM_FP_GLOBAL_REG). */
#define ARCH_PHP_FRAME 27u
#define ARCH_PHP_INSTRUCTION 28u

/* Registers that a function leaves as they were (AAPCS64, section 6.1.1). */
#define ARCH_KEPT_COUNT 11u
static inline unsigned
arch_kept(unsigned i)
{
    return 19 + i;
}

/* The register in which Go keeps its "struct g"
 * (src/cmd/compile/abi-internal.md).
 */
#define ARCH_GO 28u

/* Bytes of a direct call. arch_call_target: whether WORD, the 8 bytes at its
 * first one, is a direct call that ends at NEXT. *TARGET is what it calls. */
#define ARCH_CALL_BYTES 4u
static inline bool
arch_call_target(uint64_t word, uint64_t next, uint64_t *target)
{
    int64_t words = (int32_t)((uint32_t)word << 6) >> 6;
    *target = next - ARCH_CALL_BYTES + (uint64_t)(words * 4);
    return ((uint32_t)word >> 26) == 0x25;
}

/* The registers that an unwind table can describe, by number. */
struct arch_registers {
    uint64_t at[ARCH_REGISTERS];
};

/* A frame's registers: where it stands and where its memory is. */
struct regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;   /* x29, whether or not the function uses it as such */
    uint64_t link; /* x30; 0: not known; ARCH_SP_DOUBTED */
};

/* In place of the link, which is then not known: sp is a lower bound. */
#define ARCH_SP_DOUBTED 1u

/* The address in WORD, a pointer to data. The processor ignores the upper byte
 * of such a pointer, which may hold the memory's tag (MTE). */
static inline uint64_t
arch_data(uint64_t word)
{
    return word & ((1ull << 56) - 1);
}

/* The address of code in a word of the stack, without its signature (pointer
 * authentication). The instruction XPACLRI knows which bits belong to the
 * signature. Processors without signatures take it for a NOP. */
static inline uint64_t
arch_code(uint64_t word)
{
    register uint64_t link __asm__("x30") = word;
    __asm__("hint #7" : "+r"(link));
    return link & ((1ull << ARCH_ADDRESS_BITS) - 1);
}

/* Whether a call leaves its return address in a register. arch_link is what
 * is there, 0 if that is not known. */
#define ARCH_HAS_LINK 1
static inline uint64_t
arch_link(const struct regs *regs)
{
    return regs->link == ARCH_SP_DOUBTED ? 0 : regs->link;
}

static inline void
arch_set_link(struct regs *regs, uint64_t link)
{
    regs->link = arch_code(link);
}

/* Note that the caller's sp may be above REGS->sp. A frame that was found by
 * its frame record shows no more: the record lies anywhere in it. */
static inline void
arch_doubt_sp(struct regs *regs)
{
    regs->link = ARCH_SP_DOUBTED;
}

static inline bool
arch_doubts_sp(const struct regs *regs)
{
    return regs->link == ARCH_SP_DOUBTED;
}

/* The number of the register whose code in instructions is CODE. */
static inline unsigned
arch_register_of_code(unsigned code)
{
    return code;
}

static inline uint64_t
arch_register(const ucontext_t *context, unsigned number)
{
    const mcontext_t *machine = &context->uc_mcontext;
    return number < ARCH_SP    ? machine->regs[number]
           : number == ARCH_SP ? machine->sp
                               : machine->pc;
}

/* Where register NUMBER lies in a signal frame, relative to the stack pointer
 * at the restorer. A siginfo comes before the ucontext (kernel: struct
 * rt_sigframe). sp and pc follow x30. */
static inline uint64_t
arch_signal_offset(unsigned number)
{
    return 128u + __builtin_offsetof(ucontext_t, uc_mcontext.regs) +
           8u * number;
}

static inline void
arch_regs(const ucontext_t *context, struct regs *regs)
{
    regs->pc = arch_register(context, ARCH_PC);
    regs->sp = arch_register(context, ARCH_SP);
    regs->fp = arch_register(context, ARCH_FP);
    arch_set_link(regs, arch_register(context, ARCH_RETURN));
}

static inline void
arch_set_regs(ucontext_t *context, const struct regs *regs)
{
    context->uc_mcontext.pc = regs->pc;
    context->uc_mcontext.sp = regs->sp;
    context->uc_mcontext.regs[ARCH_FP] = regs->fp;
    context->uc_mcontext.regs[ARCH_RETURN] = arch_link(regs);
}

static inline void
arch_all_registers(const ucontext_t *context, struct arch_registers *registers)
{
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        registers->at[i] = arch_register(context, i);
}

/* Set *REGS to what the registers were when the calling function was entered,
 * and its pc to ENTRY. A walk begins with that, and goes on with the caller.
 * This gives the calling function a frame record. */
static inline __attribute__((always_inline)) void
arch_entry(struct regs *regs, const void *entry)
{
    const uint64_t *record = __builtin_frame_address(0);
    regs->pc = (uint64_t)entry;
    regs->sp = (uint64_t)__builtin_dwarf_cfa();
    regs->fp = record[0];
    arch_set_link(regs, record[1]);
}

/* The same without fp, which is then to be found (REGS_FP_UNKNOWN of walk.h).
 */
static inline __attribute__((always_inline)) void
arch_entry_bare(struct regs *regs, const void *entry)
{
    regs->pc = (uint64_t)entry;
    regs->sp = (uint64_t)__builtin_dwarf_cfa();
    arch_set_link(regs, (uint64_t)__builtin_return_address(0));
}

/* The thread pointer of a thread that has thread-local words (words.h). glibc
 * keeps a thread's control block on top of the stack that pthread_create made
 * for it: below the pointer, and variables above it. */
static inline uint64_t
arch_thread_pointer(void)
{
    uint64_t value;
    __asm__("mrs %0, tpidr_el0" : "=r"(value));
    return value;
}

/* Whether valgrind runs this code: it answers to rotations that leave a CPU's
 * register as it was (valgrind.h, RUNNING_ON_VALGRIND). */
static inline bool
arch_is_simulated(void)
{
    volatile uint64_t request[6] = {0x1001};
    uint64_t answer;
    __asm__ volatile("mov x3, #0\n\tmov x4, %1\n\t"
                     "ror x12, x12, #3\n\tror x12, x12, #13\n\t"
                     "ror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10\n\tmov %0, x3"
                     : "=r"(answer)
                     : "r"(request)
                     : "cc", "memory", "x3", "x4");
    return answer != 0;
}

/* A function that the kernel calls as a signal's handler is an ordinary one. */
#define ARCH_SIGNAL_ENTRY

/* Copy LENGTH bytes, up from TO and FROM. The empty instructions keep a
 * compiler from replacing the loop by a call of memcpy, which is this
 * function. */
static inline void
arch_copy(void *to, const void *from, size_t length)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (; length >= 16; length -= 16)
        __asm__ volatile("ldp x9, x10, [%1], #16\n\tstp x9, x10, [%0], #16"
                         : "+r"(t), "+r"(f)
                         :
                         : "memory", "x9", "x10");
    for (; length != 0; length--) {
        *t++ = *f++;
        __asm__ volatile("" : : : "memory");
    }
}

/* Copy LENGTH bytes, down from TO and FROM. */
static inline void
arch_copy_down(void *to, const void *from, size_t length)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (; length != 0; length--) {
        *t-- = *f--;
        __asm__ volatile("" : : : "memory");
    }
}

static inline void
arch_fill(void *to, int byte, size_t length)
{
    unsigned char *t = to;
    uint64_t word = (uint64_t)(unsigned char)byte * 0x0101010101010101u;
    for (; length >= 16; length -= 16)
        __asm__ volatile("stp %1, %1, [%0], #16"
                         : "+r"(t)
                         : "r"(word)
                         : "memory");
    for (; length != 0; length--) {
        *t++ = (unsigned char)byte;
        __asm__ volatile("" : : : "memory");
    }
}

/* FUNCTION is called with ARGUMENT on the stack that ends at TOP, a multiple of
 * 16. A longjmp must not leave it. */
void arch_call_on(void *top, void (*function)(void *), void *argument);

/* The number of the register with argument I, 0 to 5, of a system call. The
 * call keeps all but the first, which becomes the result (syscall(2)). */
static inline unsigned
arch_argument(unsigned i)
{
    return i;
}

/* Whether a system call is at CODE: svc #0. */
#define ARCH_CALL_SIZE 4u
static inline bool
arch_is_call(const uint8_t *code)
{
    return code[0] == 0x01 && code[1] == 0 && code[2] == 0 && code[3] == 0xd4;
}

/* Whether a thread that was interrupted at PC was woken from a system call. It
 * may also be about to make one, or have just left one. The pc is then after
 * the instruction, or on it: the kernel sets the pc back when the call is to be
 * restarted (signal(7)). */
static inline bool
arch_is_behind(uint64_t pc)
{
    return (pc & 4095) >= ARCH_CALL_SIZE &&
           arch_is_call((const uint8_t *)pc - ARCH_CALL_SIZE);
}

static inline bool
arch_is_at_call(uint64_t pc)
{
    return arch_is_call((const uint8_t *)pc) || arch_is_behind(pc);
}

/* Whether the kernel makes the call NUMBER again after a signal. */
bool arch_may_restart(long number);

/* Whether the kernel is about to repeat the call ARCH_NUMBER, which a signal
 * has ended. The pc is on the instruction. A thread that is about to make the
 * call for the first time looks the same. Ending that with EINTR is what a
 * signal a moment later would do. */
static inline bool
arch_is_restarting(const ucontext_t *context)
{
    return arch_is_call((const uint8_t *)context->uc_mcontext.pc) &&
           arch_may_restart((long)context->uc_mcontext.regs[ARCH_NUMBER]);
}

/* Whether the instruction before the pc is a system call. */
static inline bool
arch_is_behind_call(const ucontext_t *context)
{
    return arch_is_behind(context->uc_mcontext.pc);
}

/* End the call that the kernel is about to make again: it returns EINTR. */
static inline void
arch_end_call(ucontext_t *context)
{
    context->uc_mcontext.regs[ARCH_RESULT] = (uint64_t)-EINTR;
    context->uc_mcontext.pc += ARCH_CALL_SIZE;
}

/* The call NUMBER, which CONTEXT has just made, cannot be made again. Its first
 * argument is lost: the result is in that register. */
static inline void
arch_repeat_call(ucontext_t *context, long number)
{
    (void)context;
    (void)number;
}

/* The number of the system call before PC, as the code sets it. The register
 * still has the number, but only the code says which call was made.
 * ARCH_CALL_GIVEN: PC is in syscall(2), which gets the number from the program.
 * ARCH_CALL_UNKNOWN: the code does not show it. */
#define ARCH_CALL_UNKNOWN (-1)
#define ARCH_CALL_GIVEN LONG_MIN
long arch_call_before(uint64_t pc);

/* System calls that this machine lacks: numbers that no call has. */
enum arch_old_call {
    ARCH_CALL_ARCH_PRCTL = -100,
    ARCH_CALL_OPEN,
    ARCH_CALL_STAT,
    ARCH_CALL_POLL,
    ARCH_CALL_SELECT,
    ARCH_CALL_PAUSE,
    ARCH_CALL_FORK,
    ARCH_CALL_VFORK,
    ARCH_CALL_EPOLL_WAIT,
    ARCH_CALL_SIGNALFD
};

/* A system call that neither touches errno nor goes through libc. Returns the
 * kernel's answer: -errno on failure. */
static inline long
arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#endif
