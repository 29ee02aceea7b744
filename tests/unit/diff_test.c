/* SPDX-License-Identifier: MIT */
/*
 * diff_test.c -- what a comparison finds in profiles that were drawn at random
 * from known distributions: nothing where nothing changed, as often as it says,
 * and what did change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "model/naming.h"
#include "read/load.h"
#include "view/diff.h"

#include "profile_maker.h"

enum { FUNCTIONS = 20, POINTS = 3000, SPLITS = 200 };

static uint64_t random_state;

/* A number below LIMIT, the same ones in every run of the test. */
static unsigned
draw(unsigned limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % limit);
}

/* Function I, named 'a' + I, is at 16 * I in the program; a call from main. */
static void
add_functions(void)
{
    maker_add_head();
    maker_add_node(1, 0, 1, 0x1001, NODE_RETURN);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        maker_add_node(2 + i, 1, 1, 16 * i, 0);
}

static void
name_functions(void)
{
    static char names[FUNCTIONS][2];

    maker_forget(NULL);
    maker_name(0x1000, "main", NULL);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        names[i][0] = (char)('a' + i);
        maker_name(16 * i, names[i], NULL);
    }
}

/* The spool at hand as a profile that knows its points. */
static struct profile *
load(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    char error[256];
    const char *path = maker_finish();

    assert_non_null(profile);
    profile->keeps_events = true;
    assert_int_equal(load_file(profile, path, error, sizeof error), 0);
    unlink(path);
    return profile;
}

/* A profile of POINTS points: function I as often as WEIGHTS says. */
static struct profile *
sampled(const unsigned *weights, unsigned points)
{
    unsigned whole = 0;

    for (unsigned i = 0; i < FUNCTIONS; i++)
        whole += weights[i];
    add_functions();
    for (unsigned i = 0; i < points; i++) {
        unsigned at = draw(whole);
        uint32_t function = 0;
        while (at >= weights[function])
            at -= weights[function++];
        maker_add_running(1, 2 + function, 1, 1000000);
    }
    return load();
}

/* The halves of one profile in which function I was seen about POINTS / (I + 2)
 * times: each point goes to one of them. */
static void
split(struct profile **halves)
{
    static uint8_t half[POINTS], function[POINTS];

    for (unsigned i = 0; i < POINTS; i++) {
        half[i] = (uint8_t)draw(2);
        function[i] = 0;
        while (function[i] < FUNCTIONS - 1 && draw(3) > 0)
            function[i]++;
    }
    for (unsigned j = 0; j < 2; j++) {
        add_functions();
        for (unsigned i = 0; i < POINTS; i++)
            if (half[i] == j)
                maker_add_running(1, 2 + function[i], 1, 1000000);
        halves[j] = load();
    }
}

static const struct diff_options plain = {.value = VALUE_CPU,
                                          .level = 0.01,
                                          .fail_above = -1};

/* The row of the function called NAME, NULL if there is none. */
static const struct diff_row *
row_of(const struct diff *diff, const char *name)
{
    for (uint32_t i = 0; i < diff->count; i++)
        if (strcmp(measure_function(&diff->names, diff->rows[i].number),
                   name) == 0)
            return &diff->rows[i];
    return NULL;
}

static unsigned
findings(const struct diff *diff)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < diff->count; i++)
        count += diff->rows[i].is_significant;
    return count;
}

/* Count in ALARMS in how many of SPLITS halvings each of three OPTIONS finds
 * anything. */
static void
count_alarms(const struct diff_options *options, unsigned *alarms)
{
    random_state = 1;
    name_functions();
    for (unsigned i = 0; i < SPLITS; i++) {
        struct profile *halves[2];
        struct diff diff;
        split(halves);
        for (unsigned j = 0; j < 3; j++) {
            assert_int_equal(diff_build(&diff, halves[0], halves[1],
                                        &options[j]),
                             0);
            alarms[j] += findings(&diff) > 0;
            diff_release(&diff);
        }
        profile_free(halves[0]);
        profile_free(halves[1]);
    }
}

/* 2 of 200 are expected at 1 %, 20 at 10 %; more than 8 or 34 happen once in
 * a thousand times. */
static void
halves_are_equal(void **state)
{
    struct diff_options options[3] = {plain, plain, plain};
    unsigned alarms[3] = {0};

    (void)state;
    options[1].level = options[2].level = 0.1;
    options[2].absolute = true;
    count_alarms(options, alarms);
    assert_in_range(alarms[0], 0, 8);
    assert_in_range(alarms[1], 1, 34);
    assert_in_range(alarms[2], 1, 34);
}

/* Half a second of points of 1 ms, and then five of points of 16 ms, of
 * functions of which each has half of what the one before has. */
static struct profile *
with_two_rates(void)
{
    static const struct record_epoch epochs[2] = {{.period = 1000000},
                                                  {.time = 5000,
                                                   .period = 16000000}};

    add_functions();
    for (unsigned i = 0; i < 2; i++) {
        maker_append(RECORD_EPOCH, &epochs[i], sizeof epochs[i], NULL, 0);
        for (unsigned j = 0; j < (i == 0 ? 500 : 313); j++) {
            uint32_t function = 0;
            while (function < FUNCTIONS - 1 && draw(2) > 0)
                function++;
            maker_add_timed(1, 2 + function, epochs[i].time + j, 1,
                            epochs[i].period, 50000000);
        }
    }
    return load();
}

/* Runs whose rate changed are equal, too: also in the functions that by chance
 * have points of the high rate only, and those that only one run has. */
static void
runs_of_two_rates_are_equal(void **state)
{
    unsigned count = 0;

    (void)state;
    random_state = 5;
    name_functions();
    for (unsigned i = 0; i < SPLITS; i++) {
        struct profile *old = with_two_rates(), *new = with_two_rates();
        struct diff diff;
        assert_int_equal(diff_build(&diff, old, new, &plain), 0);
        count += findings(&diff) > 0;
        /* (0.5 + 5.008)^2 / (500 * 0.001^2 + 313 * 0.016^2) */
        assert_true(fabs(diff.old_points - 376.3) < 0.1);
        diff_release(&diff);
        profile_free(old);
        profile_free(new);
    }
    assert_in_range(count, 0, 8);
}

/* Of twenty functions, the one of 10 % takes twice as long; the shares of the
 * others shrink by half a percent of the whole. */
static void
a_real_change_is_found(void **state)
{
    unsigned weights[FUNCTIONS], found = 0, others = 0;

    (void)state;
    random_state = 2;
    name_functions();
    for (unsigned i = 0; i < FUNCTIONS; i++)
        weights[i] = i == 0 ? 10 : 5;
    for (unsigned i = 0; i < 50; i++) {
        struct diff_options options = plain;
        struct profile *old, *new;
        struct diff diff;
        weights[0] = 10;
        old = sampled(weights, POINTS);
        weights[0] = 20;
        new = sampled(weights, POINTS);
        options.fail_above = 20;
        options.least = 2;
        assert_int_equal(diff_build(&diff, old, new, &options), 0);
        found += row_of(&diff, "a")->is_significant &&
                 row_of(&diff, "a")->fails && row_of(&diff, "a")->change > 0;
        others += findings(&diff) > 1;
        diff_release(&diff);
        profile_free(new);
        profile_free(old);
    }
    assert_in_range(found, 48, 50);
    assert_in_range(others, 0, 2);
}

/* Slower by a fifth: by more than 5 %, but not by more than 30. */
static void
only_what_is_slower_than_the_limit_fails(void **state)
{
    unsigned weights[FUNCTIONS] = {100, 100};
    struct diff_options options = plain;
    struct profile *old, *new;
    struct diff diff;

    (void)state;
    random_state = 3;
    name_functions();
    old = sampled(weights, 20000);
    weights[0] = 150; /* 0.5 to 0.6 of all */
    new = sampled(weights, 20000);
    options.fail_above = 5;
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_true(row_of(&diff, "a")->is_significant);
    assert_true(row_of(&diff, "a")->fails);
    assert_false(row_of(&diff, "b")->fails);
    assert_true(diff_fails(&diff));
    diff_release(&diff);
    options.fail_above = 30;
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_true(row_of(&diff, "a")->is_significant);
    assert_false(diff_fails(&diff));
    diff_release(&diff);
    options.least = 50;
    options.fail_above = 5;
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_false(row_of(&diff, "a")->is_significant);
    assert_false(diff_fails(&diff));
    diff_release(&diff);
    profile_free(new);
    profile_free(old);
}

/* How often of 100 comparisons a change is found of PART of what the first of
 * two functions shows as found. */
static unsigned
found_of(double part)
{
    const unsigned before[FUNCTIONS] = {5000, 5000};
    struct profile *old, *new;
    struct diff diff;
    unsigned found = 0;

    for (unsigned i = 0; i < 100; i++) {
        old = sampled(before, 1000);
        new = sampled(before, 1000);
        assert_int_equal(diff_build(&diff, old, new, &plain), 0);
        unsigned change = (unsigned)(10000 * part * diff.seen / diff.total.old);
        const unsigned after[FUNCTIONS] = {5000 + change, 5000 - change};
        diff_release(&diff);
        profile_free(new);
        new = sampled(after, 1000);
        assert_int_equal(diff_build(&diff, old, new, &plain), 0);
        found += findings(&diff) > 0;
        diff_release(&diff);
        profile_free(new);
        profile_free(old);
    }
    return found;
}

/* A change of the size that the report says would be seen is found four times
 * of five. */
static void
what_would_be_seen_is_found(void **state)
{
    (void)state;
    random_state = 7;
    name_functions();
    unsigned found = found_of(1);
    assert_in_range(found, 70, 95);
    assert_in_range(found_of(0.5), 0, 30);
}

/* A profile of 1,000 running points and WAITS waits of a second each. */
static struct profile *
waiting(unsigned waits)
{
    add_functions();
    for (unsigned i = 0; i < 1000; i++)
        maker_add_running(1, 2, 1, 1000000);
    for (unsigned i = 0; i < waits; i++)
        maker_add_sample(2, 3, 1000, 202);
    return load();
}

/* A wait is one point, however many samples it covers: 3 and 6 do not differ,
 * 30 and 90 do. */
static void
a_wait_is_one_point(void **state)
{
    const struct diff_options options = {.value = VALUE_WALL,
                                         .level = 0.01,
                                         .absolute = true,
                                         .fail_above = -1};
    struct profile *old, *new;
    struct diff diff;

    (void)state;
    name_functions();
    old = waiting(3);
    new = waiting(6);
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_int_equal(findings(&diff), 0);
    assert_true(diff.old_points < 6);
    diff_release(&diff);
    profile_free(new);
    profile_free(old);
    old = waiting(30);
    new = waiting(90);
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_true(row_of(&diff, "b")->is_significant);
    assert_int_equal(findings(&diff), 1);
    diff_release(&diff);
    profile_free(new);
    profile_free(old);
}

/* Twice as long in all: nothing if scaled, everything if not. */
static void
scaled_times_ignore_the_total(void **state)
{
    const unsigned weights[FUNCTIONS] = {100, 100};
    struct diff_options options = plain;
    struct profile *old, *new;
    struct diff diff;

    (void)state;
    random_state = 4;
    name_functions();
    old = sampled(weights, 2000);
    new = sampled(weights, 4000);
    options.fail_above = 20;
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_true(fabs(diff.factor - 0.5) < 1e-9);
    assert_int_equal(findings(&diff), 0);
    assert_false(diff_fails(&diff));
    assert_true(diff.is_total_open);
    diff_release(&diff);
    options.absolute = true;
    assert_int_equal(diff_build(&diff, old, new, &options), 0);
    assert_int_equal(findings(&diff), 2);
    assert_true(diff.total.fails);
    assert_false(diff.is_total_open);
    assert_true(fabs(diff.total.change - 2e9) < 1);
    diff_release(&diff);
    profile_free(new);
    profile_free(old);
}

/* The same function in another build: a clone's suffix, another path of the
 * program, another version of a library. */
static void
builds_are_matched(void **state)
{
    static const char *const names[2][2] = {{"f", "g.part.0"},
                                            {"f.constprop.0", "g"}};
    static const char *const paths[2][2] = {{"/old/app", "/lib/libx.so.1.2"},
                                            {"/new/app2", "/lib/libx.so.1.3"}};
    struct profile *profiles[2];
    struct diff diff;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        maker_forget(NULL);
        maker_name(0x10, names[i][0], NULL);
        maker_name(0x20, names[i][1], NULL);
        maker_add_process(4711, paths[i][0]);
        maker_add_module(1, paths[i][0]);
        maker_add_module(2, paths[i][1]);
        maker_add_thread(1, 4711, "main");
        maker_add_node(1, 0, 1, 0x10, 0);
        maker_add_node(2, 0, 2, 0x20, 0);
        maker_add_running(1, 1, 1, 1000000);
        maker_add_running(1, 2, 1, 1000000);
        profiles[i] = load();
        for (uint32_t j = 3; j < profiles[i]->node_count; j++)
            naming_symbol(profiles[i], j);
    }
    assert_int_equal(diff_build(&diff, profiles[0], profiles[1], &plain), 0);
    assert_int_equal(diff.count, 2);
    assert_non_null(row_of(&diff, "f"));
    assert_non_null(row_of(&diff, "g"));
    assert_string_equal(measure_module(&diff.names, row_of(&diff, "f")->number),
                        "app2");
    diff_release(&diff);
    profile_free(profiles[0]);
    profile_free(profiles[1]);
}

/* main -> a -> a -> b is the stack main, a, b. */
static void
stacks_are_told_without_recursion(void **state)
{
    struct diff_options options = plain;
    struct profile *profiles[2];
    struct diff diff;

    (void)state;
    name_functions();
    for (uint32_t i = 0; i < 2; i++) {
        add_functions();
        maker_add_node(FUNCTIONS + 2, 2, 1, 1, NODE_RETURN);
        maker_add_node(FUNCTIONS + 3, i == 0 ? 2 : FUNCTIONS + 2, 1, 0x10, 0);
        maker_add_running(1, FUNCTIONS + 3, 1, 1000000);
        maker_add_running(1, 3, 1, 1000000);
        profiles[i] = load();
    }
    options.by = MEASURE_STACK;
    assert_int_equal(diff_build(&diff, profiles[0], profiles[1], &options), 0);
    assert_int_equal(diff.count, 2);
    assert_int_equal(findings(&diff), 0);
    diff_release(&diff);
    options.by = MEASURE_CUMULATIVE;
    assert_int_equal(diff_build(&diff, profiles[0], profiles[1], &options), 0);
    assert_true(fabs(row_of(&diff, "main")->old - 2e6) < 1);
    assert_true(fabs(row_of(&diff, "a")->new - 1e6) < 1);
    diff_release(&diff);
    profile_free(profiles[0]);
    profile_free(profiles[1]);
}

/* Benjamini and Hochberg's own definition, by hand. */
static void
chances_are_adjusted_as_by_hand(void **state)
{
    double chances[] = {0.04, 0.001, 0.9, 0.02};
    double *list[] = {&chances[0], &chances[1], &chances[2], &chances[3]};

    (void)state;
    significance_adjust(list, 4);
    assert_true(fabs(chances[0] - 0.04 * 4 / 3) < 1e-12);
    assert_true(fabs(chances[1] - 0.004) < 1e-12);
    assert_true(fabs(chances[2] - 0.9) < 1e-12);
    assert_true(fabs(chances[3] - 0.04) < 1e-12);
    significance_adjust(list, 0);
}

/* 30 and 60 of 1,000 equal points: z with pooled share and correction is
 * (0.03 - 0.001) / sqrt(0.045 * 0.955 * 2 / 1000) = 3.128. */
static void
the_formula_gives_what_the_hand_gives(void **state)
{
    const struct significance_test test = {.old_total = {1000, 1000, 0},
                                           .new_total = {1000, 1000, 0}};
    const struct significance_sum old = {30, 30, 0}, new = {60, 60, 0},
                                  none = {0};
    double error;

    (void)state;
    assert_true(fabs(significance_chance(&test, &old, &new, &error) - 0.00176) <
                0.00001);
    assert_true(significance_chance_above(&test, &old, &new, 1.1) < 0.02);
    assert_true(significance_chance_above(&test, &old, &new, 3) > 0.9);
    assert_true(significance_chance(&test, &none, &none, &error) == 1);
    assert_true(significance_chance(&test, &none, &new, &error) < 1e-6);
    assert_true(significance_chance(&test, &new, &none, &error) < 1e-6);
}

/* A second at 1,000 Hz against one at 62.5: a point of the row stands for 1 ms
 * and for 16. The common share of 30 points and 5 is 35 of 1,062.5. z is
 * (0.05 - 0.0085) / sqrt(0.03294 * 0.96706 * (0.001 + 0.016)) = 1.783. */
static void
rates_may_differ(void **state)
{
    const struct significance_test test = {
        .old_total = {1000, 1000, 1000},
        .new_total = {1000, 16000, 16000},
        .old_point = 1,
        .new_point = 16,
    };
    const struct significance_sum old = {30, 30, 30}, new = {80, 1280, 1280};
    const struct significance_sum wait = {80, 80, 0}, none = {0, 0, 0};
    double error;

    (void)state;
    assert_true(fabs(significance_chance(&test, &old, &new, &error) - 0.0745) <
                0.0001);
    assert_true(fabs(error - (1.96 * 23.27 + 8.5)) < 0.05);
    /* In a row that the new run lacks, one of its points would stand for 16. */
    assert_true(fabs(significance_chance(&test, &old, &none, &error) - 0.3195) <
                0.0001);
    /* A point of a wait stands for its own time, whatever the rate. */
    assert_true(significance_chance(&test, &wait, &none, &error) < 1e-9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(halves_are_equal),
        UNIT(runs_of_two_rates_are_equal),
        UNIT(a_real_change_is_found),
        UNIT(only_what_is_slower_than_the_limit_fails),
        UNIT(what_would_be_seen_is_found),
        UNIT(a_wait_is_one_point),
        UNIT(scaled_times_ignore_the_total),
        UNIT(builds_are_matched),
        UNIT(stacks_are_told_without_recursion),
        UNIT(chances_are_adjusted_as_by_hand),
        UNIT(the_formula_gives_what_the_hand_gives),
        UNIT(rates_may_differ),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
