/* SPDX-License-Identifier: MIT */
/*
 * tagged_stack.c -- a coroutine and a signal handler on stacks whose memory has
 * tags (aarch64, MTE). The stack pointer has the tag in its upper byte, and so
 * have all addresses on the stack. A load or store without the tag is a fault.
 * The coroutine computes, waits, and raises a signal, in turn.
 *
 * Argument: milliseconds of CPU time, 1000. "skipped" where the processor or
 * the kernel has no tags.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>

#include "work.h"

enum { STACK_SIZE = 128 * 1024, GRANULE = 16, TURNS = 40 };

/* asm/hwcap.h, asm/mman.h and linux/prctl.h, which may be older. */
#define CAP2_MTE (1ul << 18)
#define PROTECTION_MTE 0x20
#define SET_TAGGED_ADDRESSES 55
#define TAGS_ENABLE 1ul
#define TAGS_SYNCHRONOUS (1ul << 1)
#define TAGS_ALLOWED (0xfffeul << 3) /* all but 0 */

static ucontext_t home, coroutine;
static volatile uint64_t sink;
static unsigned slice;

/* Memory with a tag, and its address with that tag. */
static void *
map_tagged(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE | PROTECTION_MTE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *tagged;

    if (memory == MAP_FAILED)
        work_fail("mmap");
    __asm__(".arch armv8.5-a+memtag\n\tirg %0, %1"
            : "=r"(tagged)
            : "r"(memory));
    for (size_t at = 0; at < size; at += GRANULE)
        __asm__ volatile(".arch armv8.5-a+memtag\n\tstg %0, [%0]"
                         :
                         : "r"(tagged + at)
                         : "memory");
    if (tagged == memory)
        work_fail("irg");
    return tagged;
}

FRAME static void
in_handler(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

FRAME static void
on_signal(int signo)
{
    (void)signo;
    in_handler();
    KEEP_FRAME();
}

FRAME static void
take_turn(void)
{
    struct timespec nap = {0, (long)slice * 1000000};

    sink += work_burn(slice);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    raise(SIGUSR1);
    KEEP_FRAME();
}

FRAME static void
in_turns(void)
{
    for (unsigned i = 0; i < TURNS; i++) {
        take_turn();
        if (swapcontext(&coroutine, &home) != 0)
            work_fail("swapcontext");
    }
}

static void
prepare(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    stack_t alternate = {.ss_sp = map_tagged(STACK_SIZE),
                         .ss_size = STACK_SIZE};

    if (sigaltstack(&alternate, NULL) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0 || getcontext(&coroutine) != 0)
        work_fail("a signal's stack");
    coroutine.uc_stack.ss_size = STACK_SIZE;
    coroutine.uc_stack.ss_sp = map_tagged(STACK_SIZE);
    coroutine.uc_link = &home;
    makecontext(&coroutine, in_turns, 0);
}

int
main(int argc, char **argv)
{
    slice = work_argument(argc, argv, 1, 1000) / (2 * TURNS);
    if ((getauxval(AT_HWCAP2) & CAP2_MTE) == 0 ||
        prctl(SET_TAGGED_ADDRESSES,
              TAGS_ENABLE | TAGS_SYNCHRONOUS | TAGS_ALLOWED, 0, 0, 0) != 0) {
        puts("skipped: no tags");
        return 77;
    }
    prepare();
    work_expect("in_turns;take_turn;work_burn");
    work_expect("in_turns;take_turn;(.*;)?on_signal;in_handler;work_burn");
    work_expect("in_turns;take_turn;(.*;)?clock_nanosleep");
    for (unsigned i = 0; i < TURNS; i++)
        swapcontext(&home, &coroutine);
    puts("ok");
    return 0;
}
