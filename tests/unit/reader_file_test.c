/* SPDX-License-Identifier: MIT */
/*
 * reader_file_test.c -- the reader on files: one that grows or shrinks while it
 * is read, one that is damaged, and those that are no spool. What bytes can do
 * is in reader_test.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"
#include "store/writer.h"

#include "spool_maker.h"

/* The third record of the spool of every kind is damaged. */
static void
the_sentence_is_clear(void **state)
{
    const char *path = maker_path("spool");
    const size_t place = 64 + 80 + 72; /* header, PROCESS, MODULE */
    char expected[PATH_MAX + 256], error[512];
    struct reader *reader;
    enum record_kind kind;
    struct stat file;
    int fd;

    (void)state;
    assert_int_equal(maker_small_spool(path), 0);
    assert_int_equal(stat(path, &file), 0);
    fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "?", 1, (off_t)place + 3), 1);
    close(fd);
    reader = reader_open(path, error, sizeof(error));
    assert_non_null(reader_next(reader, &kind));
    assert_non_null(reader_next(reader, &kind));
    assert_int_equal(kind, RECORD_MODULE);
    assert_null(reader_next(reader, &kind));
    snprintf(expected, sizeof(expected),
             "%s: damaged at byte %zu of %zu: no record begins here, its check "
             "is wrong; everything before it is used",
             path, place, (size_t)file.st_size);
    assert_string_equal(reader_problem(reader), expected);
    reader_end(reader);
}

static void
a_growing_file_goes_on(void **state)
{
    struct writer *writer = maker_create(maker_path("spool"), MAKER_CAP);
    char error[512];
    struct reader *reader =
        reader_open(maker_path("spool"), error, sizeof(error));
    const struct record_sample *read;
    const uint64_t count = 99;
    struct record_sample before, again;
    uint64_t place;
    enum record_kind kind;
    uint32_t id;

    (void)state;
    assert_null(reader_next(reader, &kind));
    for (id = 1; id < 20000; id++) {
        assert_true(maker_node(writer, id));
        assert_non_null(reader_next(reader, &kind));
        assert_null(reader_next(reader, &kind));
        assert_null(reader_problem(reader));
    }
    place = maker_sample(writer);
    read = reader_next(reader, &kind);
    assert_non_null(read);
    before = *read;
    writer_change(writer, place, offsetof(struct record_sample, count), &count,
                  sizeof(count));
    before.count = count;
    /* One record can be looked at again, and the reading goes on. */
    assert_int_equal(reader_again(reader, reader_place(reader), &again,
                                  sizeof(again)),
                     0);
    assert_memory_equal(&again, &before, sizeof(again));
    assert_int_equal(reader_again(reader, reader_place(reader), &again, 16), 0);
    assert_int_equal(reader_again(reader, reader_place(reader) + 8, &again,
                                  sizeof(again)),
                     -1);
    assert_null(reader_next(reader, &kind));
    reader_go(reader, reader_header(reader)->header_size);
    while ((read = reader_next(reader, &kind)) != NULL && kind == RECORD_NODE)
        id--;
    assert_int_equal(id, 1);
    assert_int_equal(read->count, 99);
    assert_int_equal(writer_close(writer), 0);
    assert_null(reader_next(reader, &kind));
    assert_null(reader_problem(reader));
    reader_end(reader);
}

static void
a_shrinking_file_is_damage(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    char error[512];
    struct reader *reader;
    enum record_kind kind;
    unsigned count = 0;
    uint32_t id;

    (void)state;
    for (id = 1; id <= 100000; id++)
        assert_true(maker_node(writer, id));
    assert_int_equal(writer_close(writer), 0);
    reader = reader_open(path, error, sizeof(error));
    while (count++ < 50000)
        assert_non_null(reader_next(reader, &kind));
    assert_int_equal(truncate(path, 1000), 0);
    while (reader_next(reader, &kind) != NULL)
        count++;
    assert_true(count < 70000);
    assert_non_null(reader_problem(reader));
    assert_null(reader_next(reader, &kind));
    reader_go(reader, reader_header(reader)->header_size);
    for (id = 1; reader_next(reader, &kind) != NULL; id++)
        ;
    assert_int_equal(id, 30);
    assert_non_null(
        strstr(reader_problem(reader), "damaged at byte 992 of 1000: "));
    reader_end(reader);
}

/* NAME is no spool: the sentence says WHY. */
static void
expect_refusal(const char *name, const char *why)
{
    char error[512] = "", expected[PATH_MAX + 256];

    assert_null(reader_open(maker_path(name), error, sizeof(error)));
    snprintf(expected, sizeof(expected), "%s: %s", maker_path(name), why);
    assert_string_equal(error, expected);
    assert_int_equal(reader_recognize(maker_path(name)), 0);
}

static void
write_file(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(maker_path(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void
what_is_no_spool_is_refused(void **state)
{
    struct spool_header header = {.version = 1};
    char text[100], error[512];

    (void)state;
    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    expect_refusal("missing", "No such file or directory");
    expect_refusal("", "Is a directory");
    assert_int_equal(mkfifo(maker_path("fifo"), 0600), 0);
    expect_refusal("fifo", "not a regular file");
    write_file("empty", "", 0);
    expect_refusal("empty", "not a spool (0 bytes, its header has 64)");
    memset(text, 'x', sizeof(text));
    write_file("text", text, sizeof(text));
    expect_refusal("text", "not a spool (no SPROFSP header)");
    write_file("version", &header, sizeof(header));
    assert_null(reader_open(maker_path("version"), error, sizeof(error)));
    assert_non_null(
        strstr(error,
               "a spool of version 1, this program reads versions 2 to 5"));
    assert_int_equal(maker_small_spool(maker_path("spool")), 0);
    assert_int_equal(reader_recognize(maker_path("spool")), 1);
}

/* As long as a reader that follows it is open, but not for one that does not.
 */
static void
the_writer_sees_who_follows(void **state)
{
    const struct spool_header header = {.machine = 62};
    const char *path = maker_path("followed");
    char error[512];
    struct reader *first, *second;

    (void)state;
    for (int keeps_open = 0; keeps_open < 2; keeps_open++) {
        struct writer *writer =
            writer_create(path, &header, 1u << 20, keeps_open);

        assert_non_null(writer);
        first = reader_open(path, error, sizeof(error));
        second = reader_open(path, error, sizeof(error));
        assert_non_null(first);
        assert_non_null(second);
        assert_false(writer_is_followed(writer));
        reader_follow(first);
        assert_true(writer_is_followed(writer));
        reader_follow(second);
        reader_end(first);
        assert_true(writer_is_followed(writer));
        reader_end(second);
        assert_false(writer_is_followed(writer));
        writer_discard(writer);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_sentence_is_clear, maker_clean),
        cmocka_unit_test_teardown(a_growing_file_goes_on, maker_clean),
        cmocka_unit_test_teardown(a_shrinking_file_is_damage, maker_clean),
        cmocka_unit_test_teardown(what_is_no_spool_is_refused, maker_clean),
        cmocka_unit_test_teardown(the_writer_sees_who_follows, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
