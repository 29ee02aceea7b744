/* SPDX-License-Identifier: MIT */
/*
 * reader_test.c -- the reader against bytes that are cut off, damaged or
 * hostile. It must not crash, must keep every record before the damage, and
 * must say where that is.
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

#include "store/reader.h"
#include "store/writer.h"

#include "spool_maker.h"

/* The bytes of a spool of every kind, and where its records begin; the last
 * entry is the end. */
struct spool {
    unsigned char *bytes;
    size_t length;
    size_t begins[MAKER_RECORDS + 1];
};

static struct spool
small_spool(void)
{
    struct spool spool = {NULL, 0, {sizeof(struct spool_header)}};
    const char *path = maker_path("spool");
    unsigned i;

    assert_int_equal(maker_small_spool(path), 0);
    spool.bytes = maker_bytes(path, &spool.length);
    assert_non_null(spool.bytes);
    for (i = 0; i < MAKER_RECORDS; i++) {
        uint64_t head;

        memcpy(&head, spool.bytes + spool.begins[i], sizeof(head));
        spool.begins[i + 1] = spool.begins[i] + record_size_of(head);
    }
    assert_int_equal(spool.begins[MAKER_RECORDS], spool.length);
    return spool;
}

static struct reader *
open_bytes(const void *bytes, size_t length)
{
    char error[512];

    return reader_open_memory(bytes, length, error, sizeof(error));
}

/* How many records READER gives that equal those of SPOOL; the first that
 * differs ends the count, the others are walked all the same. */
static unsigned
count_equal(struct reader *reader, const struct spool *spool)
{
    unsigned count = 0;
    bool equal = true;
    enum record_kind kind;
    const void *record;

    while ((record = reader_next(reader, &kind)) != NULL) {
        size_t begin, size;

        assert_int_equal((uintptr_t)record % 8, 0);
        if (!equal || count == MAKER_RECORDS)
            continue;
        begin = spool->begins[count];
        size = spool->begins[count + 1] - begin;
        equal = memcmp(record, spool->bytes + begin, size) == 0;
        count += equal;
    }
    return count;
}

/* The sentence of READER names the byte OFFSET. */
static void
expect_place(const struct reader *reader, size_t offset)
{
    char place[64];

    snprintf(place, sizeof(place), "damaged at byte %zu of ", offset);
    assert_non_null(reader_problem(reader));
    assert_non_null(strstr(reader_problem(reader), place));
}

/* In memory of exactly that length, for the sanitizers to guard. */
static void
every_truncation_keeps_what_is_whole(void **state)
{
    struct spool spool = small_spool();
    size_t length;
    unsigned whole = 0;

    (void)state;
    for (length = sizeof(struct spool_header); length <= spool.length;
         length++) {
        unsigned char *bytes = malloc(length);
        struct reader *reader;

        memcpy(bytes, spool.bytes, length);
        reader = open_bytes(bytes, length);
        assert_non_null(reader);
        whole += whole < MAKER_RECORDS && length >= spool.begins[whole + 1];
        assert_int_equal(count_equal(reader, &spool), whole);
        if (length == spool.begins[whole])
            assert_null(reader_problem(reader));
        else
            expect_place(reader, spool.begins[whole]);
        reader_end(reader);
        free(bytes);
    }
    assert_int_equal(whole, MAKER_RECORDS);
    free(spool.bytes);
}

static void
short_headers_are_refused(void **state)
{
    struct spool spool = small_spool();
    char error[512];
    size_t length;

    (void)state;
    for (length = 0; length < sizeof(struct spool_header); length++) {
        error[0] = '\0';
        assert_null(
            reader_open_memory(spool.bytes, length, error, sizeof(error)));
        assert_non_null(strstr(error, "spool: not a spool ("));
    }
    free(spool.bytes);
}

/* The index of the record that byte AT of SPOOL belongs to. */
static unsigned
record_at(const struct spool *spool, size_t at)
{
    unsigned i = 0;

    while (spool->begins[i + 1] <= at)
        i++;
    return i;
}

/* Read SPOOL, whose byte AT was changed. */
static void
read_damaged(const struct spool *spool, const unsigned char *bytes, size_t at)
{
    unsigned record = record_at(spool, at), equal;
    size_t within = at - spool->begins[record];
    struct reader *reader = open_bytes(bytes, spool->length);

    assert_non_null(reader);
    equal = count_equal(reader, spool);
    assert_int_equal(equal, record);
    /* Bytes 2 to 7 of a head are its check and size, byte 0 is its kind. */
    if (within < 8 && within != 1)
        expect_place(reader, spool->begins[record]);
    reader_end(reader);
}

static void
every_damaged_byte_keeps_what_is_before(void **state)
{
    static const unsigned char changes[] = {0x01, 0x02, 0x04, 0x08, 0x10,
                                            0x20, 0x40, 0x80, 0xff, 0x7f};
    struct spool spool = small_spool();
    unsigned char *bytes = malloc(spool.length);
    size_t at, i;

    (void)state;
    for (at = sizeof(struct spool_header); at < spool.length; at++)
        for (i = 0; i < sizeof(changes); i++) {
            memcpy(bytes, spool.bytes, spool.length);
            bytes[at] ^= changes[i];
            read_damaged(&spool, bytes, at);
        }
    free(bytes);
    free(spool.bytes);
}

static void
damaged_headers_are_harmless(void **state)
{
    struct spool spool = small_spool();
    char error[512];
    size_t at;
    unsigned value;

    (void)state;
    for (at = 0; at < sizeof(struct spool_header); at++)
        for (value = 0; value < 256; value++) {
            unsigned char old = spool.bytes[at];
            struct reader *reader;

            spool.bytes[at] = (unsigned char)value;
            reader = reader_open_memory(spool.bytes, spool.length, error,
                                        sizeof(error));
            /* The magic and the version. */
            if (at < 12)
                assert_int_equal(reader == NULL,
                                 value != old &&
                                     (at != 8 || !SPOOL_IS_READ(value)));
            if (reader != NULL)
                count_equal(reader, &spool);
            reader_end(reader);
            spool.bytes[at] = old;
        }
    free(spool.bytes);
}

/* A spool of one record, of KIND and SIZE, in LENGTH bytes of zeros. */
static unsigned char *
one_record(uint8_t kind, uint32_t size, size_t length)
{
    struct spool_header header = {.version = SPOOL_VERSION,
                                  .header_size = sizeof(header)};
    uint64_t head = record_head(sizeof(header), kind, 0, size);
    unsigned char *bytes = calloc(1, length);

    assert_non_null(bytes);
    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), &head, sizeof(head));
    return bytes;
}

/* The records in LENGTH bytes of a spool. Frees them. */
static unsigned
count_records(unsigned char *bytes, size_t length, bool *damaged)
{
    struct reader *reader = open_bytes(bytes, length);
    enum record_kind kind;
    unsigned count = 0;

    assert_non_null(reader);
    while (reader_next(reader, &kind) != NULL)
        count++;
    *damaged = reader_problem(reader) != NULL;
    if (*damaged && count == 0)
        expect_place(reader, sizeof(struct spool_header));
    reader_end(reader);
    free(bytes);
    return count;
}

static void
unknown_kinds_are_passed_over(void **state)
{
    static const uint8_t kinds[] = {RECORD_FILLER, RECORD_KIND_COUNT, 255};
    unsigned i;
    bool damaged;

    (void)state;
    for (i = 0; i < 3; i++) {
        unsigned char *bytes = one_record(kinds[i], 16, 64 + 16 + 32);
        uint64_t head = record_head(80, RECORD_NODE, 0, 32);

        memcpy(bytes + 80, &head, sizeof(head));
        assert_int_equal(count_records(bytes, 64 + 16 + 32, &damaged), 1);
        assert_false(damaged);
    }
}

static void
impossible_sizes_are_damage(void **state)
{
    static const uint32_t sizes[] = {0,         1,    4,          7,
                                     8,         24,   31,         33,
                                     36,        4096, 0x7ffffff8, 0xfffffff8,
                                     0xffffffff};
    unsigned i;
    bool damaged;

    (void)state;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *bytes = one_record(RECORD_NODE, sizes[i], 256);

        assert_int_equal(count_records(bytes, 256, &damaged), 0);
        assert_true(damaged);
        bytes = one_record(200, sizes[i], 96);
        assert_int_equal(count_records(bytes, 96, &damaged), 0);
        assert_int_equal(damaged, sizes[i] != 8 && sizes[i] != 24);
    }
}

/* Whether a record of KIND reads that has FIXED bytes, VALUE at byte AT of
 * them, and 16 bytes more. */
static bool
reads_with(uint8_t kind, size_t fixed, size_t at, uint64_t value)
{
    size_t length = sizeof(struct spool_header) + fixed + 16;
    unsigned char *bytes = one_record(kind, (uint32_t)fixed + 16, length);
    bool damaged;
    unsigned count;

    memset(bytes + length - 16, 'x', 16);
    bytes[length - 1] = '\0';
    memcpy(bytes + sizeof(struct spool_header) + at, &value, sizeof(value));
    count = count_records(bytes, length, &damaged);
    assert_int_equal(damaged, count == 0);
    return count == 1;
}

/* A record with one value, and whether it should read. Neighbouring lengths of
 * 16 bits are one value, the first in the lowest bits. */
struct part {
    uint8_t kind;
    size_t fixed, at;
    uint64_t value;
    bool good;
};

#define PART(kind, type, field) \
    kind, sizeof(struct type), offsetof(struct type, field)
#define EXE PART(RECORD_PROCESS, record_process, exe_length)
#define BUILD_ID PART(RECORD_MODULE, record_module, build_id_length)
#define NAME PART(RECORD_THREAD, record_thread, name_length)
#define TEXT PART(RECORD_MARK, record_mark, text_length)
#define STRING PART(RECORD_TEXT, record_text, text_length)
#define ANSWER PART(RECORD_ANSWER, record_answer, text_length)
#define ENTRIES PART(RECORD_STACKS, record_stacks, capacity)
#define RATES PART(RECORD_RATE, record_rate, count)
#define COUNTS PART(RECORD_COUNTS, record_counts, loss_count)

static const struct part parts[] = {
    {EXE, 16, true},
    {EXE, 15, false}, /* no NUL at its end */
    {EXE, 17, false},
    {EXE, 16ull << 16, true},
    {EXE, 0xffffull << 16, false},
    {EXE, 16ull << 32, true},
    {EXE, 17ull << 32, false},
    {EXE, 16ull << 48, true},
    {EXE, 17ull << 48, false},
    {EXE, ~0ull, false},
    {BUILD_ID, 16, true},
    {BUILD_ID, 17, false},
    {BUILD_ID, 4 | 12 << 16, true},
    {BUILD_ID, 4 | 11 << 16, false},
    {BUILD_ID, 5 | 12 << 16, false},
    {NAME, 16, true},
    {NAME, 9, false},
    {NAME, 17, false},
    {TEXT, 16, true},
    {TEXT, 17, false},
    {STRING, 16, true},
    {STRING, 9, false},
    {STRING, 17, false},
    {STRING, 0xffff, false},
    {ANSWER, 16, true},
    {ANSWER, 17, false},
    {ENTRIES, 0, true},
    {ENTRIES, 1, false},
    {ENTRIES, 0xffffffff, false},
    {RATES, 1, true},
    {RATES, 2, false},
    {RATES, 0xffffffff, false},
    {COUNTS, 2, true},
    {COUNTS, 1 | 1ull << 32, true},
    {COUNTS, 3, false},
    {COUNTS, 2 | 1ull << 32, false},
    {COUNTS, 0x20000000, false},
    {COUNTS, 0xffffffff | 1ull << 32, false},
    {COUNTS, ~0ull, false},
};

static void
parts_must_lie_within(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (reads_with(parts[i].kind, parts[i].fixed, parts[i].at,
                       parts[i].value) != parts[i].good)
            fail_msg("part %zu", i);
}

/* A huge record would have to be held in memory whole. */
static void
no_record_is_held_beyond_the_maximum(void **state)
{
    size_t length = sizeof(struct spool_header) + RECORD_SIZE_MAX + 8;
    bool damaged;

    (void)state;
    assert_int_equal(count_records(one_record(RECORD_MARK, RECORD_SIZE_MAX + 8,
                                              length),
                                   length, &damaged),
                     0);
    assert_true(damaged);
    assert_int_equal(count_records(one_record(RECORD_MARK, RECORD_SIZE_MAX,
                                              length),
                                   length, &damaged),
                     1);
    assert_false(damaged);
}

static void
any_alignment_is_read(void **state)
{
    struct spool spool = small_spool();
    unsigned char *bytes = malloc(spool.length + 8);
    size_t shift;

    (void)state;
    for (shift = 0; shift < 8; shift++) {
        struct reader *reader;

        memcpy(bytes + shift, spool.bytes, spool.length);
        reader = open_bytes(bytes + shift, spool.length);
        assert_int_equal(count_equal(reader, &spool), MAKER_RECORDS);
        reader_end(reader);
    }
    free(bytes);
    free(spool.bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_truncation_keeps_what_is_whole,
                                  maker_clean),
        cmocka_unit_test_teardown(short_headers_are_refused, maker_clean),
        cmocka_unit_test_teardown(every_damaged_byte_keeps_what_is_before,
                                  maker_clean),
        cmocka_unit_test_teardown(damaged_headers_are_harmless, maker_clean),
        cmocka_unit_test(unknown_kinds_are_passed_over),
        cmocka_unit_test(impossible_sizes_are_damage),
        cmocka_unit_test(parts_must_lie_within),
        cmocka_unit_test(no_record_is_held_beyond_the_maximum),
        cmocka_unit_test_teardown(any_alignment_is_read, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
