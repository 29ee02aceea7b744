/* SPDX-License-Identifier: MIT */
/*
 * no_frame.c -- code that has neither an unwind table nor a frame pointer. It
 * calls back into C with rbp as a number, so that no chain leads on.
 *
 * Arguments: milliseconds of CPU time, 1000; and what kind of code:
 *   trampoline   generated, as CPython makes it for perf: a few instructions
 *   assembly     in the program, with loops, branches and calls of its own
 *   hidden       in the program; it aligns its stack by a register, so that its
 *                code does not tell how large its frame is
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "work.h"

typedef void bare(void (*callback)(void));

void assembly(void (*callback)(void));
void hidden(void (*callback)(void));

__asm__(".text\n"
        ".globl assembly, hidden\n"
        ".type assembly, @function\n"
        "assembly:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    subq $1032, %rsp\n"
        "    movl $3, %ebp\n"
        "    call *%rdi\n"
        "    movl $0x200000, %ebx\n"
        "1:  call 3f\n"
        "    decl %ebx\n"
        "    jz 2f\n"
        "    jmp 1b\n"
        "2:  addq $1032, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        "3:  incl %ebp\n"
        "    ret\n"
        ".size assembly, . - assembly\n"
        ".type hidden, @function\n"
        "hidden:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    movq %rsp, %rbx\n"
        "    andq $-64, %rsp\n"
        "    subq $256, %rsp\n"
        "    movl $3, %ebp\n"
        "    call *%rdi\n"
        "    movl $0x200000, %ebp\n"
        "1:  decl %ebp\n"
        "    jnz 1b\n"
        "    movq %rbx, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size hidden, . - hidden\n");

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

/* endbr64; sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
static bare *
generate(void)
{
    static const unsigned char code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48,
                                         0x83, 0xec, 0x08, 0xff, 0xd7,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        work_fail("mmap");
    memcpy(page, code, sizeof code);
    return (bare *)page;
}

FRAME static void
call_it(bare *function)
{
    function(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[2] : "trampoline";
    bare *function = strcmp(kind, "assembly") == 0 ? assembly
                     : strcmp(kind, "hidden") == 0 ? hidden
                                                   : generate();

    slice = work_argument(argc, argv, 1, 1000) / 20;
    for (unsigned i = 0; i < 20; i++)
        call_it(function);
    puts("ok");
    return 0;
}
