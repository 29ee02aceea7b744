/* SPDX-License-Identifier: MIT */
/*
 * journal_test.c -- which records a walk makes: once for each stack of a file,
 * again in the next file, and none in the child of a fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/state.h"
#include "journal/journal.h"
#include "journal/journal_context.h"
#include "journal/stack_tree.h"
#include "unwind/script.h"
#include "process/modules.h"
#include "spool_maker.h"
#include "store/reader.h"
#include "store/record.h"
#include "unwind/rules.h"

/* Addresses in no module. */
#define LEAF 0x1000u
#define CALLER 0x2000u
#define ROOT 0x3000u

#define CAPACITY 4u

static struct frame frames[CAPACITY];
static struct journal_options options;
static char paths[3][256];

static void
see(const struct module *module, bool gone)
{
    (void)module, (void)gone;
}

static int
begin_group(void **state)
{
    (void)state;
    return maker_begin(state) != 0 || modules_begin(see) != 0 ||
           modules_refresh() != 0 || rules_begin() != 0;
}

static int
begin(void **state)
{
    static const char *const names[] = {"spool", "past", "next"};
    (void)state;
    state_renew_profile();
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s", maker_path(names[i]));
        (void)unlink(paths[i]);
    }
    options = (struct journal_options){.spool = paths[0],
                                       .past = paths[1],
                                       .next = paths[2],
                                       .is_kept_open = true,
                                       .max_size = 1u << 20,
                                       .start = clock_now(),
                                       .exe = "/bin/app",
                                       .command = "app"};
    return journal_begin(&options);
}

static int
end(void **state)
{
    (void)state;
    journal_end(clock_now(), END_EXIT);
    return 0;
}

/* The walk over COUNT frames from LEAF. */
static struct walk
walk_of(uint32_t count, uint64_t leaf)
{
    frames[0] = frame_exact(leaf);
    frames[1] = frame_return(CALLER);
    frames[2] = frame_return(ROOT);
    return (
        struct walk){.depth = count, .capacity = CAPACITY, .frames = frames};
}

static uint32_t
put(uint32_t count, uint64_t leaf)
{
    struct walk walk = walk_of(count, leaf);
    return stack_tree_enter(&walk, 1);
}

#define MOST 32u

/* The records of the file at PATH that a walk makes. */
static struct {
    struct record_node nodes[MOST];
    struct record_module modules[MOST];
    struct record_label labels[MOST];
    char texts[MOST][64];
    unsigned node_count, module_count, end_count, text_count, label_count,
        mark_count;
} got;

static void
look_at(const char *path)
{
    char error[512] = "";
    const void *record;
    enum record_kind kind;
    memset(&got, 0, sizeof(got));
    journal_flush();
    struct reader *reader = reader_open(path, error, sizeof(error));
    assert_string_equal(error, "");
    while ((record = reader_next(reader, &kind)) != NULL) {
        if (kind == RECORD_NODE)
            memcpy(&got.nodes[got.node_count++ % MOST], record,
                   sizeof(got.nodes[0]));
        if (kind == RECORD_MODULE)
            memcpy(&got.modules[got.module_count++ % MOST], record,
                   sizeof(got.modules[0]));
        if (kind == RECORD_LABEL)
            memcpy(&got.labels[got.label_count++ % MOST], record,
                   sizeof(got.labels[0]));
        if (kind == RECORD_TEXT)
            snprintf(got.texts[got.text_count++ % MOST], sizeof(got.texts[0]),
                     "%s", record_string(record));
        got.end_count += kind == RECORD_MODULE_END;
        got.mark_count += kind == RECORD_MARK;
    }
    assert_null(reader_problem(reader));
    reader_end(reader);
}

static void
look(void)
{
    look_at(options.spool);
}

static void
expect_node(unsigned i, uint32_t parent, uint64_t offset, uint32_t flags)
{
    assert_true(i < got.node_count);
    assert_int_equal(got.nodes[i].parent, parent);
    assert_int_equal(got.nodes[i].offset, offset);
    assert_int_equal(got.nodes[i].flags, flags);
}

static void
a_stack_is_written_once_from_its_root(void **state)
{
    (void)state;
    uint32_t node = put(3, LEAF);
    look();
    assert_int_equal(got.node_count, 3);
    expect_node(0, 0, ROOT, NODE_RETURN);
    expect_node(1, got.nodes[0].id, CALLER, NODE_RETURN);
    expect_node(2, got.nodes[1].id, LEAF, 0);
    assert_int_equal(node, got.nodes[2].id);
    assert_int_equal(put(3, LEAF), node);
    look();
    assert_int_equal(got.node_count, 3);
    /* Another leaf of the same callers is one more record. */
    assert_int_not_equal(put(3, LEAF + 1), node);
    look();
    assert_int_equal(got.node_count, 4);
    expect_node(3, got.nodes[1].id, LEAF + 1, 0);
}

static void
what_is_missing_is_a_frame(void **state)
{
    struct walk walk = walk_of(2, LEAF);
    (void)state;
    walk.cut = CUT_STUCK;
    assert_int_not_equal(stack_tree_enter(&walk, 1), 0);
    look();
    assert_int_equal(got.node_count, 3);
    expect_node(0, 0, CUT_STUCK, NODE_TRUNCATED);
    expect_node(1, got.nodes[0].id, CALLER, NODE_RETURN);
    /* Of nine frames the first three and the last are kept. */
    walk = walk_of(3, LEAF);
    frames[3] = frame_return(ROOT + 1);
    walk.depth = 9;
    walk.tail = 1;
    assert_int_not_equal(stack_tree_enter(&walk, 1), 0);
    look();
    assert_int_equal(got.node_count, 8);
    expect_node(3, 0, ROOT + 1, NODE_RETURN);
    expect_node(4, got.nodes[3].id, 0, NODE_ELIDED);
    expect_node(5, got.nodes[4].id, ROOT, NODE_RETURN);
}

/* The test is the library here. */
static void
our_own_frames_are_left_out(void **state)
{
    const uint64_t own = (uint64_t)our_own_frames_are_left_out;
    (void)state;
    assert_int_not_equal(put(3, own), 0);
    look();
    assert_int_equal(got.node_count, 2);
    expect_node(1, got.nodes[0].id, CALLER, NODE_RETURN);
    assert_int_not_equal(put(1, own), 0);
    look();
    assert_int_equal(got.node_count, 3);
    expect_node(2, 0, CUT_NOT_CODE, NODE_TRUNCATED);
    /* A callback of the program, which our function calls. */
    struct walk walk = walk_of(3, LEAF);
    frames[1] = frame_return(own);
    (void)stack_tree_enter(&walk, 1);
    look();
    assert_int_equal(got.node_count, 4);
    expect_node(3, got.nodes[0].id, LEAF, 0);
}

static void
a_module_comes_before_its_first_frame(void **state)
{
    const uint64_t leaf = (uint64_t)getpid;
    const struct module *module = modules_find(leaf);
    (void)state;
    assert_non_null(module);
    uint32_t node = put(1, leaf);
    assert_int_equal(put(1, leaf), node);
    (void)put(1, leaf + 1);
    look();
    assert_int_equal(got.module_count, 1);
    assert_int_equal(got.modules[0].id, module->id);
    assert_int_equal(got.modules[0].base, module->base);
    assert_int_equal(got.node_count, 2);
    expect_node(0, 0, leaf - module->base, 0);
    assert_int_equal(got.nodes[0].module, module->id);
    /* When it has gone, no later stack has the nodes of its time. */
    stack_tree_module_gone(module);
    assert_int_not_equal(put(1, leaf), node);
    look();
    assert_int_equal(got.end_count, 1);
    assert_int_equal(got.node_count, 3);
}

/* A module may come to where code without one was. */
static void
a_module_that_comes_parts_bare_frames(void **state)
{
    (void)state;
    uint32_t module = put(1, (uint64_t)getpid);
    stack_tree_module_came();
    assert_int_equal(put(1, (uint64_t)getpid), module);
    uint32_t bare = put(1, LEAF);
    stack_tree_module_came();
    assert_int_not_equal(put(1, LEAF), bare);
}

static void
a_file_begun_anew_has_all_again(void **state)
{
    (void)state;
    uint32_t generation = journal_generation();
    (void)put(3, LEAF);
    (void)journal_text("pipe");
    assert_int_equal(truncate(options.spool, 0), 0);
    assert_int_equal(journal_restart(clock_now()), 0);
    assert_int_not_equal(journal_generation(), generation);
    (void)put(3, LEAF);
    assert_int_equal(journal_text("pipe"), journal_text("pipe"));
    look();
    assert_int_equal(got.node_count, 3);
    expect_node(0, 0, ROOT, NODE_RETURN);
    assert_int_equal(got.text_count, 1);
}

static void
the_next_file_has_all_again(void **state)
{
    (void)state;
    uint32_t generation = journal_generation();
    (void)put(3, LEAF);
    assert_int_equal(journal_prepare(), 0);
    /* The present file gets all records until it ends. */
    (void)put(3, LEAF + 1);
    journal_rotate();
    assert_int_not_equal(journal_generation(), generation);
    (void)put(3, LEAF);
    look();
    assert_int_equal(got.node_count, 3);
    look_at(options.past);
    assert_int_equal(got.node_count, 4);
    assert_int_equal(journal_error(), 0);
}

static void
a_child_writes_nothing(void **state)
{
    int status;
    (void)state;
    (void)put(2, LEAF);
    pid_t child = fork();
    if (child == 0) {
        journal_forget();
        journal_flush();
        _exit(put(3, LEAF + 2) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    look();
    assert_int_equal(got.node_count, 2);
    assert_int_not_equal(put(3, LEAF + 2), 0);
}

/* Each context has two labels. */
#define CONTEXTS_MOST (JOURNAL_CONTEXT_LABELS_MOST / 2)

static struct trace_context
context_of(uint64_t span)
{
    struct trace_context context = {.span = span};
    memset(context.trace, 0x1f, sizeof(context.trace));
    return context;
}

static void
a_context_is_two_labels(void **state)
{
    const struct trace_context none = {.span = 0}, one = context_of(0xa0);
    (void)state;
    assert_int_equal(journal_context(7, &none, NULL), 7);
    uint32_t number = journal_context(0, &one, NULL);
    assert_int_equal(journal_context(0, &one, NULL), number);
    look();
    assert_int_equal(got.label_count, 2);
    assert_int_equal(got.labels[0].parent, 0);
    assert_int_equal(got.labels[1].parent, got.labels[0].id);
    assert_int_equal(got.labels[1].id, number);
    assert_int_equal(got.text_count, 4);
    assert_string_equal(got.texts[1], "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f");
    assert_string_equal(got.texts[3], "a000000000000000");
    /* On top of another set it is another one. */
    assert_int_not_equal(journal_context(number, &one, NULL), number);
    /* The next file does not have it. */
    assert_int_equal(truncate(options.spool, 0), 0);
    assert_int_equal(journal_restart(clock_now()), 0);
    (void)journal_context(0, &one, NULL);
    look();
    assert_int_equal(got.label_count, 2);
    assert_int_equal(got.text_count, 4);
}

/* A task is one label, under those of the context. */
static void
a_task_is_a_label(void **state)
{
    const struct trace_context none = {.span = 0}, one = context_of(0xa0);
    char longest[SCRIPT_TASK_NAME + 9];
    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(journal_context(7, &none, ""), 7);
    uint32_t number = journal_context(0, &none, "Task-1");
    assert_int_equal(journal_context(0, &none, "Task-1"), number);
    assert_int_not_equal(journal_context(0, &none, "Task-2"), number);
    (void)journal_context(0, &one, "Task-1");
    (void)journal_context(0, &none, longest);
    look();
    assert_int_equal(got.label_count, 5);
    assert_int_equal(got.labels[0].id, number);
    assert_int_equal(got.labels[2].parent, number);
    assert_int_equal(got.labels[4].parent, 0);
    assert_string_equal(got.texts[1], "Task-1");
    longest[SCRIPT_TASK_NAME - 1] = '\0';
    assert_string_equal(got.texts[got.text_count - 1], longest);
}

/* What came long ago is written again, with another number. */
static void
few_contexts_are_remembered(void **state)
{
    const struct trace_context first = context_of(1), last = context_of(5000);
    (void)state;
    uint32_t number = journal_context(0, &first, NULL), other = 0;
    for (uint64_t span = 2; span <= 5000; span++) {
        const struct trace_context context = context_of(span);
        other = journal_context(0, &context, NULL);
        assert_true(other > number);
    }
    assert_int_equal(journal_context(0, &last, NULL), other);
    assert_true(journal_context(0, &first, NULL) > other);
    look();
    assert_int_equal(got.label_count, 2 * 5001);
}

static int
begin_large(void **state)
{
    int status = begin(state);
    journal_end(clock_now(), END_EXIT);
    (void)unlink(options.spool);
    options.max_size = 1u << 27;
    return status != 0 || journal_begin(&options) != 0;
}

static void
a_file_has_so_many_contexts(void **state)
{
    (void)state;
    for (uint64_t span = 1; span <= CONTEXTS_MOST; span++) {
        const struct trace_context context = context_of(span);
        assert_int_not_equal(journal_context(3, &context, NULL), 3);
    }
    const struct trace_context late = context_of(UINT64_MAX),
                               known = context_of(CONTEXTS_MOST);
    assert_int_equal(journal_context(3, &late, NULL), 3);
    assert_int_not_equal(journal_context(3, &known, NULL), 3);
    look();
    assert_int_equal(got.label_count, 2 * CONTEXTS_MOST);
    assert_int_equal(got.mark_count, 1);
    /* The next file has room. */
    assert_int_equal(journal_prepare(), 0);
    journal_rotate();
    assert_int_not_equal(journal_context(3, &late, NULL), 3);
    look();
    assert_int_equal(got.mark_count, 0);
}

int
main(void)
{
#define UNIT(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        UNIT(a_stack_is_written_once_from_its_root),
        UNIT(what_is_missing_is_a_frame),
        UNIT(our_own_frames_are_left_out),
        UNIT(a_module_comes_before_its_first_frame),
        UNIT(a_module_that_comes_parts_bare_frames),
        UNIT(a_file_begun_anew_has_all_again),
        UNIT(the_next_file_has_all_again),
        UNIT(a_child_writes_nothing),
        UNIT(a_context_is_two_labels),
        UNIT(a_task_is_a_label),
        UNIT(few_contexts_are_remembered),
        cmocka_unit_test_setup_teardown(a_file_has_so_many_contexts,
                                        begin_large, end),
    };
    return cmocka_run_group_tests(tests, begin_group, maker_end);
}
