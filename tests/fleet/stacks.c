/* SPDX-License-Identifier: MIT */
/*
 * stacks.c SECONDS -- a program with many different, deep stacks: it calls
 * functions in an order that is not the same twice. While it computes, its
 * samples have a span, and more labels than servers take.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sprof.h"

static unsigned long state = 1, sink;

static unsigned
chance(unsigned most)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % most;
}

static void descend(unsigned depth);

/* LEVEL(n): the functions differ, so that each has a name of its own. */
#define LEVEL(n)                                                              \
    static                                                                    \
        __attribute__((noinline)) void level_of_the_stack_##n(unsigned depth) \
    {                                                                         \
        descend(depth);                                                       \
        sink += n;                                                            \
    }
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)

static __attribute__((noinline)) void
descend(unsigned depth)
{
    static void (*const levels[])(
        unsigned) = {level_of_the_stack_0, level_of_the_stack_1,
                     level_of_the_stack_2, level_of_the_stack_3,
                     level_of_the_stack_4, level_of_the_stack_5,
                     level_of_the_stack_6, level_of_the_stack_7};
    if (depth == 0)
        for (unsigned i = 0; i < 40000; i++)
            sink += i * state;
    else
        levels[chance(8)](depth - 1);
    sink++;
}

int
main(int argc, char **argv)
{
    clock_t end = (argc > 1 ? atoi(argv[1]) : 5) * CLOCKS_PER_SEC;
    char key[16], span[17];
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "label_%d", i);
        sprof_label_set(key, "value");
    }
    sprof_label_set("trace_id", "0123456789abcdef0123456789abcdef");
    while (clock() < end) {
        snprintf(span, sizeof(span), "%016x", chance(16));
        sprof_label_set("span_id", span);
        descend(250);
    }
    return 0;
}
