/* SPDX-License-Identifier: MIT */
/*
 * pprof_test.c -- pprof files as input: ours come back byte for byte,
 * those of others become what the model can hold, and files that make no sense
 * are refused as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/quality.h"
#include "model/naming.h"
#include "model/events.h"
#include "read/pprof.h"
#include "util/array.h"
#include "util/gzip.h"
#include "util/wire.h"
#include "write/output_file.h"

#include "profile_maker.h"

static struct profile *
new_profile(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    assert_non_null(profile);
    return profile;
}

/* Inlined frames, a place without a name, a wait for something, a marker, a
 * stack of nothing, losses. */
static struct profile *
example(struct profile *profile)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "parse", "token");
    maker_add_head();
    maker_add_text(1, "pipe:[7]");
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x20, 0);
    maker_add_node(3, 1, 2, 0x77, 0);
    maker_add_node(4, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_node(5, 4, 2, 0x10, 0);
    maker_add_sample(1, 2, 3, 0);
    maker_add_sample(2, 2, 1, 0);
    maker_add_sample(1, 3, 4, 202);
    maker_add_sample(2, 5, 4, 999);
    maker_add_sample(2, 0, 1, 0);
    maker_add_counts(20000000);
    maker_add_rate();
    return maker_load(profile);
}

static uint8_t *
packed(struct profile *profile, size_t *length)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, length);

    assert_non_null(stream);
    assert_int_equal(pprof_write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    return (uint8_t *)bytes;
}

static struct profile *
read_back(const uint8_t *bytes, size_t length, bool keeps_events)
{
    struct profile *profile = new_profile();
    const char *wrong;

    profile->keeps_events = keeps_events;
    if (pprof_read(profile, bytes, length, &wrong) < 0)
        fail_msg("refused: %s", wrong);
    maker_expect_sums(profile);
    return profile;
}

/* The first writing puts names of files into mappings that were not asked for
 * yet, so the second and third are compared. */
static void
ours_comes_back(struct profile *first)
{
    size_t lengths[3], sizes[3];
    uint8_t *files[3], *bytes[3];
    struct profile *profile = first;

    for (unsigned i = 0; i < 3; i++) {
        files[i] = packed(profile, &lengths[i]);
        bytes[i] = gzip_unpack(files[i], lengths[i], &sizes[i]);
        assert_non_null(bytes[i]);
        if (profile != first)
            profile_free(profile);
        profile = read_back(files[i], lengths[i], i == 1);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    assert_int_equal(sizes[1], sizes[2]);
    assert_memory_equal(bytes[1], bytes[2], sizes[1]);
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        assert_int_equal(profile->totals[i], first->totals[i]);
    for (unsigned i = 0; i < STATE_COUNT; i++)
        assert_int_equal(profile->states[i], first->states[i]);
    assert_int_equal(profile->sample_count, first->sample_count);
    assert_int_equal(profile->thread_count, first->thread_count);
    assert_int_equal(profile->process_count, first->process_count);
    assert_int_equal(profile->cost.taken, first->cost.taken);
    assert_int_equal(profile->cost.sampler_cpu, first->cost.sampler_cpu);
    assert_int_equal(profile->cost.peeked, first->cost.peeked);
    assert_int_equal(profile->cost.rate.cpu, first->cost.rate.cpu);
    assert_int_equal(profile->cost.rate.tick, first->cost.rate.tick);
    for (unsigned i = 0; i < 3; i++) {
        free(files[i]);
        free(bytes[i]);
    }
    profile_free(profile);
    profile_free(first);
}

static void
one_process_is_read_as_it_was_written(void **state)
{
    (void)state;
    ours_comes_back(example(NULL));
}

static void
two_processes_stay_apart(void **state)
{
    struct profile *profile = example(NULL);

    (void)state;
    maker_add_process(4712, "/bin/other");
    maker_add_module(1, "/bin/other");
    maker_add_thread(1, 4712, "other");
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 2, 0);
    ours_comes_back(maker_load(profile));
}

static void
events_follow_one_another(void **state)
{
    struct profile *first = example(NULL), *profile;
    uint64_t sum = 0;
    size_t length;
    uint8_t *file = packed(first, &length);

    (void)state;
    profile = read_back(file, length, true);
    assert_int_equal(profile->event_count, profile->sample_count);
    for (size_t i = 0; i < profile->event_count; i++)
        sum += profile->events[i].wall;
    assert_int_equal(sum, profile->totals[VALUE_WALL]);
    profile_free(profile);
    profile_free(first);
    free(file);
}

/* A pprof file in the making, as bytes of the wire format. */
static uint8_t raw[4096];
static size_t raw_length;

static void
put(const void *bytes, size_t length)
{
    assert_true(raw_length + length <= sizeof raw);
    memcpy(raw + raw_length, bytes, length);
    raw_length += length;
}

/* A message of small numbers: FIELDS are field, value, field, value, ... */
static void
put_message(unsigned field, const uint8_t *fields, size_t count)
{
    uint8_t bytes[64] = {(uint8_t)(field << 3 | WIRE_BYTES), (uint8_t)count};

    for (size_t i = 0; i < count; i += 2) {
        bytes[2 + i] = (uint8_t)(fields[i] << 3);
        bytes[3 + i] = fields[i + 1];
    }
    put(bytes, 2 + count);
}

#define MESSAGE(field, ...)                            \
    put_message(field, (const uint8_t[]){__VA_ARGS__}, \
                sizeof((const uint8_t[]){__VA_ARGS__}))

static void
put_string(const char *text)
{
    uint8_t length = (uint8_t)strlen(text);
    uint8_t head[3] = {6 << 3 | WIRE_BYTES, length, 1};

    put(head, length < 128 ? 2 : 3);
    put(text, strlen(text));
}

/* What Go's runtime writes, in short: texts come last. A sample with ten of
 * 10 ms at f (file.go:12), called from a place without a line. */
static void
put_foreign(void)
{
    static const char *const texts[] = {"",        "samples",      "count",
                                        "cpu",     "microseconds", "main.f",
                                        "file.go", "/bin/x"};

    raw_length = 0;
    MESSAGE(1, 1, 1, 2, 2);
    MESSAGE(1, 1, 3, 2, 4);
    MESSAGE(2, 1, 9, 1, 7, 2, 10, 2, 100);
    MESSAGE(3, 1, 5, 2, 0x40, 3, 0x7f, 5, 7);
    MESSAGE(5, 1, 3, 2, 5, 3, 5, 4, 6);
    put("\x22\x0a\x08\x09\x10\x05\x18\x48\x22\x04\x08\x03\x10\x0c", 14);
    raw[raw_length - 13]++; /* the location's length, line included */
    raw[raw_length - 13] = 12;
    MESSAGE(4, 1, 7, 2, 5, 3, 0x50);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        put_string(texts[i]);
}

static void
foreign_profiles_are_read(void **state)
{
    struct profile *profile;
    const struct symbol *symbol;
    uint32_t leaf;

    (void)state;
    put_foreign();
    profile = read_back(raw, raw_length, false);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 10);
    assert_int_equal(profile->totals[VALUE_CPU], 100000);
    assert_int_equal(profile->totals[VALUE_WALL], 0);
    leaf = profile->samples[0].node;
    symbol = naming_symbol(profile, leaf);
    assert_string_equal(symbol->frames[0].function, "main.f");
    assert_string_equal(symbol->frames[0].file, "file.go");
    assert_int_equal(symbol->frames[0].line, 12);
    assert_int_equal(profile->modules[profile->nodes[leaf].module].start, 0x40);
    symbol = naming_symbol(profile, profile->nodes[leaf].parent);
    assert_string_equal(symbol->frames[0].function, "x+0x10");
    assert_false(symbol->named);
    profile_free(profile);
}

/* Parca has counts alone: CPU time is the count times the period, 100 us. */
static void
a_period_makes_time_of_counts(void **state)
{
    static const char *const texts[] = {"", "samples", "count", "cpu",
                                        "microseconds"};

    (void)state;
    raw_length = 0;
    MESSAGE(1, 1, 1, 2, 2);
    MESSAGE(2, 1, 7, 2, 10);
    MESSAGE(4, 1, 7, 3, 0x50);
    MESSAGE(11, 1, 3, 2, 4);
    put((const uint8_t[]){12 << 3 | WIRE_NUMBER, 100}, 2);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        put_string(texts[i]);
    struct profile *profile = read_back(raw, raw_length, false);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 10);
    assert_int_equal(profile->totals[VALUE_CPU], 1000000);
    assert_int_equal(profile->totals[VALUE_WALL], 0);
    profile_free(profile);
}

/* The foreign profile with COMMENTS. */
static struct profile *
read_comments(const char *const *comments, size_t count)
{
    put_foreign();
    for (size_t i = 0; i < count; i++) {
        put((const uint8_t[]){13 << 3 | WIRE_NUMBER, (uint8_t)(8 + i)}, 2);
        put_string(comments[i]);
    }
    return read_back(raw, raw_length, false);
}

/* Versions before the counters had their numbers in sentences alone. */
static void
sentences_of_older_versions_are_read(void **state)
{
    static const char *const comments[] = {
        "process: 4711 on host, /opt/app",
        "rate: 434 samples in 1.930 s of CPU: 225 a CPU second of 1,000 "
        "asked (timers, 250 Hz: threads switch too often)",
        "due: 1930 points in 1.930000 s: 434 taken, 3 lost, 1493 not asked: "
        "1480 switches, 13 short",
        "unseen: 0.512 s CPU, 22.7 % of 2.251 s: after the last look",
        "lost: 3 of 437 asked: 2 exited, 1 ring full",
        "cut: 10 of 500 stacks: 10 no rule",
        "cost: sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped "
        "0.009 s; 4 parked (0.03 %)",
        "note: running threads were asked by the sampler's signal"};
    (void)state;
    struct profile *profile =
        read_comments(comments, sizeof comments / sizeof comments[0]);
    const struct profile_cost *cost = &profile->cost;
    assert_int_equal(profile->processes[0].pid, 4711);
    assert_int_equal(cost->rate.tick, 4000000);
    assert_int_equal(cost->rate.cpu, 1930000000);
    assert_int_equal(cost->rate.due[0], 437000);
    assert_int_equal(cost->rate.due[LIMIT_SWITCHES], 1480000);
    assert_int_equal(cost->rate.taken[0], 437);
    assert_int_equal(cost->unseen_cpu, 512000000);
    assert_int_equal(cost->tree_cpu, 2251000000);
    assert_int_equal(cost->asked, 437);
    assert_int_equal(cost->taken, 434);
    assert_int_equal(cost->lost[LOSS_EXITED], 2);
    assert_int_equal(cost->lost[LOSS_RING_FULL], 1);
    assert_int_equal(cost->peeked, 66);
    assert_int_equal(cost->cut[CUT_NO_RULE], 10);
    assert_int_equal(cost->sampler_cpu, 21000000);
    assert_int_equal(cost->process_cpu, 12400000000);
    assert_int_equal(cost->stopped, 9000000);
    assert_int_equal(cost->parked, 4);
    assert_int_equal(profile->triggers[TRIGGER_ASK], 10);
    profile_free(profile);
}

static void
expect_losses(struct profile *profile, const char *losses, const char *cuts)
{
    char text[256];
    assert_string_equal(quality_losses(profile, text, sizeof text), losses);
    assert_string_equal(quality_cuts(profile, text, sizeof text), cuts);
    assert_int_equal(profile->cost.sampler_cpu, 7000000);
    profile_free(profile);
}

/* Two files of one process, of which `go tool pprof` made one: the second
 * "process" is gone, and so is a sentence that the first file has, too. */
static void
merged_files_add_up(void **state)
{
    static const char *const older[] = {
        "process: 4711 on host, /opt/app",
        "lost: 14 of 614 asked: 10 exited, 4 silent",
        "cut: none of 700 stacks",
        "cost: sampler 0.003 s CPU, 0.2 % of 1.000 s",
        "lost: none of 100 asked",
        "cost: sampler 0.004 s CPU, 0.2 % of 1.000 s"};
    static const char *const newer[] = {
        "process: 4711 on host, /opt/app",
        "lost: 14 of 614 asked: 10 exited, 4 silent",
        "cut: 2 of 700 stacks: 2 no rule",
        "counters: asked 614, taken 600, peeked 100, sampler_cpu 3000000, "
        "rate_cpu 5, lost exited 10, lost silent 4, cut no rule 2",
        "lost: 1 of 101 asked: 1 silent",
        "counters: asked 101, taken 100, peeked 1, sampler_cpu 4000000, "
        "rate_cpu 6, by_signal 3, lost silent 1, cut no rule 1"};
    (void)state;
    expect_losses(read_comments(older, sizeof older / sizeof older[0]),
                  "14 of 714 asked: 10 exited, 4 silent", "none of 800 stacks");
    struct profile *profile =
        read_comments(newer, sizeof newer / sizeof newer[0]);
    assert_int_equal(profile->cost.rate.cpu, 11);
    assert_int_equal(profile->cost.taken, 700);
    assert_int_equal(profile->triggers[TRIGGER_ASK], 3);
    assert_int_equal(profile->triggers[TRIGGER_NONE], 7);
    expect_losses(profile, "15 of 715 asked: 10 exited, 5 silent",
                  "3 of 801 stacks: 3 no rule");
    const char *const mixed[] = {older[0], older[1], older[2],
                                 older[3], newer[4], newer[5]};
    expect_losses(read_comments(mixed, sizeof mixed / sizeof mixed[0]),
                  "15 of 715 asked: 10 exited, 5 silent",
                  "1 of 801 stacks: 1 no rule");
}

/* Merged of a second with 100 points and one with 1,000. */
static struct profile *
read_two_rates(void)
{
    static const char *const comments[] = {
        "counters: asked 90, taken 90, rate_cpu 1000000000, due merged 100000",
        "counters: asked 800, taken 800, rate_cpu 1000000000, "
        "due merged 1000000"};
    put_foreign();
    MESSAGE(11, 1, 3, 2, 10);
    put((const uint8_t[]){12 << 3 | WIRE_NUMBER, 10}, 2);
    for (uint8_t i = 0; i < 2; i++)
        put((const uint8_t[]){13 << 3 | WIRE_NUMBER, 8 + i}, 2);
    put_string(comments[0]);
    put_string(comments[1]);
    put_string("milliseconds");
    return read_back(raw, raw_length, false);
}

/* A file has one period, that of the lower rate. */
static void
merged_rates_are_one(void **state)
{
    char text[256];
    (void)state;
    struct profile *profile = read_two_rates();
    quality_rate(profile, text, sizeof text);
    assert_non_null(strstr(text, ": 445 a CPU second of 550 asked"));
    /* Our own file of two processes. */
    profile->processes[0].period = 1000000;
    assert_true(ARRAY_GROW(profile->processes, profile->process_count));
    profile->processes[profile->process_count] = profile->processes[0];
    profile->processes[profile->process_count++].period = 10000000;
    size_t length;
    uint8_t *file = packed(profile, &length);
    struct profile *again = read_back(file, length, false);
    assert_int_equal(again->processes[0].period, 10000000);
    assert_int_equal(quality_wanted_rate(again), 550);
    free(file);
    profile_free(again);
    profile_free(profile);
}

/* Each counter has a number of its own. */
static void
counters_come_back_exactly(void **state)
{
    struct counters written = {.by_signal = 7}, read;
    char text[QUALITY_COUNTERS_SIZE];
    (void)state;
    written.cost.asked = INT64_MAX;
    written.cost.sampler_cpu = 21004311;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        written.cost.lost[i] = 100 + i;
    for (unsigned i = 0; i < CUT_COUNT; i++)
        written.cost.cut[i] = 200 + i;
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        written.cost.rate.due[i] = 300 + i;
        written.cost.rate.taken[i] = 400 + i;
    }
    quality_read_counters(&read, quality_write_counters(&written, text));
    assert_memory_equal(&read, &written, sizeof read);
    quality_read_counters(&read,
                          "new thing 5, lost exited 9223372036854775808, lost, "
                          "asked 3");
    assert_int_equal(read.cost.asked, 3);
    assert_int_equal(read.cost.lost[LOSS_EXITED], 0);
}

/* A file with functions "0" to "9" of which a location "01" has two, 1 called
 * by 0 and inlined. The digits of STACK are its functions, root first, and a
 * space ends a location. */
static void
put_stack(const char *stack)
{
    uint8_t ids[16];
    uint8_t count = 0;
    raw_length = 0;
    MESSAGE(1, 1, 1, 2, 2);
    put_string("");
    put_string("samples");
    put_string("count");
    for (char name[] = "0"; name[0] <= '9'; name[0]++) {
        put_string(name);
        uint8_t number = (uint8_t)(name[0] - '0');
        MESSAGE(5, 1, number + 1, 2, number + 3);
    }
    for (; *stack != '\0';
         stack += strcspn(stack, " "), stack += *stack == ' ') {
        uint8_t depth = (uint8_t)strcspn(stack, " ");
        ids[count] = count + 1;
        count++;
        put((uint8_t[]){4 << 3 | WIRE_BYTES, 4 + 4 * depth, 1 << 3, count,
                        3 << 3, 0x40 + count},
            6);
        for (uint8_t i = depth; i-- > 0;)
            put((uint8_t[]){4 << 3 | WIRE_BYTES, 2, 1 << 3, stack[i] - '0' + 1},
                4);
    }
    put((uint8_t[]){2 << 3 | WIRE_BYTES, 2 + 2 * count}, 2);
    while (count-- > 0)
        put((uint8_t[]){1 << 3, ids[count]}, 2);
    put((uint8_t[]){2 << 3, 1}, 2);
}

/* The expressions come last, with their fields in front of their texts. */
static void
put_frames(const char *drop, const char *keep)
{
    put((uint8_t[]){7 << 3, 13, 8 << 3, keep[0] != '\0' ? 14 : 0}, 4);
    put_string(drop);
    put_string(keep);
}

/* The one stack of PROFILE in the same form. */
static const char *
stack_of(struct profile *profile)
{
    static char text[64];
    char *at = &text[sizeof text - 1];
    assert_int_equal(profile->sample_count, 1);
    for (uint32_t node = profile->samples[0].node; node != 0;
         node = profile->nodes[node].parent) {
        const struct symbol *symbol = naming_symbol(profile, node);
        for (unsigned i = 0; i < symbol->count; i++)
            *--at = symbol->frames[i].function[0];
        *--at = ' ';
    }
    return at + 1;
}

static void
dropped_frames_are_left_out(void **state)
{
    static const struct {
        const char *stack, *drop, *keep, *left;
    } rows[] = {
        {"0 1 2 3", "2", "", "0 1"},      {"0 1 2 3", "[1-3]", "", "0"},
        {"0 1 2 3", "[1-3]", "1", "0 1"}, {"0 1 2 3", "[1-3]", "1|3", "0 1"},
        {"0 1 2 3", "0", "", "0 1 2 3"},  {"0 1 2 0", "0", "", "0 1 2"},
        {"0 1", ".", "", "0 1"},          {"0 12 3", "2", "", "0 1"},
        {"0 12 3", "1", "", "0"},         {"0 123 4", "2", "", "0 1"},
        {"01 1 2 1 3", "1", "", "0 1 2"}, {"0 1 2", "(?i)1", "", "0 1 2"},
        {"0 1 2", "", "1", "0 1 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_stack(rows[i].stack);
        put_frames(rows[i].drop, rows[i].keep);
        struct profile *profile = read_back(raw, raw_length, false);
        assert_string_equal(stack_of(profile), rows[i].left);
        assert_int_equal(profile->totals[VALUE_SAMPLES], 1);
        profile_free(profile);
    }
}

/* The file that is written of PROFILE, read back, drops DROP and keeps KEEP. */
static void
expect_frames(struct profile *profile, const char *drop, const char *keep)
{
    size_t length;
    uint8_t *file = packed(profile, &length);
    struct profile *again = read_back(file, length, false);
    assert_string_equal(again->processes[0].drop_frames, drop);
    assert_string_equal(again->processes[0].keep_frames, keep);
    profile_free(again);
    free(file);
}

static void
dropped_frames_are_written_again(void **state)
{
    const char *wrong;
    (void)state;
    put_stack("0 1 2");
    put_frames("[12]", "1");
    struct profile *profile = read_back(raw, raw_length, false);
    expect_frames(profile, "[12]", "1");
    assert_int_equal(pprof_read(profile, raw, raw_length, &wrong), 0);
    expect_frames(profile, "[12]", "1");
    /* They are not those of another file. */
    put_stack("0 1 2");
    put_frames("[12]", "");
    assert_int_equal(pprof_read(profile, raw, raw_length, &wrong), 0);
    expect_frames(profile, "", "");
    assert_null(wrong);
    profile_free(profile);

    profile = example(NULL);
    put_stack("0 1 2");
    put_frames("(?i)", "");
    assert_int_equal(pprof_read(profile, raw, raw_length, &wrong), 0);
    assert_non_null(strstr(wrong, "not understood"));
    expect_frames(profile, "", "");
    profile_free(profile);
}

static void
expect_refused(const char *sentence)
{
    struct profile *profile = new_profile();
    const char *wrong = NULL;

    assert_int_equal(pprof_read(profile, raw, raw_length, &wrong), -1);
    assert_non_null(wrong);
    if (strstr(wrong, sentence) == NULL)
        fail_msg("%s, not %s", wrong, sentence);
    assert_int_equal(profile->sample_count, 0);
    assert_int_equal(profile->process_count, 0);
    assert_int_equal(profile->module_count, 1);
    profile_free(profile);
}

static void
what_makes_no_sense(void **state)
{
    (void)state;
    put_foreign();
    MESSAGE(2, 1, 8, 2, 1, 2, 1);
    expect_refused("location that it lacks");
    put_foreign();
    MESSAGE(2, 1, 9, 2, 1);
    expect_refused("more or fewer values");
    put_foreign();
    MESSAGE(4, 1, 9);
    expect_refused("an id twice");
    put_foreign();
    MESSAGE(4, 1, 10, 2, 77);
    expect_refused("mapping that it lacks");
    put_foreign();
    put("\x22\x06\x08\x0a\x22\x02\x08\x63", 8);
    expect_refused("function that it lacks");
    put_foreign();
    MESSAGE(5, 1, 9, 2, 99);
    expect_refused("text that it lacks");
    put_foreign();
    put("\x12\x13\x08\x09\x10\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
        "\x18\x00\x18\x00",
        21);
    expect_refused("negative");
    put_foreign();
    raw_length--;
    expect_refused("damaged");
    put_foreign();
    MESSAGE(1, 1, 3, 2, 4);
    expect_refused("more or fewer values");
    raw_length = 0;
    MESSAGE(1, 1, 1, 2, 2);
    put_string("");
    put_string("objects");
    put_string("count");
    expect_refused("neither samples nor time");
}

/* Every shorter file, compressed or not, is refused or used, and nothing else.
 */
static void
cut_files_are_refused(void **state)
{
    struct profile *first = example(NULL);
    size_t length, size;
    uint8_t *file = packed(first, &length);
    uint8_t *bytes = gzip_unpack(file, length, &size);

    (void)state;
    for (size_t i = 0; i < length; i++) {
        struct profile *profile = new_profile();
        const char *wrong = NULL;
        assert_int_equal(pprof_read(profile, file, i, &wrong), -1);
        assert_non_null(wrong);
        profile_free(profile);
    }
    for (size_t i = 0; i < size; i++) {
        struct profile *profile = new_profile();
        uint8_t *copy = malloc(i + 1);
        const char *wrong;
        memcpy(copy, bytes, i);
        pprof_read(profile, copy, i, &wrong);
        free(copy);
        profile_free(profile);
    }
    free(bytes);
    free(file);
    profile_free(first);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(one_process_is_read_as_it_was_written),
        UNIT(two_processes_stay_apart),
        UNIT(events_follow_one_another),
        UNIT(foreign_profiles_are_read),
        UNIT(a_period_makes_time_of_counts),
        UNIT(sentences_of_older_versions_are_read),
        UNIT(merged_files_add_up),
        UNIT(merged_rates_are_one),
        UNIT(counters_come_back_exactly),
        UNIT(dropped_frames_are_left_out),
        UNIT(dropped_frames_are_written_again),
        UNIT(what_makes_no_sense),
        UNIT(cut_files_are_refused),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
