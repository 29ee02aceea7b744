/* SPDX-License-Identifier: MIT */
/*
 * generated_test.c -- samples of generated code whose address was used again
 * have the names of their times, and share nodes where these agree. The spool
 * begins at 1000 ns of CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/naming.h"
#include "read/load.h"

#include "profile_maker.h"

#define START 1000u
#define CODE 0x5000u /* of several functions, one after the other */
#define LEAF 0x6000u

enum { FIRST = PROFILE_NOT_SAMPLED + 1 }; /* node 1 of the spool */

static int dump;

static void
put(const void *bytes, size_t size)
{
    assert_int_equal(write(dump, bytes, size), size);
}

static void
put_head(uint32_t kind, size_t size, uint64_t time)
{
    put((const uint32_t[]){kind, (uint32_t)(size + 16)}, 8);
    put(&time, sizeof time);
    put((const uint32_t[]){4711, 4711}, 8);
}

static void
put_load(const char *name, uint64_t address, uint64_t time)
{
    put_head(0, 40 + strlen(name) + 1, time);
    put((const uint64_t[]){address, address, 16, 0}, 32);
    put(name, strlen(name) + 1);
}

/* "one" lies at CODE, then "two", then nothing. */
static void
make_dump(const char *path)
{
    unlink(path);
    dump = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(dump >= 0);
    put((const uint32_t[]){0x4a695444, 1, 40, 62, 0, 4711}, 24);
    put((const uint64_t[]){START, 0}, 16);
    put_load("one", CODE, 1500);
    put_load("leaf", LEAF, 1500);
    put_load("two", CODE, 5000);
    put_head(1, 48, 9000);
    put((const uint64_t[]){0x7000, CODE, 0x7000, 16, 0}, 40);
    close(dump);
}

static void
add_jitdump(const char *path)
{
    const struct record_jitdump record = {.time = 10,
                                          .path_length =
                                              (uint16_t)(strlen(path) + 1)};
    const struct writer_tail tail = {path, record.path_length};
    maker_append(RECORD_JITDUMP, &record, sizeof record, &tail, 1);
}

/* A node in no module, called from CODE, which is called from the program. */
static void
make_spool(char *path)
{
    char file[PATH_MAX];
    strcpy(file, maker_path("jit-4711.dump"));
    make_dump(file);
    strcpy(path, maker_path("a.sprof"));
    unlink(path);
    maker_writer = maker_create(path, MAKER_CAP);
    assert_non_null(maker_writer);
    maker_add_process(4711, "/bin/app");
    maker_add_module(1, "/bin/app");
    maker_add_thread(1, 4711, "main");
    add_jitdump(file);
    maker_add_node(1, 0, 1, 0x10, NODE_RETURN);
    maker_add_node(2, 1, 0, CODE + 4, NODE_RETURN);
    maker_add_node(3, 2, 0, LEAF, 0);
    maker_add_timed(1, 3, 1, 1, 100, 0);    /* before all code */
    maker_add_timed(1, 3, 3999, 1, 100, 0); /* "one" */
    maker_add_timed(1, 3, 4000, 1, 100, 0); /* "two" */
    maker_add_timed(1, 3, 7999, 1, 100, 0); /* "two" */
    maker_add_timed(1, 3, 8000, 1, 100, 0); /* nothing */
    maker_add_node(4, 1, 0, LEAF, 0);
    maker_add_timed(1, 4, 8000, 1, 100, 0); /* never used again */
    maker_add_counts(20000);
    maker_finish();
}

/* SAMPLE has COUNT points in "leaf", which CALLER called. */
static void
expect(struct profile *profile, uint32_t sample, uint64_t count,
       const char *caller)
{
    const struct profile_sample *at = &profile->samples[sample];
    uint32_t parent = profile->nodes[at->node].parent;
    assert_int_equal(at->values[VALUE_SAMPLES], count);
    assert_string_equal(naming_symbol(profile, at->node)->frames[0].function,
                        "leaf");
    assert_int_equal(profile->nodes[parent].parent, FIRST);
    assert_int_equal(profile->nodes[parent].offset, CODE + 4);
    const struct symbol *symbol = naming_symbol(profile, parent);
    if (caller != NULL)
        assert_string_equal(symbol->frames[0].function, caller);
    else
        assert_false(symbol->named);
}

static void
samples_have_the_names_of_their_times(void **state)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    char path[PATH_MAX], error[1024];
    (void)state;
    make_spool(path);
    assert_non_null(profile);
    assert_int_equal(load_file(profile, path, error, sizeof error), 0);
    assert_int_equal(profile->problems, 0);
    assert_int_equal(profile->sample_count, 4);
    expect(profile, 0, 2, "one");
    expect(profile, 1, 2, "two");
    expect(profile, 2, 1, NULL);
    assert_int_equal(profile->nodes[profile->samples[3].node].parent, FIRST);
    /* Two variants of two nodes each. */
    assert_int_equal(profile->node_count, FIRST + 4 + 4);
    assert_true(profile->processes[0].has_variants);
    for (unsigned i = 0; i < NAMING_FILES; i++)
        assert_null(naming_problem(profile, 0, i));
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_have_the_names_of_their_times),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
