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
 *   nested       two such functions, generated, of which one calls the other
 *   decoy        such a function with an old return address in its frame, from
 *                which a walk would come to a 0
 *   made         C on a stack that assembly has made: at its bottom is the
 *                address of code that ends the program
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "work.h"

typedef void callback(void);
typedef void bare(callback *);

void assembly(callback *);
void hidden(callback *);
void decoy(callback *);
void made(callback *);
void made_leave(void);
void outer(callback *, bare *);
extern const char hidden_end[], outer_end[];
char made_stack[256 << 10] __attribute__((aligned(64)));

/* The beginning and the end of a function that does not show how large its
 * frame is. */
__asm__(".macro align_stack size\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    movq %rsp, %rbx\n"
        "    andq $-64, %rsp\n"
        "    subq $\\size, %rsp\n"
        "    movl $3, %ebp\n"
        ".endm\n"
        ".macro count_and_return turns\n"
        "    movl $\\turns, %ebp\n"
        "1:  decl %ebp\n"
        "    jnz 1b\n"
        "    movq %rbx, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".endm\n");

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
        "    align_stack 256\n"
        "    call *%rdi\n"
        "    count_and_return 0x200000\n"
        ".globl hidden_end\n"
        "hidden_end:\n"
        ".size hidden, . - hidden\n"
        ".globl outer, outer_end\n"
        ".type outer, @function\n"
        "outer:\n"
        "    align_stack 192\n"
        "    call *%rsi\n"
        "    count_and_return 0x2000\n"
        "outer_end:\n"
        ".size outer, . - outer\n"
        ".globl decoy, made, made_leave\n"
        ".type decoy, @function\n"
        "decoy:\n"
        "    align_stack 256\n"
        "    leaq old_return(%rip), %rax\n"
        "    movq %rax, 64(%rsp)\n"
        "    movq $0, 96(%rsp)\n"
        "    call *%rdi\n"
        "    count_and_return 0x200000\n"
        ".size decoy, . - decoy\n"
        ".type old, @function\n"
        "old:\n"
        "    .cfi_startproc\n"
        "    subq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "    call *%rdi\n"
        "old_return:\n"
        "    addq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset -24\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size old, . - old\n"
        ".type made, @function\n"
        "made:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    movq %rsp, made_from(%rip)\n"
        "    leaq made_stack + 0x3ff00(%rip), %rsp\n"
        "    movl $3, %ebp\n"
        "    leaq 1f(%rip), %rax\n"
        "    pushq %rax\n"
        "    jmp *%rdi\n"
        "1:  xorl %edi, %edi\n"
        "    call *%rdi\n"
        "    hlt\n"
        ".size made, . - made\n"
        ".type made_leave, @function\n"
        "made_leave:\n"
        "    movq made_from(%rip), %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size made_leave, . - made_leave\n"
        ".local made_from\n"
        ".comm made_from, 8, 8\n");

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

FRAME static void
called_and_gone(void)
{
    called_back();
    made_leave();
    KEEP_FRAME();
}

static char *page;

/* LENGTH bytes of code, generated at OFFSET. */
static void *
generate(size_t offset, const void *code, size_t length)
{
    memcpy(page + offset, code, length);
    return page + offset;
}

static size_t
length_of(const void *from, const char *end)
{
    return (size_t)(end - (const char *)from);
}

/* endbr64; sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
static const unsigned char trampoline[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48,
                                           0x83, 0xec, 0x08, 0xff, 0xd7,
                                           0x48, 0x83, 0xc4, 0x08, 0xc3};

static bare *bridge, *inner;
static void (*outermost)(callback *, bare *);

/* And nothing of it is left on the stack, which a search would find. */
FRAME static void
generate_all(void)
{
    volatile char below[4096];

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        work_fail("mmap");
    bridge = generate(0, trampoline, sizeof trampoline);
    inner = generate(1024, hidden, length_of(hidden, hidden_end));
    outermost = generate(2048, outer, length_of(outer, outer_end));
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0;
    KEEP_FRAME();
}

FRAME static void
call_it(const char *kind)
{
    if (strcmp(kind, "assembly") == 0)
        assembly(called_back);
    else if (strcmp(kind, "hidden") == 0)
        hidden(called_back);
    else if (strcmp(kind, "decoy") == 0)
        decoy(called_back);
    else if (strcmp(kind, "made") == 0)
        made(called_and_gone);
    else if (strcmp(kind, "nested") == 0)
        outermost(called_back, inner);
    else
        bridge(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    slice = work_argument(argc, argv, 1, 1000) / 20;
    generate_all();
    for (unsigned i = 0; i < 20; i++)
        call_it(argc > 2 ? argv[2] : "trampoline");
    puts("ok");
    return 0;
}
