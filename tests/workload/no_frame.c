/* SPDX-License-Identifier: MIT */
/*
 * no_frame.c -- code that has neither an unwind table nor a frame pointer. It
 * calls back into C with a number in the frame pointer's register, so that no
 * chain leads on. Each machine's folder has this code.
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
void trampoline(callback *);
extern const char hidden_end[], outer_end[], trampoline_end[];
char made_stack[256 << 10] __attribute__((aligned(64)));

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
    __builtin___clear_cache(page + offset, page + offset + length);
    return page + offset;
}

static size_t
length_of(const void *from, const char *end)
{
    return (size_t)(end - (const char *)from);
}

static bare *bridge, *inner;
static void (*outermost)(callback *, bare *);

/* And nothing of it is left on the stack, where a search would find it. */
FRAME static void
generate_all(void)
{
    volatile char below[4096];

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        work_fail("mmap");
    bridge = generate(0, trampoline, length_of(trampoline, trampoline_end));
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
