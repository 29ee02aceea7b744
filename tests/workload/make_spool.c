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

#include "store/writer.h"

enum {
    APP = 1,
    LIB = 2,
    MAIN = 1,
    WORKER = 2,
    LOCK = 1,
    MILLISECOND = 1000000
};
enum { STACKS = 10000, DEPTH = 64 };

static struct writer *writer;

static void
append(enum record_kind kind, const void *record, size_t size,
       const struct writer_tail *tail, size_t parts)
{
    if (writer_append(writer, kind, record, size, tail, parts) == NULL) {
        perror("writer_append");
        exit(1);
    }
}

static void
process(void)
{
    static const char exe[] = "/opt/app", command[] = "app --fast";
    static const char version[] = "0.1.0", host[] = "host";
    const struct record_process record = {.period = MILLISECOND,
                                          .pid = 4711,
                                          .ppid = 1,
                                          .exe_length = sizeof exe,
                                          .command_length = sizeof command,
                                          .version_length = sizeof version,
                                          .host_length = sizeof host};
    const struct writer_tail tail[] = {{exe, sizeof exe},
                                       {command, sizeof command},
                                       {version, sizeof version},
                                       {host, sizeof host}};

    append(RECORD_PROCESS, &record, sizeof record, tail, 4);
}

static void
module(uint32_t id, uint64_t base, const char *path)
{
    static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01};
    const struct record_module record = {.id = id,
                                         .base = base,
                                         .start = base,
                                         .end = base + 0x100000,
                                         .build_id_length = sizeof build_id,
                                         .path_length =
                                             (uint16_t)(strlen(path) + 1)};
    const struct writer_tail tail[] = {{build_id, sizeof build_id},
                                       {path, strlen(path) + 1}};

    append(RECORD_MODULE, &record, sizeof record, tail, 2);
}

static void
thread(uint32_t id, uint32_t tid, const char *name)
{
    const struct record_thread record = {.id = id,
                                         .tid = tid,
                                         .name_length =
                                             (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, strlen(name) + 1};

    append(RECORD_THREAD, &record, sizeof record, &tail, 1);
}

static void
text(uint32_t id, const char *string)
{
    const struct record_text record = {.id = id,
                                       .text_length =
                                           (uint16_t)(strlen(string) + 1)};
    const struct writer_tail tail = {string, strlen(string) + 1};

    append(RECORD_TEXT, &record, sizeof record, &tail, 1);
}

/* Returns the id of the new node. */
static uint32_t
node(uint32_t parent, uint32_t in, uint64_t offset, uint32_t flags)
{
    static uint32_t last;
    const struct record_node record = {.id = ++last,
                                       .parent = parent,
                                       .module = in,
                                       .flags = flags,
                                       .offset = offset};

    append(RECORD_NODE, &record, sizeof record, NULL, 0);
    return last;
}

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

    append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
known_stacks(void)
{
    uint32_t caller = node(0, APP, 0x11, NODE_RETURN);
    uint32_t middle = node(caller, APP, 0x21, NODE_RETURN);
    uint32_t leaf = node(middle, LIB, 0x30, 0);
    uint32_t waiting = node(caller, LIB, 0x40, 0);
    uint32_t cut = node(0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    uint32_t orphan = node(cut, LIB, 0x30, 0);

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
    const struct writer_tail tail[] = {{lost, sizeof lost}, {cut, sizeof cut}};

    append(RECORD_COUNTS, &record, sizeof record, tail, 2);
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
            path[j + 1] = node(path[j], APP + j % 2, (i * j) % 0xfffff,
                               j + 1 < DEPTH ? NODE_RETURN : 0);
        leaves[i] = path[DEPTH];
    }
    for (unsigned long i = 0; i < samples; i++)
        sample(MAIN + i % 2, leaves[(i * 104729) % STACKS], 1, STATE_RUNNING);
}

int
main(int argc, char **argv)
{
    const struct spool_header header = {.start_realtime = 1700000000000000000,
                                        .pid = 4711};

    if (argc < 2)
        return 2;
    writer = writer_create(argv[1], &header, 1ull << 32);
    if (writer == NULL) {
        perror(argv[1]);
        return 1;
    }
    process();
    module(APP, 0x400000, "/opt/app");
    module(LIB, 0x7f0000000000, "/opt/lib.so");
    thread(MAIN, 4711, "app");
    thread(WORKER, 4712, "worker");
    text(LOCK, "thread 4711");
    known_stacks();
    counts();
    if (argc > 2)
        many(strtoul(argv[2], NULL, 10));
    return writer_close(writer) == 0 ? 0 : 1;
}
