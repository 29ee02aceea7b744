/* SPDX-License-Identifier: MIT */
/*
 * turn_test.c -- a spool takes the place of another one (writer_succeed):
 * names, what can still be written to both, and what is left when it fails.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"

#include "spool_maker.h"

/* The file NAME has COUNT records, the last of them at TIME. */
static void
expect(const char *name, unsigned count, uint64_t time)
{
    char error[512];
    struct reader *reader = reader_open(maker_path(name), error, sizeof error);
    const struct record_mark *mark;
    enum record_kind kind;
    uint64_t last = 0;

    assert_non_null(reader);
    for (unsigned i = 0; i < count; i++) {
        mark = reader_next(reader, &kind);
        assert_non_null(mark);
        assert_int_equal(kind, RECORD_MARK);
        last = mark->time;
    }
    assert_int_equal(last, time);
    assert_null(reader_next(reader, &kind));
    assert_null(reader_problem(reader));
    reader_end(reader);
}

static bool
is_there(const char *name)
{
    return access(maker_path(name), F_OK) == 0;
}

static void
the_next_takes_the_place(void **state)
{
    struct writer *writer = maker_create(maker_path("a.sprof"), MAKER_CAP);
    struct writer *next = maker_create(maker_path(".next"), MAKER_CAP);

    (void)state;
    assert_non_null(writer);
    assert_non_null(next);
    for (uint64_t turn = 1; turn <= 3; turn++) {
        maker_mark(writer, turn * 10, "", 1);
        assert_int_equal(writer_succeed(writer, next, maker_path("a.past")), 0);
        assert_string_equal(writer_file(writer)->path, maker_path("a.past"));
        assert_string_equal(writer_file(next)->path, maker_path("a.sprof"));
        assert_false(is_there(".next"));
        maker_mark(writer, turn * 10 + 1, "", 1);
        maker_mark(next, turn * 10 + 2, "", 1);
        /* By its new path, as the file grows. */
        while (writer_size(writer) < 2u << 20)
            assert_true(maker_mark(writer, 0, "x", 1));
        assert_int_equal(writer_close(writer), 0);
        expect("a.sprof", 1, turn * 10 + 2);
        writer = next;
        next = maker_create(maker_path(".next"), MAKER_CAP);
        assert_non_null(next);
    }
    writer_discard(next);
    assert_false(is_there(".next"));
    assert_int_equal(writer_close(writer), 0);
    assert_true(is_there("a.sprof") && is_there("a.past"));
}

/* A kept descriptor goes with the file. */
static void
descriptors_are_given_back(void **state)
{
    const struct spool_header header = {.pid = 4711};
    struct writer *writer = maker_create(maker_path("a.sprof"), MAKER_CAP);
    int before = dup(0), after;

    (void)state;
    close(before);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(writer_close(writer), 0);
        unlink(maker_path("a.sprof"));
        writer = writer_create(maker_path("a.sprof"), &header, MAKER_CAP, true);
    }
    writer_discard(writer);
    after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

static void
a_failure_changes_nothing(void **state)
{
    struct writer *writer = maker_create(maker_path("a.sprof"), MAKER_CAP);
    struct writer *next = maker_create(maker_path(".next"), MAKER_CAP);

    (void)state;
    maker_mark(writer, 1, "", 1);
    maker_mark(next, 2, "", 1);
    /* The past cannot be made, */
    assert_int_equal(mkdir(maker_path("a.past"), 0700), 0);
    assert_int_equal(writer_succeed(writer, next, maker_path("a.past")), -1);
    expect("a.sprof", 1, 1);
    expect(".next", 1, 2);
    assert_int_equal(rmdir(maker_path("a.past")), 0);
    /* and the next one is gone. */
    assert_int_equal(unlink(maker_path(".next")), 0);
    assert_int_equal(writer_succeed(writer, next, maker_path("a.past")), -1);
    assert_int_equal(errno, ENOENT);
    expect("a.sprof", 1, 1);
    assert_false(is_there("a.past"));
    maker_mark(writer, 3, "", 1);
    expect("a.sprof", 2, 3);
    /* Nothing is there at all. */
    assert_int_equal(unlink(maker_path("a.sprof")), 0);
    assert_int_equal(writer_succeed(writer, next, maker_path("a.past")), -1);
    writer_discard(next);
    writer_discard(writer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_next_takes_the_place, maker_clean),
        cmocka_unit_test_teardown(descriptors_are_given_back, maker_clean),
        cmocka_unit_test_teardown(a_failure_changes_nothing, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
