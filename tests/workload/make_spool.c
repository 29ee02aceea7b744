/* SPDX-License-Identifier: MIT */
/*
 * make_spool.c -- writes a spool with known contents, without profiling
 * anything: `make_spool PATH [SAMPLES]`. Its stacks, at addresses that no file
 * has names for:
 *
 *   app+0x10 -> app+0x20                3 points, running, thread "app"
 *   app+0x10 -> app+0x20 -> lib+0x30    5 points, running, thread "app"
 *   app+0x10 -> lib+0x40                4 points, waiting in futex for
 *                                       "thread 4711", "worker"
 *   [truncated] -> lib+0x30             1 point, running, thread "worker"
 *
 * Callers are return addresses. With SAMPLES, as many records more, running, in
 * 10,000 stacks that are up to 64 frames deep.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool.h"

enum {
    APP = 1,
    LIB = 2,
    MAIN = 1,
    WORKER = 2,
    LOCK = 1,
    MILLISECOND = 1000000
};
enum { STACKS = 10000, DEPTH = 64 };

static void
sample(uint32_t of, uint32_t leaf, uint64_t count, enum state state)
{
    static uint64_t time;
    const struct record_sample record = {
        .time = time += MILLISECOND,
        .wall = count * MILLISECOND,
        .cpu = state == STATE_RUNNING ? count * MILLISECOND : 0,
        .count = count,
        .thread = of,
        .node = leaf,
        .system_call = state == STATE_WAITING ? 202 : SYSCALL_UNKNOWN,
        .state = (uint8_t)state,
        .trigger = TRIGGER_TIMER,
        .stopped = 500,
        .waits_on = state == STATE_WAITING ? LOCK : 0};

    spool_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
known_stacks(void)
{
    uint32_t caller = spool_node(0, APP, 0x11, NODE_RETURN);
    uint32_t middle = spool_node(caller, APP, 0x21, NODE_RETURN);
    uint32_t leaf = spool_node(middle, LIB, 0x30, 0);
    uint32_t waiting = spool_node(caller, LIB, 0x40, 0);
    uint32_t cut = spool_node(0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    uint32_t orphan = spool_node(cut, LIB, 0x30, 0);

    sample(MAIN, middle, 3, STATE_RUNNING);
    sample(MAIN, leaf, 5, STATE_RUNNING);
    sample(WORKER, waiting, 4, STATE_WAITING);
    sample(WORKER, orphan, 1, STATE_RUNNING);
}

static void
counts(void)
{
    static const uint64_t lost[LOSS_COUNT] = {[LOSS_EXITED] = 2};
    static const uint64_t cut[CUT_COUNT] = {12, 1};
    const struct record_counts record = {.time = 20 * MILLISECOND,
                                         .asked = 15,
                                         .taken = 13,
                                         .peeked = 4,
                                         .unsure = 1,
                                         .skipped = 3,
                                         .process_cpu = 9 * MILLISECOND,
                                         .sampler_cpu = MILLISECOND / 10,
                                         .stopped = 2000,
                                         .loss_count = LOSS_COUNT,
                                         .cut_count = CUT_COUNT};
    static const uint64_t late[] = {1, 2}; /* expired, missed */
    const struct writer_tail tail[] = {{lost, sizeof lost},
                                       {cut, sizeof cut},
                                       {late, sizeof late}};

    spool_append(RECORD_COUNTS, &record, sizeof record, tail, 3);
}

/* As many stacks and samples as a long run of a large program has. */
static void
many(unsigned long samples)
{
    static uint32_t leaves[STACKS];
    uint32_t path[DEPTH + 1] = {0};

    for (uint32_t i = 0; i < STACKS; i++) {
        uint32_t from = i == 0 ? 0 : (i * 7919u) % DEPTH;
        for (uint32_t j = from; j < DEPTH; j++)
            path[j + 1] = spool_node(path[j], APP + j % 2, (i * j) % 0xfffff,
                                     j + 1 < DEPTH ? NODE_RETURN : 0);
        leaves[i] = path[DEPTH];
    }
    for (unsigned long i = 0; i < samples; i++)
        sample(MAIN + i % 2, leaves[(i * 104729) % STACKS], 1, STATE_RUNNING);
}

int
main(int argc, char **argv)
{
    static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01};
    const struct spool_header header = {.start_realtime = 1700000000000000000,
                                        .pid = 4711};

    if (argc < 2)
        return 2;
    spool_writer = writer_create(argv[1], &header, 1ull << 32, false);
    if (spool_writer == NULL) {
        perror(argv[1]);
        return 1;
    }
    spool_process(4711, "/opt/app", "app --fast");
    spool_module(APP, 0x400000, "/opt/app", build_id, sizeof build_id);
    spool_module(LIB, 0x7f0000000000, "/opt/lib.so", build_id, sizeof build_id);
    spool_thread(MAIN, 4711, "app");
    spool_thread(WORKER, 4712, "worker");
    spool_text(LOCK, "thread 4711");
    known_stacks();
    counts();
    if (argc > 2)
        many(strtoul(argv[2], NULL, 10));
    return writer_close(spool_writer) == 0 ? 0 : 1;
}
