/* SPDX-License-Identifier: MIT */
/*
 * generated_code.c -- a piece of machine code made at run time, without any
 * unwind table, but with a frame pointer, as JIT compilers make it. It calls
 * back into C. The walk must find its way by the chain of rbp, in and out.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "work.h"

typedef void generated(void (*callback)(void));

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

/*
 * push rbp; mov rbp,rsp; sub rsp,32; call rdi;
 * mov ecx,0x200000; loop: dec ecx; jnz loop; leave; ret
 * so that samples land in the generated code itself, too.
 */
static const unsigned char code[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd7, 0xb9,
    0x00, 0x00, 0x20, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc9, 0xc3,
};

static generated *
generate(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        work_fail("mmap");
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        work_fail("mprotect");
    return (generated *)page;
}

FRAME static void
call_generated(generated *function)
{
    function(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    generated *function = generate();

    slice = work_argument(argc, argv, 1, 1000) / 100;
    work_expect("main;call_generated;[^;]*0x[0-9a-f]+"
                "( [0-9]+$|;\\[runnable\\]|;called_back;work_burn)");
    for (unsigned i = 0; i < 100; i++)
        call_generated(function);
    puts("ok");
    return 0;
}
