/* SPDX-License-Identifier: MIT */
/*
 * conditions_test.c -- SPROF_DUMP_WHEN: what is accepted as a condition, the
 * words in the names of its files, and when a condition raises an alarm. The
 * thread that looks is the sampler here, and the first thread is looked at.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/conditions.h"
#include "base/state.h"
#include "process/task_file.h"
#include "sampling/alarms.h"

#define MS UINT64_C(1000000)

static void
conditions_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct condition condition;
    } trials[] = {
        {"cpu>150%/5s", {CONDITION_CPU, "", 150, 5000 * MS}},
        {"cpu>0%/10ms", {CONDITION_CPU, "", 0, 10 * MS}},
        {"runnable>30%/1.5s", {CONDITION_RUNNABLE, "", 30, 1500 * MS}},
        {"runnable>100%/60m", {CONDITION_RUNNABLE, "", 100, 3600000 * MS}},
        {"span:request>200ms", {CONDITION_SPAN, "request", 0, 200 * MS}},
        {"span:a > b>1s", {CONDITION_SPAN, "a > b", 0, 1000 * MS}},
        {"stalled:main>12.5ms", {CONDITION_STALLED, "main", 0, 12500000}},
    };
    struct conditions conditions;
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        const struct condition *right = &trials[i].condition;
        if (conditions_parse(trials[i].text, &conditions) != 0)
            fail_msg("%s is refused", trials[i].text);
        assert_int_equal(conditions.count, 1);
        assert_int_equal(conditions.all[0].kind, right->kind);
        assert_string_equal(conditions.all[0].name, right->name);
        assert_int_equal(conditions.all[0].percent, right->percent);
        assert_int_equal(conditions.all[0].ns, right->ns);
    }
    assert_int_equal(conditions_parse("", &conditions), 0);
    assert_int_equal(conditions.count, 0);
    assert_int_equal(conditions_parse("cpu>1%/1s, span:a>1s,stalled:b>1s",
                                      &conditions),
                     0);
    assert_int_equal(conditions.count, 3);
}

static void
what_is_no_condition_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "cpu",
        "cpu>",
        "cpu>150%",
        "cpu>150/5s",
        "cpu>%/5s",
        "cpu>1.5%/5s",
        "cpu>-1%/5s",
        "cpu>1%/5",
        "cpu>1%/5x",
        "cpu>1%/9ms",
        "cpu>1%/61m",
        "cpu>1%/1.s",
        "cpu>1%/1ss",
        "cpu>100001%/1s",
        "cpu:a>1s",
        "CPU>1%/1s",
        "cpu >1%/1s",
        "cpu>1%/1s,",
        ",",
        " ",
        "span>1s",
        "span:>1s",
        "span:a",
        "span:a>",
        "span:a>1%",
        "stalled:a>",
        "stalled:a>1s ",
        "spam:a>1s",
        "cpu>1%/1s;cpu>1%/1s",
        "cpu>99999999999999999999%/1s",
        ("cpu>1%/1s,cpu>1%/1s,cpu>1%/1s,cpu>1%/1s,cpu>1%/1s,cpu>1%/1s,"
         "cpu>1%/1s,cpu>1%/1s,cpu>1%/1s"),
    };
    struct conditions conditions;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (conditions_parse(wrong[i], &conditions) == 0)
            fail_msg("%s is taken", wrong[i]);
    char text[CONDITION_NAME + 16] = "span:";
    memset(text + 5, 'a', CONDITION_NAME - 1);
    strcpy(text + 5 + CONDITION_NAME - 1, ">1s");
    assert_int_equal(conditions_parse(text, &conditions), 0);
    memset(text + 5, 'a', CONDITION_NAME);
    strcpy(text + 5 + CONDITION_NAME, ">1s");
    assert_int_not_equal(conditions_parse(text, &conditions), 0);
}

static void
files_are_named_for_their_cause(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } trials[] = {
        {"cpu>1%/1s", "cpu"},
        {"runnable>1%/1s", "runnable"},
        {"span:GET /a.b>1s", "span-GET__a_b"},
        {"span:../../x>1s", "span-______x"},
        {"stalled:worker-1>1s", "stalled-worker-1"},
        {"span:0123456789012345678901234567890123456789>1s",
         "span-01234567890123456789012345678901"},
    };
    struct conditions conditions;
    char word[CONDITION_NAME];
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        assert_int_equal(conditions_parse(trials[i].text, &conditions), 0);
        condition_word(&conditions.all[0], word, sizeof(word));
        assert_string_equal(word, trials[i].word);
    }
}

/* Watch CONDITIONS, with a recorder that keeps KEEP ns. */
static void
watch(const char *conditions, uint64_t keep)
{
    static struct options options;
    static struct settings settings = {.options = &options};
    options.dump_when.string = conditions;
    options.keep.number = keep;
    settings.pid = getpid();
    state_renew_profile();
    assert_int_equal(task_file_begin(false), 0);
    alarms_begin(&settings);
}

static void
long_spans_are_alarms(void **state)
{
    (void)state;
    watch("span:request>200ms,span:other>1s", 3600000 * MS);
    alarms_see_span("request", 200 * MS);
    alarms_see_span("reques", 900 * MS);
    assert_false(alarms_are_there());
    alarms_see_span("request", 200 * MS + 1);
    alarms_see_span("other", 1001 * MS);
    assert_true(alarms_are_there());
    const struct condition *first = alarms_next(), *second = alarms_next();
    assert_string_equal(first->name, "request");
    assert_string_equal(second->name, "other");
    assert_null(alarms_next());
    /* A profile that would be written again is written already. */
    alarms_see_span("request", 900 * MS);
    assert_null(alarms_next());
    watch("span:request>200ms", 20 * MS);
    alarms_see_span("request", 900 * MS);
    assert_non_null(alarms_next());
    usleep(25000);
    alarms_see_span("request", 900 * MS);
    assert_non_null(alarms_next());
}

static void
alarms_are_limited(void **state)
{
    (void)state;
    unsigned count = 0;
    watch("span:a>10ms", 0);
    for (unsigned i = 0; i < 3 * ALARMS_MOST; i++) {
        alarms_see_span("a", 11 * MS);
        count += alarms_next() != NULL;
    }
    assert_int_equal(count, ALARMS_MOST);
}

/* Looks for an alarm that comes some time, and for one that never comes. A busy
 * machine may cause the latter, but not in each of so many attempts. */
#define LOOKS 30000u
#define FEW_LOOKS 100u
#define ATTEMPTS 20

static atomic_bool is_over;

/* Look COUNT times, or until there is an alarm. Returns whether there is. */
static void *
look(void *count)
{
    for (uintptr_t i = 0; i < (uintptr_t)count && !alarms_are_there(); i++) {
        alarms_look();
        usleep(2000);
    }
    atomic_store(&is_over, true);
    return (void *)(uintptr_t)alarms_are_there();
}

/* Whether there is an alarm in COUNT looks while this thread calls DO_IT. */
static bool
is_alarm_in(uintptr_t count, const char *conditions, void (*do_it)(void))
{
    pthread_t thread;
    void *result;
    watch(conditions, 0);
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, look, (void *)count), 0);
    while (do_it != NULL && !atomic_load(&is_over))
        do_it();
    /* Without work, this thread waits for the other one on a futex. */
    pthread_join(thread, &result);
    return result != NULL;
}

static bool
is_alarm(const char *conditions, void (*do_it)(void))
{
    return is_alarm_in(LOOKS, conditions, do_it);
}

static bool
is_no_alarm(const char *conditions, void (*do_it)(void))
{
    for (unsigned i = 0; i < ATTEMPTS; i++)
        if (!is_alarm_in(FEW_LOOKS, conditions, do_it))
            return true;
    return false;
}

static void
burn(void)
{
}

static void
idle(void)
{
    poll(NULL, 0, 1);
}

static void
cpu_time_is_an_alarm(void **state)
{
    (void)state;
    /* Even a loaded machine leaves us a part of a CPU. */
    assert_true(is_alarm("cpu>2%/100ms", burn));
    assert_true(is_no_alarm("cpu>90%/100ms", idle));
    assert_true(is_no_alarm("cpu>150%/100ms", burn));
}

static void
a_thread_that_does_not_return_to_its_loop_is_an_alarm(void **state)
{
    (void)state;
    assert_true(is_alarm("stalled:main>100ms", burn));
    assert_true(is_alarm("stalled:main>100ms", NULL));
    assert_true(is_no_alarm("stalled:main>100ms", idle));
    assert_true(is_no_alarm("stalled:no_such_thread>100ms", burn));
}

static void
time_without_a_cpu_is_an_alarm(void **state)
{
    uint64_t before;
    (void)state;
    watch("runnable>50%/50ms", 0);
    for (unsigned i = 0; i < 30; i++) {
        alarms_look();
        usleep(5000);
    }
    assert_null(alarms_next());
    before = clock_now();
    for (unsigned i = 0; i < LOOKS && !alarms_are_there(); i++) {
        uint64_t now = clock_now();
        alarms_see_queue(now - before);
        before = now;
        alarms_look();
        usleep(5000);
    }
    assert_non_null(alarms_next());
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(conditions_are_parsed),
        cmocka_unit_test(what_is_no_condition_is_refused),
        cmocka_unit_test(files_are_named_for_their_cause),
        cmocka_unit_test(long_spans_are_alarms),
        cmocka_unit_test(alarms_are_limited),
        cmocka_unit_test(cpu_time_is_an_alarm),
        cmocka_unit_test(a_thread_that_does_not_return_to_its_loop_is_an_alarm),
        cmocka_unit_test(time_without_a_cpu_is_an_alarm),
    };
    return cmocka_run_group_tests(units, NULL, NULL);
}
