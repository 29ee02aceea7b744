/* SPDX-License-Identifier: MIT */
/*
 * store_crash_test.c -- a writer that dies, or is watched, at any instant. A
 * child writes; the parent kills it at random moments, stops it after every
 * single instruction, or reads while it writes. What the parent finds must be a
 * prefix of what the child meant to write, and whole.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"
#include "store/writer.h"

#include "spool_maker.h"

/* Mark I has a text that only I can have. */
static size_t
text_of(uint32_t i, char *text)
{
    size_t length = i % 61 + 2;

    memset(text, '!' + (int)(i % 90), length - 1);
    text[length - 1] = '\0';
    return length;
}

/* Append marks FROM, FROM + 1, ... below TO. */
static void
write_marks(struct writer *writer, uint32_t from, uint32_t to)
{
    char text[64];
    uint32_t i;

    for (i = from; i < to; i++)
        if (maker_mark(writer, i, text, text_of(i, text)) == 0)
            _exit(1);
}

/* Read on from where READER stands; every mark must be the next one after
 * COUNT. Returns how many there are in all. */
static uint32_t
read_marks(struct reader *reader, uint32_t count)
{
    enum record_kind kind;
    const struct record_mark *mark;
    char text[64];

    while ((mark = reader_next(reader, &kind)) != NULL) {
        assert_int_equal(kind, RECORD_MARK);
        assert_int_equal(mark->time, count);
        assert_int_equal(mark->text_length, text_of(count, text));
        assert_string_equal(record_text(mark), text);
        count++;
    }
    assert_null(reader_problem(reader));
    return count;
}

static struct reader *
open_spool(const char *path)
{
    char error[512];

    return reader_open(path, error, sizeof(error));
}

static void
kill_after(pid_t child, long nanoseconds)
{
    struct timespec wait = {0, nanoseconds};
    int status;

    nanosleep(&wait, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* FD gets a byte when the first mark is there. The cap is for a parent that is
 * late. */
static void
write_until_killed(const char *path, int fd)
{
    struct writer *writer = maker_create(path, 64u << 20);
    char text[64];
    uint32_t i = 0;

    while (maker_mark(writer, i, text, text_of(i, text)) != 0)
        if (i++ == 0 && write(fd, "", 1) != 1)
            _exit(1);
    for (;;)
        pause();
}

static void
killed_writers_leave_a_prefix(void **state)
{
    unsigned seed = 1, round, whole = 0;
    int ends[2];
    char byte;

    for (round = 0; round < 20; round++) {
        const char *path = maker_path("spool");
        struct reader *reader;
        assert_int_equal(pipe(ends), 0);
        pid_t child = maker_fork();

        if (child == 0)
            write_until_killed(path, ends[1]);
        close(ends[1]);
        /* Half of the kills may come before the first mark. */
        if (round % 2 == 1)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        kill_after(child, rand_r(&seed) % 20000 * 1000L);
        close(ends[0]);
        reader = open_spool(path);
        /* An early kill may come before the file has its first word. */
        whole += reader != NULL && read_marks(reader, 0) > 0;
        reader_end(reader);
        maker_clean(state);
    }
    assert_true(whole >= 10);
}

/* Stop after everything but the last records of the first chunk, then step. */
static void
be_stepped(const char *path)
{
    struct writer *writer = maker_create(path, MAKER_CAP);
    uint32_t i = 0;

    while (writer_size(writer) < (256 << 10) - 500)
        write_marks(writer, i, i + 1), i++;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(77);
    raise(SIGSTOP);
    write_marks(writer, i, i + 12);
    _exit(0);
}

/* Read the spool after each instruction of CHILD until it ends. Returns the
 * number of marks at the end, and of different states seen in *STATES. */
static uint32_t
step_through(pid_t child, struct reader *reader, unsigned *states)
{
    uint32_t count = read_marks(reader, 0), now;
    int status;

    for (*states = 1;; count = now) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        now = read_marks(reader, count);
        *states += now != count;
    }
    assert_int_equal(status, 0);
    return count;
}

static void
every_instruction_leaves_a_prefix(void **state)
{
    const char *path = maker_path("spool");
    struct reader *reader;
    struct stat file;
    unsigned states = 0;
    uint32_t count;
    int status;
    pid_t child = maker_fork();

    (void)state;
    if (child == 0)
        be_stepped(path);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        skip();
    reader = open_spool(path);
    assert_non_null(reader);
    count = step_through(child, reader, &states);
    /* The marks came one by one, and went into the second chunk. */
    assert_int_equal(states, 13);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size > 256 << 10);
    reader_go(reader, reader_header(reader)->header_size);
    assert_int_equal(read_marks(reader, 0), count);
    reader_end(reader);
}

/* The reader follows at full speed, over many chunks. */
static void
a_living_spool_can_be_followed(void **state)
{
    const char *path = maker_path("spool");
    const uint32_t all = 60000;
    struct reader *reader;
    uint32_t count = 0;
    int status = -1;
    pid_t child = maker_fork();

    (void)state;
    if (child == 0) {
        write_marks(maker_create(path, MAKER_CAP), 0, all);
        _exit(0);
    }
    while ((reader = open_spool(path)) == NULL)
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    while (waitpid(child, &status, WNOHANG) == 0)
        count = read_marks(reader, count);
    assert_int_equal(status, 0);
    assert_int_equal(read_marks(reader, count), all);
    reader_end(reader);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_writers_leave_a_prefix, maker_clean),
        cmocka_unit_test_teardown(every_instruction_leaves_a_prefix,
                                  maker_clean),
        cmocka_unit_test_teardown(a_living_spool_can_be_followed, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
