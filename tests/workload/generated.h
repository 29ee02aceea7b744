/* SPDX-License-Identifier: MIT */
/*
 * generated.h -- functions in machine code, which workloads copy to where they
 * want generated code. They keep a frame pointer, as JIT compilers do:
 *   code_calls     calls its argument, a function without arguments, and then
 *                  has a loop of 0x200000 turns
 *   code_loops     has two loops of 0x10000 and 0x30000 turns; the second one
 *                  begins at CODE_SECOND_LOOP, an offset in bytes
 * CODE_MACHINE is what ELF calls the machine.
 */
#ifndef WORKLOAD_GENERATED_H
#define WORKLOAD_GENERATED_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

#define CODE_MACHINE EM_X86_64

/* push rbp; mov rbp,rsp; sub rsp,32; call rdi;
 * mov ecx,0x200000; loop: dec ecx; jnz loop; leave; ret */
static const uint8_t code_calls[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd7, 0xb9,
    0x00, 0x00, 0x20, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc9, 0xc3,
};

/* push rbp; mov rbp,rsp; mov ecx,N; dec ecx; jnz; mov ecx,3N; dec ecx; jnz;
 * pop rbp; ret */
static const uint8_t code_loops[] = {
    0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x01, 0x00, 0xff, 0xc9, 0x75,
    0xfc, 0xb9, 0x00, 0x00, 0x03, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3,
};
#define CODE_SECOND_LOOP 13

#elif defined(__aarch64__)

#define CODE_MACHINE EM_AARCH64

static const uint32_t code_calls[] = {
    0xa9bd7bfd, /* stp x29, x30, [sp, #-48]! */
    0x910003fd, /* mov x29, sp */
    0xd63f0000, /* blr x0 */
    0x52a00409, /* mov w9, #0x200000 */
    0x71000529, /* loop: subs w9, w9, #1 */
    0x54ffffe1, /* b.ne loop */
    0xa8c37bfd, /* ldp x29, x30, [sp], #48 */
    0xd65f03c0, /* ret */
};

static const uint32_t code_loops[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x910003fd, /* mov x29, sp */
    0x52a00029, /* mov w9, #0x10000 */
    0x71000529, /* first: subs w9, w9, #1 */
    0x54ffffe1, /* b.ne first */
    0x52a00069, /* mov w9, #0x30000 */
    0x71000529, /* second: subs w9, w9, #1 */
    0x54ffffe1, /* b.ne second */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};
#define CODE_SECOND_LOOP 20

#else
#error "expected x86-64 or aarch64; no other has its code here yet"
#endif

/* Copy SIZE bytes of CODE to where they will run. An instruction cache may not
 * see what is written. */
static inline void
code_copy(void *to, const void *code, size_t size)
{
    memcpy(to, code, size);
    __builtin___clear_cache((char *)to, (char *)to + size);
}

#endif
