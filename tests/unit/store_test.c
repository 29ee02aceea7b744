/* SPDX-License-Identifier: MIT */
/*
 * store_test.c -- what the writer stores, the reader finds: every kind of
 * record, spools of many chunks, fields that change in place, and the promise
 * that old chunks and forked children cost no memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"
#include "store/writer.h"

#include "spool_maker.h"

static struct reader *
open_spool(const char *path)
{
    char error[512] = "";
    struct reader *reader = reader_open(path, error, sizeof(error));

    assert_string_equal(error, "");
    assert_non_null(reader);
    return reader;
}

/* The next record, which must be of KIND. */
static const void *
expect(struct reader *reader, enum record_kind kind)
{
    enum record_kind found = RECORD_FILLER;
    const void *record = reader_next(reader, &found);

    assert_non_null(record);
    assert_int_equal(found, kind);
    return record;
}

static void
expect_end(struct reader *reader)
{
    enum record_kind kind;

    assert_null(reader_next(reader, &kind));
    assert_null(reader_problem(reader));
}

static void
expect_origins(struct reader *reader)
{
    const struct record_process *process = expect(reader, RECORD_PROCESS);
    const struct record_module *module;
    const struct record_thread *thread;

    assert_int_equal(process->period, 1000000);
    assert_int_equal(process->pid, 4711);
    assert_int_equal(process->ppid, 4710);
    assert_int_equal(process->trigger, TRIGGER_ASK);
    assert_string_equal(record_exe(process), "/bin/app");
    assert_string_equal(record_command(process), "app -x 'y z'");
    assert_string_equal(record_version(process), "0.1.0");
    assert_string_equal(record_host(process), "host");
    module = expect(reader, RECORD_MODULE);
    assert_int_equal(module->generation, 3);
    assert_int_equal(module->base, 0x400000);
    assert_int_equal(module->end, 0x402000);
    assert_int_equal(module->flags, MODULE_DELETED);
    assert_int_equal(module->build_id_length, 3);
    assert_memory_equal(record_build_id(module), "\x01\x02\x03", 3);
    assert_string_equal(record_path(module), "/lib/libx.so");
    thread = expect(reader, RECORD_THREAD);
    assert_int_equal(thread->tid, 4711);
    assert_string_equal(record_name(thread), "main");
}

static void
expect_samples(struct reader *reader)
{
    const struct record_node *node = expect(reader, RECORD_NODE);
    const struct record_text *text;
    const struct record_sample *sample;
    const struct record_counts *counts;

    assert_int_equal(node->id, 1);
    assert_int_equal(node->offset, 16);
    text = expect(reader, RECORD_TEXT);
    assert_int_equal(text->id, 1);
    assert_string_equal(record_string(text), "pipe:[17]");
    sample = expect(reader, RECORD_SAMPLE);
    assert_int_equal(sample->wall, 1000000);
    assert_int_equal(sample->system_call, SYSCALL_UNKNOWN);
    assert_int_equal(sample->trigger, TRIGGER_TIMER);
    assert_int_equal(sample->depth, 1);
    assert_int_equal(sample->waits_on, 1);
    assert_int_equal(sample->flags, SAMPLE_OPEN);
    counts = expect(reader, RECORD_COUNTS);
    assert_int_equal(counts->asked, 33);
    assert_int_equal(counts->peeked, 14);
    assert_int_equal(counts->unsure, 15);
    assert_int_equal(counts->skipped, 16);
    assert_int_equal(record_lost(counts, 0), 11);
    assert_int_equal(record_lost(counts, 1), 12);
    assert_int_equal(record_lost(counts, 2), 0);
    assert_int_equal(record_cut(counts, 0), 21);
    assert_int_equal(record_cut(counts, 2), 23);
    assert_int_equal(record_cut(counts, 3), 0);
    assert_int_equal(record_expired(counts), 31);
    assert_int_equal(record_missed(counts), 32);
}

static void
expect_ends(struct reader *reader)
{
    const struct record_mark *mark = expect(reader, RECORD_MARK);
    const struct record_thread_end *thread_end;
    const struct record_summary *summary;

    assert_int_equal(mark->time, 42);
    assert_string_equal(record_text(mark), "hello");
    assert_int_equal(
        ((const struct record_module_end *)expect(reader, RECORD_MODULE_END))
            ->time,
        9);
    thread_end = expect(reader, RECORD_THREAD_END);
    assert_int_equal(thread_end->cpu, 77);
    assert_int_equal(thread_end->flags, THREAD_END_EXACT);
    summary = expect(reader, RECORD_SUMMARY);
    assert_int_equal(summary->system_cpu, 13);
    assert_int_equal(summary->reason, END_SIZE);
    assert_int_equal(summary->status, 3);
}

static void
every_kind_reads_as_written(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    struct reader *reader;
    uint64_t size;
    struct stat file;
    int pass;

    (void)state;
    assert_non_null(writer);
    assert_string_equal(writer_file(writer)->path, path);
    assert_int_equal(maker_every_kind(writer), 0);
    reader = open_spool(path);
    /* Twice: while it is written, and when it was closed. */
    for (pass = 0; pass < 2; pass++) {
        assert_int_equal(reader_header(reader)->start_monotonic, 1000);
        assert_int_equal(reader_header(reader)->start_realtime, 2000);
        assert_int_equal(reader_header(reader)->pid, 4711);
        assert_int_equal(reader_header(reader)->version, SPOOL_VERSION);
        expect_origins(reader);
        expect_samples(reader);
        expect_ends(reader);
        expect_end(reader);
        size = pass == 0 ? writer_size(writer) : size;
        if (pass == 0)
            assert_int_equal(writer_close(writer), 0);
        reader_go(reader, reader_header(reader)->header_size);
    }
    reader_end(reader);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_size, size);
    assert_int_equal(file.st_mode & 07777, 0600);
}

static void
empty_parts_read_as_empty(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    struct record_process process = {.pid = 1};
    struct record_module module = {.id = 1};
    struct record_text text = {.id = 1};
    struct writer_tail nothing = {NULL, 0};
    struct reader *reader;
    const struct record_process *read;
    const struct record_module *read_module;

    (void)state;
    assert_true(writer_append(writer, RECORD_PROCESS, &process, sizeof(process),
                              &nothing, 1));
    assert_true(
        writer_append(writer, RECORD_MODULE, &module, sizeof(module), NULL, 0));
    assert_true(maker_mark(writer, 1, NULL, 0));
    assert_true(
        writer_append(writer, RECORD_TEXT, &text, sizeof(text), NULL, 0));
    assert_int_equal(writer_close(writer), 0);
    reader = open_spool(path);
    read = expect(reader, RECORD_PROCESS);
    assert_string_equal(record_exe(read), "");
    assert_string_equal(record_host(read), "");
    read_module = expect(reader, RECORD_MODULE);
    assert_null(record_build_id(read_module));
    assert_string_equal(record_path(read_module), "");
    assert_string_equal(record_text(expect(reader, RECORD_MARK)), "");
    assert_string_equal(record_string(expect(reader, RECORD_TEXT)), "");
    expect_end(reader);
    reader_end(reader);
}

static void
impossible_records_are_refused_alone(void **state)
{
    struct writer *writer = maker_create(maker_path("spool"), MAKER_CAP);
    struct record_mark mark = {.time = 1};
    struct writer_tail tail[] = {{"", SIZE_MAX}, {"", RECORD_SIZE_MAX}};
    uint64_t before = writer_size(writer);

    (void)state;
    assert_false(
        writer_append(writer, RECORD_MARK, &mark, sizeof(mark), tail, 1));
    assert_int_equal(errno, EINVAL);
    assert_false(
        writer_append(writer, RECORD_MARK, &mark, sizeof(mark), tail + 1, 1));
    assert_false(writer_append(writer, RECORD_MARK, &mark, 4, NULL, 0));
    assert_int_equal(writer_size(writer), before);
    assert_true(maker_mark(writer, 1, "x", 2));
    assert_int_equal(writer_close(writer), 0);
}

/* The text of mark I: a length that varies up to what 16 bits hold, and bytes
 * that depend on I. */
static size_t
long_text(char *text, uint32_t i)
{
    size_t length = i % 10 == 0 ? (i * 7919u) % 65000 + 1 : i % 97 + 1;

    memset(text, 'a' + (int)(i % 26), length - 1);
    text[length - 1] = '\0';
    return length;
}

/* Resident pages of files and shared memory, in KiB. */
static long
resident_shared(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long part, sum = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "RssFile: %ld", &part) == 1 ||
            sscanf(line, "RssShmem: %ld", &part) == 1)
            sum += part;
    fclose(file);
    return sum;
}

enum { MANY = 12000 };

static void
write_many(struct writer *writer, uint64_t *samples)
{
    char text[65536];
    uint32_t i;

    for (i = 0; i < MANY; i++) {
        assert_true(maker_mark(writer, i, text, long_text(text, i)));
        samples[i] = maker_sample(writer);
        assert_true(samples[i] != 0);
    }
}

static void
read_many(struct reader *reader)
{
    char text[65536];
    uint32_t i;

    for (i = 0; i < MANY; i++) {
        const struct record_mark *mark = expect(reader, RECORD_MARK);
        const struct record_sample *sample;

        assert_int_equal(mark->time, i);
        assert_int_equal(mark->text_length, long_text(text, i));
        assert_string_equal(record_text(mark), text);
        sample = expect(reader, RECORD_SAMPLE);
        assert_int_equal(sample->count, 1 + i);
    }
    expect_end(reader);
}

/* Some 40 MiB. Every sample is changed in place when all were written, long
 * after the writer has left its chunk. */
static void
many_chunks_read_as_written(void **state)
{
    static uint64_t samples[MANY];
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    long before = resident_shared();
    struct reader *reader;
    uint32_t i;

    (void)state;
    write_many(writer, samples);
    assert_true(writer_size(writer) > 32u << 20);
    assert_true(resident_shared() - before < 8 << 10);
    for (i = 0; i < MANY; i++) {
        uint64_t count = 1 + i;
        writer_change(writer, samples[i], offsetof(struct record_sample, count),
                      &count, sizeof(count));
    }
    assert_int_equal(writer_close(writer), 0);
    reader = open_spool(path);
    read_many(reader);
    reader_go(reader, reader_header(reader)->header_size);
    read_many(reader);
    reader_end(reader);
}

/* A record larger than any chunk so far gets a chunk to itself. */
static void
large_records_fit(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    size_t lost = (RECORD_SIZE_MAX - sizeof(struct record_counts)) / 8;
    struct record_counts counts = {.loss_count = (uint32_t)lost};
    uint64_t *values = calloc(lost, sizeof(*values));
    struct writer_tail tail = {values, lost * 8};
    const struct record_counts *read;
    struct reader *reader;

    (void)state;
    assert_non_null(values);
    values[lost - 1] = 5;
    assert_true(writer_append(writer, RECORD_COUNTS, &counts, sizeof(counts),
                              &tail, 1));
    assert_true(maker_node(writer, 7));
    assert_int_equal(writer_close(writer), 0);
    reader = open_spool(path);
    read = expect(reader, RECORD_COUNTS);
    assert_int_equal(record_lost(read, (unsigned)lost - 1), 5);
    assert_int_equal(record_expired(read), 0); /* an old file lacks them */
    assert_int_equal(record_missed(read), 0);
    assert_int_equal(
        ((const struct record_node *)expect(reader, RECORD_NODE))->id, 7);
    expect_end(reader);
    reader_end(reader);
    free(values);
}

/* A child lets go of what it has inherited, and the file is unharmed. */
static void
children_write_nothing(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    struct reader *reader;
    int status = -1;
    pid_t child;

    (void)state;
    writer_gather(writer);
    assert_true(maker_process(writer));
    child = maker_fork();
    if (child == 0) {
        writer_forget(writer);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(maker_node(writer, 1));
    assert_int_equal(writer_close(writer), 0);
    reader = open_spool(path);
    expect(reader, RECORD_PROCESS);
    expect(reader, RECORD_NODE);
    expect_end(reader);
    reader_end(reader);
}

/* What is gathered is seen when it is flushed, and all of it. */
static void
gathered_records_come_together(void **state)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    struct reader *reader = open_spool(path);
    const uint64_t count = 99;
    uint64_t place;
    enum record_kind kind;

    (void)state;
    writer_gather(writer);
    assert_true(maker_node(writer, 1));
    place = maker_sample(writer);
    assert_null(reader_next(reader, &kind));
    writer_change(writer, place, offsetof(struct record_sample, count), &count,
                  sizeof(count));
    assert_int_equal(writer_flush(writer), 0);
    expect(reader, RECORD_NODE);
    assert_int_equal(
        ((const struct record_sample *)expect(reader, RECORD_SAMPLE))->count,
        99);
    assert_null(reader_next(reader, &kind));
    assert_null(reader_problem(reader));
    reader_end(reader);
    assert_int_equal(writer_close(writer), 0);
}

/* The file is shortened to SIZE bytes between two batches. */
static void
shorten(off_t size)
{
    const struct spool_header header = {.start_monotonic = 1000, .begin = 5};
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    struct reader *reader;

    writer_gather(writer);
    for (uint32_t id = 1; id <= 2000; id++)
        assert_true(maker_node(writer, id));
    assert_int_equal(writer_flush(writer), 0);
    assert_int_equal(truncate(path, size), 0);
    assert_true(maker_node(writer, 2001));
    errno = 0;
    assert_int_equal(writer_flush(writer), -1);
    assert_int_equal(errno, ENODATA);
    assert_false(maker_node(writer, 2002));
    assert_int_equal(errno, ENODATA);
    assert_int_equal(writer_restart(writer, &header), 0);
    assert_true(maker_node(writer, 1));
    assert_int_equal(writer_close(writer), 0);
    reader = open_spool(path);
    assert_int_equal(reader_header(reader)->begin, 5);
    expect(reader, RECORD_NODE);
    expect_end(reader);
    reader_end(reader);
    assert_int_equal(unlink(path), 0);
}

static void
a_shortened_file_begins_anew(void **state)
{
    (void)state;
    shorten(0);
    shorten(1);
    shorten(64);
    shorten(5000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_kind_reads_as_written, maker_clean),
        cmocka_unit_test_teardown(empty_parts_read_as_empty, maker_clean),
        cmocka_unit_test_teardown(impossible_records_are_refused_alone,
                                  maker_clean),
        cmocka_unit_test_teardown(many_chunks_read_as_written, maker_clean),
        cmocka_unit_test_teardown(gathered_records_come_together, maker_clean),
        cmocka_unit_test_teardown(a_shortened_file_begins_anew, maker_clean),
        cmocka_unit_test_teardown(large_records_fit, maker_clean),
        cmocka_unit_test_teardown(children_write_nothing, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
