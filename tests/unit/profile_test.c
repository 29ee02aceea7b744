/* SPDX-License-Identifier: MIT */
/*
 * profile_test.c -- from spools to the model, and from the model to a table:
 * what is summed, what is refused, and what a stack means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/formats.h"
#include "model/sample_state.h"
#include "util/clean.h"
#include "util/intern.h"
#include "model/naming.h"
#include "view/table.h"
#include "read/load.h"

#include "profile_maker.h"

static const struct table_row *
row_of(const struct table *table, const char *function)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].function, function) == 0)
            return &table->rows[i];
    fail_msg("no row for %s", function);
    return NULL;
}

static void
expect_row(const struct table *table, const char *function, uint64_t flat,
           uint64_t cumulative)
{
    const struct table_row *row = row_of(table, function);

    assert_int_equal(row->flat[VALUE_SAMPLES], flat);
    assert_int_equal(row->cumulative[VALUE_SAMPLES], cumulative);
}

static void
same_samples_are_summed(void **state)
{
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    maker_add_sample(1, 1, 2, 0);
    maker_add_sample(1, 1, 4, 202);
    maker_add_sample(2, 1, 1, 0);
    profile = maker_load(NULL);
    assert_int_equal(profile->sample_count, 3);
    assert_int_equal(profile->samples[0].values[VALUE_SAMPLES], 5);
    assert_int_equal(profile->samples[0].values[VALUE_CPU], 5000000);
    assert_int_equal(profile->samples[1].values[VALUE_CPU], 0);
    assert_int_equal(profile->samples[1].values[VALUE_WALL], 4000000);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 10);
    assert_int_equal(profile->threads[0].values[VALUE_SAMPLES], 9);
    assert_int_equal(profile->states[STATE_WAITING], 4);
    assert_int_equal(profile->triggers[TRIGGER_TIMER], 4);
    assert_int_equal(profile->triggers[TRIGGER_KEPT], 6);
    assert_int_equal(profile->stopped_count, 4);
    assert_int_equal(profile_busy_threads(profile), 2);
    assert_int_equal(profile->duration, 5000000);
    assert_int_equal(profile->problems, 0);
    profile_free(profile);
}

static void
recursion_counts_once(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "fib", NULL);
    maker_name(0x28, "fib", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x21, NODE_RETURN);
    maker_add_node(3, 2, 1, 0x29, NODE_RETURN);
    maker_add_node(4, 3, 1, 0x20, 0);
    maker_add_sample(1, 4, 5, 0);
    maker_add_sample(1, 2, 2, 0);
    profile = maker_load(NULL);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    assert_int_equal(table.count, 2);
    assert_string_equal(table.rows[0].function, "fib");
    assert_string_equal(table.rows[0].module, "app");
    expect_row(&table, "fib", 7, 7);
    expect_row(&table, "main", 0, 7);
    table_release(&table);
    profile_free(profile);
}

static void
inlined_functions_are_frames(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "main", "helper");
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    profile = maker_load(NULL);
    assert_int_equal(naming_symbol(profile, 3)->count, 2);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_WALL),
                     0);
    expect_row(&table, "helper", 3, 3);
    expect_row(&table, "main", 0, 3);
    table_release(&table);
    profile_free(profile);
}

static void
same_name_in_two_modules_is_two_functions(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "init", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 0, 2, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    maker_add_sample(1, 2, 4, 0);
    profile = maker_load(NULL);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    assert_int_equal(table.count, 2);
    assert_string_equal(table.rows[0].module, "libx.so");
    assert_string_equal(table.rows[1].module, "app");
    table_release(&table);
    profile_free(profile);
}

static void
markers_have_names(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "leaf", NULL);
    maker_add_head();
    maker_add_node(1, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_node(2, 1, 1, 0x10, 0);
    maker_add_node(3, 0, 0, 0, NODE_ELIDED);
    maker_add_node(4, 3, 1, 0x10, 0);
    maker_add_sample(1, 2, 1, 0);
    maker_add_sample(1, 4, 2, 0);
    maker_add_sample(1, 0, 4, 0);
    profile = maker_load(NULL);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    expect_row(&table, "[truncated]", 0, 1);
    expect_row(&table, "[frames elided]", 0, 2);
    expect_row(&table, "[no stack]", 4, 4);
    expect_row(&table, "leaf", 3, 3);
    assert_string_equal(row_of(&table, "[no stack]")->module, "");
    assert_true(profile_is_marker(profile, 3));
    assert_false(profile_is_marker(profile, 4));
    table_release(&table);
    profile_free(profile);
}

static void
senseless_records_are_left_out(void **state)
{
    struct record_sample bad = {.count = 1, .thread = 1, .node = 1};
    const struct record_tree tree = {.cpu = 1, .unseen = 2};
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_module(1, "/defined/again"); /* 1 */
    maker_add_module(0, "/no/number");     /* 2 */
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(7, 1, 1, 0x10, 0);  /* 3: a gap */
    maker_add_node(2, 2, 1, 0x10, 0);  /* 4: its own parent, but 2 exists */
    maker_add_node(3, 1, 99, 0x10, 0); /* 5: no such module, but 3 exists */
    maker_add_node(4, 3, 1, 0x10, 0);
    maker_add_sample(9, 1, 1, 0);          /* 6: no such thread */
    maker_add_sample(1, 5, 1, 0);          /* 7: no such node */
    maker_add_sample(1, UINT32_MAX, 1, 0); /* 8 */
    bad.state = STATE_COUNT;
    maker_append(RECORD_SAMPLE, &bad, sizeof bad, NULL, 0); /* 9 */
    bad.state = STATE_RUNNING;
    bad.trigger = TRIGGER_COUNT;
    maker_append(RECORD_SAMPLE, &bad, sizeof bad, NULL, 0); /* 10 */
    maker_add_process(1, "/bin/again");                     /* 11 */
    maker_append(RECORD_TREE, &tree, sizeof tree, NULL, 0); /* 12 */
    maker_add_sample(1, 4, 6, 0);
    maker_add_sample(1, 2, 1, 0);
    profile = maker_load(NULL);
    assert_int_equal(profile->problems, 12);
    assert_int_equal(profile->cost.unseen_cpu, 0);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 7);
    assert_int_equal(profile->processes[0].pid, 4711);
    /* What hung below a wrong node is a stack without a root. */
    assert_true(profile_is_marker(profile, 4));
    assert_true(profile_is_marker(profile, 5));
    assert_int_equal(profile->nodes[6].parent, 5);
    profile_free(profile);
}

static void
sums_do_not_wrap(void **state)
{
    struct record_sample huge = {.time = UINT64_MAX,
                                 .duration = UINT64_MAX,
                                 .wall = UINT64_MAX,
                                 .cpu = INT64_MAX,
                                 .count = UINT64_MAX - 1,
                                 .thread = 1,
                                 .node = 1};
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    for (unsigned i = 0; i < 3; i++)
        maker_append(RECORD_SAMPLE, &huge, sizeof huge, NULL, 0);
    profile = maker_load(NULL);
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        assert_int_equal(profile->totals[i], INT64_MAX);
    assert_int_equal(profile->duration, 0);
    profile_free(profile);
}

/* Of 2 s that are told, 40 ms are the sampler's. */
static uint64_t
unseen_of(uint64_t tree_cpu)
{
    struct profile profile = {.totals[VALUE_CPU] = 1960000000,
                              .cost.sampler_cpu = 40000000};

    load_note_tree(&profile, tree_cpu);
    assert_int_equal(profile.cost.tree_cpu,
                     profile.cost.unseen_cpu > 0 ? tree_cpu : 0);
    return profile.cost.unseen_cpu;
}

static void
unseen_is_a_percent_at_least(void **state)
{
    struct profile empty = {0};

    (void)state;
    assert_int_equal(unseen_of(0), 0);
    assert_int_equal(unseen_of(1999999999), 0);
    assert_int_equal(unseen_of(2000000000), 0);
    assert_int_equal(unseen_of(2020000000), 0);
    assert_int_equal(unseen_of(2021000000), 21000000);
    assert_int_equal(unseen_of(UINT64_MAX), 0);
    load_note_tree(&empty, 999999);
    assert_int_equal(empty.cost.unseen_cpu, 0);
    load_note_tree(&empty, 1000000);
    assert_int_equal(empty.cost.unseen_cpu, 1000000);
}

static void
threads_are_renamed_and_may_have_gaps(void **state)
{
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_thread(70, 4770, "early");
    maker_add_thread(70, 4770, "la\x1bte");
    maker_add_sample(70, 1, 1, 0);
    profile = maker_load(NULL);
    assert_int_equal(profile->thread_count, 3);
    assert_string_equal(profile->threads[2].name, "la?te");
    assert_int_equal(profile->samples[0].thread, 2);
    assert_int_equal(profile->problems, 0);
    profile_free(profile);
}

static void
spools_add_up(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "work", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    profile = maker_load(NULL);
    maker_add_process(4800, "/bin/app");
    maker_add_module(5, "/bin/app");
    maker_add_thread(1, 4800, "main");
    maker_add_node(1, 0, 5, 0x11, NODE_RETURN);
    maker_add_sample(1, 1, 4, 0);
    profile = maker_load(profile);
    assert_int_equal(profile->process_count, 2);
    assert_int_equal(profile->thread_count, 3);
    assert_int_equal(profile->module_count, 4);
    assert_int_equal(profile->modules[3].symbols, profile->modules[1].symbols);
    assert_int_equal(maker_files, 2);
    assert_int_equal(profile->threads[2].process, 1);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    assert_int_equal(table.count, 1);
    expect_row(&table, "work", 7, 7);
    table_release(&table);
    profile_free(profile);
}

static void
states_have_names(void **state)
{
    struct record_sample queued = {.count = 1,
                                   .thread = 1,
                                   .node = 1,
                                   .state = STATE_RUNQUEUE};
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 1, 0);
    maker_add_sample(1, 1, 1, SYS_futex);
    maker_add_sample(1, 1, 1, 441);
    maker_add_sample(1, 1, 1, 400);
    maker_add_sample(1, 1, 1, SYSCALL_UNKNOWN);
    maker_append(RECORD_SAMPLE, &queued, sizeof queued, NULL, 0);
    profile = maker_load(NULL);
    static const char *const names[] = {"running",      "futex",
                                        "epoll_pwait2", "system call 400",
                                        "waiting",      "runnable"};
    for (unsigned i = 0; i < 6; i++)
        assert_string_equal(sample_state_name(profile, &profile->samples[i]),
                            names[i]);
    profile_free(profile);
}

static void
deep_stacks_are_whole(void **state)
{
    enum { DEPTH = 100000 };
    struct profile *profile;
    struct table table;

    (void)state;
    maker_name(0x10, "deep", NULL);
    maker_name(0x20, "deeper", NULL);
    maker_add_head();
    for (uint32_t i = 1; i <= DEPTH; i++)
        maker_add_node(i, i - 1, 1, i % 2 == 0 ? 0x10 : 0x20, 0);
    maker_add_sample(1, DEPTH, 1, 0);
    profile = maker_load(NULL);
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    expect_row(&table, "deep", 1, 1);
    expect_row(&table, "deeper", 0, 1);
    table_release(&table);
    profile_free(profile);
}

static void
intern_gives_numbers(void **state)
{
    struct intern *intern = intern_new();
    char text[32];

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 10000; i++) {
            snprintf(text, sizeof text, "string number %u", i);
            assert_int_equal(intern_string(intern, text), i);
        }
    }
    assert_int_equal(intern_count(intern), 10000);
    assert_string_equal(intern_bytes(intern, 4711), "string number 4711");
    assert_int_equal(intern_find(intern, "no", 2), INTERN_NONE);
    assert_int_equal(intern_put(intern, "", 0), 10000);
    assert_int_equal(intern_put(intern, "a\0b", 3), 10001);
    assert_int_equal(intern_put(intern, "a\0c", 3), 10002);
    intern_free(intern);
}

static void
text_is_cleaned(void **state)
{
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5"},
        {"tab\there\x7f", "tab?here?"},
        {"\xc3", "?"},                /* ends early */
        {"\xc0\xaf", "??"},           /* too long a form */
        {"\xe0\x80\xaf", "???"},      /* too long a form */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf5\x80\x80\x80", "????"}, /* beyond the last character */
        {"\xc2\x9b", "??"},           /* an eight-bit escape */
        {"a;b", "a?b"},
    };
    struct intern *intern = intern_new();

    (void)state;
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_string_equal(intern_bytes(intern,
                                         clean_put(intern, pairs[i][0], ";")),
                            pairs[i][1]);
    intern_free(intern);
}

static void
endings_name_formats(void **state)
{
    (void)state;
    assert_int_equal(format_of("/a/b.pb.gz"), FORMAT_PPROF);
    assert_int_equal(format_of("x.folded"), FORMAT_FOLDED);
    assert_int_equal(format_of("x.wall.folded"), FORMAT_FOLDED_WALL);
    assert_int_equal(format_with_wall(FORMAT_FOLDED), FORMAT_FOLDED_WALL);
    assert_int_equal(format_with_wall(FORMAT_PPROF), FORMAT_PPROF);
    assert_int_equal(format_of("x.collapsed"), FORMAT_COLLAPSED);
    assert_int_equal(format_of("x.html"), FORMAT_PAGE);
    assert_int_equal(format_of("x.txt"), FORMAT_TEXT);
    assert_int_equal(format_of("x.json"), FORMAT_FIREFOX);
    assert_int_equal(format_of("x.speedscope.json"), FORMAT_SPEEDSCOPE);
    assert_int_equal(format_of("x.otlp"), FORMAT_OTLP);
    assert_int_equal(format_of("x.otlp.json"), FORMAT_OTLP_JSON);
    assert_int_equal(format_of("x.sprof"), FORMAT_SPOOL);
    assert_int_equal(format_of("x.gz"), FORMAT_UNKNOWN);
    assert_int_equal(format_of("txt"), FORMAT_UNKNOWN);
    assert_int_equal(format_of(""), FORMAT_UNKNOWN);
    assert_string_equal(format_endings(),
                        ".pb.gz, .wall.folded, .folded, .collapsed, "
                        ".wall.speedscope.json, .speedscope.json, "
                        ".otlp.json, .otlp, .json, .html, .txt, .sprof");
}

/* Less than a second of waiting allows nothing: a compiler's driver waits for
 * others, and a build starts hundreds. */
static void
names_have_a_budget(void **state)
{
    struct profile_process processes[] = {{.duration = 900000000},
                                          {.duration = 500000000}};
    struct profile profile = {.processes = processes, .process_count = 2};

    (void)state;
    assert_int_equal(naming_budget(&profile), 300000);
    profile.totals[VALUE_CPU] = 20000000;
    assert_int_equal(naming_budget(&profile), 1300000);
    processes[1].duration = 3000000000;
    assert_int_equal(naming_budget(&profile), 11300000);
}

/* Load a spool of HOST, a name that BOOT may follow, with one file that has a
 * build-id and one that has none. TELLS: the spool tells what the latter was
 * like. Returns how many files must not be used. */
static unsigned
refused_of(const char *host, const char *boot, bool tells)
{
    char both[512];
    size_t length = strlen(host) + 1;
    snprintf(both, sizeof(both), "%s%c%s", host, 0, boot);
    length += boot[0] != '\0' ? strlen(boot) + 1 : 0;
    const struct record_process process = {.pid = 4711,
                                           .host_length = (uint16_t)length};
    const struct record_module bare = {.id = 2,
                                       .end = 0x1000,
                                       .path_length = sizeof("/no/bare")};
    const struct record_file file = {.module = 2};
    const struct writer_tail name = {both, process.host_length};
    const struct writer_tail path = {"/no/bare", bare.path_length};
    maker_append(RECORD_PROCESS, &process, sizeof(process), &name, 1);
    maker_add_module(1, "/no/with-id");
    maker_append(RECORD_MODULE, &bare, sizeof(bare), &path, 1);
    if (tells)
        maker_append(RECORD_FILE, &file, sizeof(file), NULL, 0);
    profile_free(maker_load(NULL));
    return maker_refused;
}

/* A file of another host that nothing vouches for is not taken from this one.
 * One that is not there is left to the symbolizer. */
static void
files_of_another_host_are_not_believed(void **state)
{
    (void)state;
    char own[256] = "";
    assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
    assert_int_equal(refused_of(own, "", false), 0);
    assert_int_equal(refused_of("elsewhere.invalid", "", true), 0);
    assert_int_equal(refused_of("elsewhere.invalid", "", false), 1);
}

/* All containers of a machine have its boot id, and names of their own. */
static void
containers_of_this_machine_are_this_host(void **state)
{
    (void)state;
    char own[256] = "", boot[64] = "";
    assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == NULL || fscanf(file, "%63s", boot) != 1)
        skip();
    fclose(file);
    assert_int_equal(refused_of("container.invalid", boot, false), 0);
    boot[0] = boot[0] == '0' ? '1' : '0';
    assert_int_equal(refused_of("container.invalid", boot, false), 1);
    assert_int_equal(refused_of(own, boot, false), 0);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(same_samples_are_summed),
        UNIT(recursion_counts_once),
        UNIT(inlined_functions_are_frames),
        UNIT(same_name_in_two_modules_is_two_functions),
        UNIT(markers_have_names),
        UNIT(senseless_records_are_left_out),
        UNIT(sums_do_not_wrap),
        UNIT(unseen_is_a_percent_at_least),
        UNIT(threads_are_renamed_and_may_have_gaps),
        UNIT(spools_add_up),
        UNIT(states_have_names),
        UNIT(deep_stacks_are_whole),
        UNIT(intern_gives_numbers),
        UNIT(text_is_cleaned),
        UNIT(endings_name_formats),
        UNIT(names_have_a_budget),
        UNIT(files_of_another_host_are_not_believed),
        UNIT(containers_of_this_machine_are_this_host),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
