/* SPDX-License-Identifier: MIT */
/*
 * label_tree_test.c -- sets of labels as numbers: the same labels are one
 * number, from however many threads; texts are checked; a full tree refuses and
 * goes on answering.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "labels/label_tree.h"
#include "base/sys.h"
#include "sprof.h"

#define THREADS 4u
#define SHARED 3000u

static int
begin(void **state)
{
    void *memory = sys_reserve(LABEL_TREE_BYTES);

    (void)state;
    label_tree_begin(memory);
    return memory != NULL ? 0 : -1;
}

/* SET with KEY=VALUE, which must be possible. */
static uint32_t
with(uint32_t set, const char *key, const char *value)
{
    assert_int_equal(label_tree_change(&set, key, value), 0);
    return set;
}

/* That SET is KEY=VALUE on top of PARENT. */
static void
expect_label(uint32_t set, const char *key, const char *value, uint32_t parent)
{
    struct label label = label_tree_at(set);

    assert_string_equal(label.key, key);
    assert_string_equal(label.value, value);
    assert_int_equal(label.parent, parent);
    assert_true(parent < set);
}

static void
same_labels_are_one_set(void **state)
{
    uint32_t a = with(0, "a", "1"), ab = with(a, "b", "2");

    (void)state;
    expect_label(a, "a", "1", 0);
    expect_label(ab, "b", "2", a);
    assert_int_equal(with(0, "a", "1"), a);
    assert_int_equal(with(ab, "b", "2"), ab);
    assert_int_equal(with(with(0, "a", "3"), "a", "1"), a);
    assert_int_equal(with(ab, "b", NULL), a);
    assert_int_equal(with(a, "a", NULL), 0);
    assert_int_equal(with(a, "x", NULL), a);
    assert_int_not_equal(with(0, "a1", "1"), with(0, "a", "11"));
}

/* What was set after it stays on top of it. */
static void
a_key_keeps_its_place(void **state)
{
    uint32_t abc = with(with(with(0, "a", "1"), "b", "2"), "c", "3");
    uint32_t changed = with(abc, "a", "9"), without = with(abc, "b", NULL);

    (void)state;
    assert_int_equal(changed,
                     with(with(with(0, "a", "9"), "b", "2"), "c", "3"));
    assert_int_equal(without, with(with(0, "a", "1"), "c", "3"));
}

/* All lengths, because they are hashed by words. */
static void
texts_of_every_length_are_told_apart(void **state)
{
    char text[80];
    uint32_t sets[64][2];

    (void)state;
    for (unsigned length = 1; length < 64; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        sets[length][0] = with(0, "length", text);
        text[length - 1] = 'y';
        sets[length][1] = with(0, "length", text);
        expect_label(sets[length][1], "length", text, 0);
    }
    for (unsigned length = 1; length < 64; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        assert_int_equal(with(0, "length", text), sets[length][0]);
        assert_int_not_equal(sets[length][0], sets[length][1]);
    }
}

/* That KEY=VALUE is refused with ERROR, and leaves a set without KEY. */
static void
expect_refused(const char *key, const char *value, int error)
{
    uint32_t below = with(0, "below", "1"), set = below;

    if (key != NULL && key[0] == 'k' && strlen(key) == 1)
        set = with(below, key, "before");
    assert_int_equal(label_tree_change(&set, key, value), error);
    assert_int_equal(set, below);
}

static void
texts_are_checked(void **state)
{
    char key[SPROF_LABEL_KEY_MAX + 2], value[SPROF_LABEL_VALUE_MAX + 2];

    (void)state;
    memset(key, 'l', sizeof key);
    memset(value, 'l', sizeof value);
    key[sizeof key - 1] = value[sizeof value - 1] = '\0';
    expect_refused(key, "v", SPROF_ERROR_TOO_LONG);
    expect_refused("k", value, SPROF_ERROR_TOO_LONG);
    expect_refused(NULL, "v", SPROF_ERROR_INVALID);
    expect_refused("", "v", SPROF_ERROR_INVALID);
    expect_refused("k", "", SPROF_ERROR_INVALID);
    expect_refused("k", "a\nb", SPROF_ERROR_INVALID);
    expect_refused("k", "\x7f", SPROF_ERROR_INVALID);
    expect_refused("a=b", "v", SPROF_ERROR_INVALID);
    expect_refused("\t", "v", SPROF_ERROR_INVALID);
    key[sizeof key - 2] = value[sizeof value - 2] = '\0';
    expect_label(with(0, key, value), key, value, 0);
    with(0, "caf\xc3\xa9", "a=b");
}

static void
a_set_has_so_many_labels(void **state)
{
    uint32_t set = 0, before;
    char key[16];

    (void)state;
    for (unsigned i = 0; i < LABEL_TREE_DEPTH; i++) {
        snprintf(key, sizeof key, "key%u", i);
        set = with(set, key, "v");
    }
    before = set;
    assert_int_equal(label_tree_change(&set, "more", "v"), SPROF_ERROR_FULL);
    assert_int_equal(set, before);
    assert_int_equal(with(with(set, "key0", "w"), "key0", "v"), before);
}

static void *
make_shared(void *sets)
{
    uint32_t *mine = sets;
    char value[32];

    for (unsigned i = 0; i < SHARED; i++) {
        uint32_t set = 0;
        snprintf(value, sizeof value, "%u", i);
        if (label_tree_change(&set, "shared", value) != 0 ||
            label_tree_change(&set, "second", value) != 0)
            return NULL;
        mine[i] = set;
    }
    return sets;
}

static void
threads_agree_on_numbers(void **state)
{
    static uint32_t sets[THREADS][SHARED];
    pthread_t threads[THREADS];
    char value[32];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_shared,
                                        sets[i]),
                         0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, sets[i]);
    }
    for (unsigned i = 0; i < SHARED; i++) {
        snprintf(value, sizeof value, "%u", i);
        assert_string_equal(label_tree_at(sets[0][i]).value, value);
        for (unsigned j = 1; j < THREADS; j++)
            assert_int_equal(sets[j][i], sets[0][i]);
    }
}

static void
notes_are_of_an_epoch(void **state)
{
    uint32_t set = with(0, "noted", "1");

    (void)state;
    assert_false(label_tree_is_noted(set, 1));
    label_tree_note(set, 1);
    assert_true(label_tree_is_noted(set, 1));
    assert_false(label_tree_is_noted(set, 2));
}

/* The last test: nothing can be made any more. */
static void
a_full_tree_refuses_and_answers(void **state)
{
    uint32_t first = with(0, "request", "0"), set, count = 0;
    char value[32];
    int error;

    (void)state;
    do {
        snprintf(value, sizeof value, "%u", ++count);
        set = first;
        error = label_tree_change(&set, "request", value);
    } while (error == 0 && count <= LABEL_TREE_SETS);
    assert_int_equal(error, SPROF_ERROR_FULL);
    assert_true(count > LABEL_TREE_SETS / 2);
    assert_int_equal(set, 0);
    assert_int_equal(with(0, "request", "0"), first);
    assert_int_equal(with(first, "request", NULL), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_labels_are_one_set),
        cmocka_unit_test(a_key_keeps_its_place),
        cmocka_unit_test(texts_of_every_length_are_told_apart),
        cmocka_unit_test(texts_are_checked),
        cmocka_unit_test(a_set_has_so_many_labels),
        cmocka_unit_test(threads_agree_on_numbers),
        cmocka_unit_test(notes_are_of_an_epoch),
        cmocka_unit_test(a_full_tree_refuses_and_answers),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
