/* SPDX-License-Identifier: MIT */
/*
 * backlog_test.c -- requests on disk: a round counts whole or not at all,
 * whatever an earlier process left, and there are never more bytes than
 * allowed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/push/backlog.h"

#include "spool_maker.h"

static char path[4096];

static void
open_again(struct backlog *backlog, uint64_t most, const char *expected)
{
    char error[512], text[64] = "";
    FILE *state;
    snprintf(path, sizeof path, "%s", maker_path("state"));
    assert_int_equal(backlog_open(backlog, path, most, &state, error,
                                  sizeof error),
                     0);
    if (expected == NULL) {
        assert_null(state);
        return;
    }
    assert_non_null(state);
    assert_non_null(fgets(text, sizeof text, state));
    assert_string_equal(text, expected);
    fclose(state);
}

static void
write_state(FILE *stream, void *text)
{
    fputs(text, stream);
}

static void
commit(struct backlog *backlog, char *text)
{
    assert_int_equal(backlog_commit(backlog, write_state, text), 0);
}

static void
put(struct backlog *backlog, const char *text)
{
    assert_int_equal(backlog_put(backlog, 'o', text, strlen(text)), 0);
}

static void
expect_item(const struct backlog *backlog, size_t at, const char *text)
{
    assert_true(at < backlog->count);
    char *bytes = backlog_read(backlog, &backlog->items[at]);
    assert_non_null(bytes);
    assert_int_equal(backlog->items[at].size, strlen(text));
    assert_memory_equal(bytes, text, strlen(text));
    free(bytes);
}

static void
a_round_counts_when_its_state_is_there(void **state)
{
    struct backlog backlog;
    char key[33];
    (void)state;
    open_again(&backlog, 1000, NULL);
    put(&backlog, "first");
    put(&backlog, "second");
    commit(&backlog, "one\n");
    put(&backlog, "of no round");
    snprintf(key, sizeof key, "%s", backlog.key);
    backlog_close(&backlog);

    open_again(&backlog, 1000, "one\n");
    assert_string_equal(backlog.key, key);
    assert_int_equal(backlog.count, 2);
    expect_item(&backlog, 0, "first");
    expect_item(&backlog, 1, "second");
    backlog_remove(&backlog, &backlog.items[0]);
    put(&backlog, "third");
    commit(&backlog, "two\n");
    backlog_close(&backlog);

    open_again(&backlog, 1000, "two\n");
    assert_int_equal(backlog.count, 2);
    expect_item(&backlog, 0, "second");
    expect_item(&backlog, 1, "third");
    assert_int_equal(backlog.size, strlen("secondthird"));
    backlog_close(&backlog);
}

static void
the_oldest_make_room(void **state)
{
    struct backlog backlog;
    (void)state;
    open_again(&backlog, 12, NULL);
    put(&backlog, "aaaaa");
    put(&backlog, "bbbbb");
    commit(&backlog, "one\n");
    assert_int_equal(backlog.dropped, 0);
    backlog.items[0].is_sent = true;
    put(&backlog, "ccccc");
    commit(&backlog, "two\n");
    assert_int_equal(backlog.dropped, 1);
    expect_item(&backlog, 0, "aaaaa");
    expect_item(&backlog, 1, "ccccc");
    backlog_close(&backlog);
}

static void
one_at_a_time(void **state)
{
    struct backlog backlog, other;
    char error[512];
    FILE *stream;
    (void)state;
    open_again(&backlog, 12, NULL);
    assert_int_equal(backlog_open(&other, path, 12, &stream, error,
                                  sizeof error),
                     -1);
    assert_non_null(strstr(error, "another sprofile push"));
    backlog_close(&backlog);
    assert_int_equal(backlog_open(&other, "/dev/null/x", 12, &stream, error,
                                  sizeof error),
                     -1);
    assert_non_null(strstr(error, "/dev/null/x"));
}

/* The next test finds no directory. */
static int
forget_state(void **state)
{
    (void)state;
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
    return rmdir(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_round_counts_when_its_state_is_there,
                                  forget_state),
        cmocka_unit_test_teardown(the_oldest_make_room, forget_state),
        cmocka_unit_test_teardown(one_at_a_time, forget_state),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
