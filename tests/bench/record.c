/* SPDX-License-Identifier: MIT */
/*
 * record.c -- what the sampler's work for one sample costs, without threads:
 * a stack of DEPTH frames is put into the journal, and a sample is written.
 * "record.py" says which stacks. Usage: record SPOOL DEPTH SAMPLES
 *
 * Prints a line for each kind of stack: its name, "|", and the ns of one sample
 * in the median of batches.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/journal.h"
#include "journal/stack_tree.h"
#include "process/modules.h"
#include "unwind/rules.h"

/* Samples between two flushes, as in a tick of 64 ms at 1,000 Hz. */
#define BATCH 64u

/* Leaves and inner frames that take turns. */
#define TURNS 61u

static struct frame frames[1024], made[1024];
static uint32_t depth;
static uint64_t code; /* of libc: all frames are in one module */

/* Frame I from the root, of a stack of number VARIANT. */
static struct frame
frame_of(uint32_t i, uint64_t variant)
{
    uint64_t pc = code + i * 64 + variant * 8;
    return i + 1 == depth ? frame_exact(pc) : frame_return(pc);
}

/* Make the stack number N of a kind. The first CHANGED frames from the leaf are
 * those of the N-th of TURNS stacks, or of one that never was. */
static void
make_stack(uint64_t n, uint32_t changed, bool is_new)
{
    uint64_t variant = is_new ? TURNS + n : n % TURNS;
    for (uint32_t i = 0; i < depth; i++)
        made[i] = frame_of(depth - 1 - i, i < changed ? variant : 0);
}

static void
take_sample(void)
{
    for (uint32_t i = 0; i < depth; i++)
        frames[i] = made[i];
    struct walk walk = {.depth = depth,
                        .capacity = sizeof(frames) / sizeof(frames[0]),
                        .frames = frames};
    uint64_t now = clock_now();
    struct journal_place place = {.node = stack_tree_enter(&walk, 0),
                                  .depth = depth};
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, place, now, now);
    sample.wall = sample.cpu = 1000000;
    if (place.node == 0 || journal_sample(&sample, 0) == 0)
        exit(1);
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Time COUNT samples in batches. Making a stack is not timed. */
static void
time_kind(const char *name, uint32_t count, uint32_t changed, bool is_new)
{
    uint32_t batches = count / BATCH;
    uint64_t *took = calloc(batches, sizeof(*took)), n = 0;
    for (uint32_t b = 0; b < batches; b++) {
        for (uint32_t i = 0; i < BATCH; i++) {
            make_stack(n++, changed, is_new);
            uint64_t start = clock_now();
            take_sample();
            took[b] += clock_now() - start;
        }
        uint64_t start = clock_now();
        journal_flush();
        took[b] += clock_now() - start;
    }
    qsort(took, batches, sizeof(*took), compare);
    printf("%s|%.0f\n", name, (double)took[batches / 2] / BATCH);
    free(took);
}

static void
see(const struct module *module, bool gone)
{
    (void)module, (void)gone;
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    struct journal_options options = {.spool = argv[1],
                                      .is_kept_open = true,
                                      .max_size = 1ull << 32,
                                      .start = clock_now(),
                                      .exe = "/bin/app",
                                      .command = "app"};
    depth = (uint32_t)atoi(argv[2]);
    uint32_t count = (uint32_t)atoi(argv[3]);
    if (threads_begin(getpid(), 0, NULL, false) != 0 ||
        modules_begin(see) != 0 || modules_refresh() != 0 ||
        rules_begin() != 0 || journal_begin(&options) != 0)
        return 1;
    code = (uint64_t)printf;
    time_kind("as the last one", count, 0, false);
    time_kind("another leaf, seen before", count, 1, false);
    time_kind("other half, seen before", count, depth / 2, false);
    time_kind("all other, seen before", count, depth, false);
    time_kind("a new leaf", count, 1, true);
    time_kind("a new half", count / 8, depth / 2, true);
    return 0;
}
