/* SPDX-License-Identifier: MIT */
/*
 * labels.c -- sets labels and marks wherever a program can, by the public
 * header alone: the program is not linked with the library.
 *
 *   labels codes       every wrong use has its code, the same each time
 *   labels sums MS     threads that compute and wait, labelled for some of it
 *   labels places MS   in a constructor, in a handler, in the destructor of a
 *                      thread, in an atexit function; and threads that get the
 *                      tids of others
 *   labels fork MS     a child has its parent's labels, and ends its scopes
 *   labels stress MS   threads set labels while handlers on top of them do, and
 *                      while the process forks
 *   labels marks N     N marks and spans of each of two threads, and N marks in
 *                      a handler; then more at once than there is room for
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

static volatile uint64_t sink;
static unsigned length;

FRAME static void
compute(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

static uint64_t
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Without the library every call says so, and nothing else. */
static bool
is_preloaded(void)
{
    return sprof_version()[0] != '\0';
}

/* On a loaded machine the sampler begins some time after the program. */
static void
let_it_begin(void)
{
    while (is_preloaded() && !sprof_is_running())
        work_sleep(5);
}

static void
expect(const char *what, int64_t result, int64_t expected)
{
    if (!is_preloaded())
        expected = SPROF_ERROR_NOT_RUNNING;
    if (result == expected)
        return;
    printf("%s: %lld (%s), expected %lld\n", what, (long long)result,
           sprof_error_text(result), (long long)expected);
    exit(1);
}

static int64_t
begin(const char *key, const char *value)
{
    int64_t scope = sprof_label_begin(key, value);

    expect("begin", scope > 0, 1);
    return scope;
}

/* EXPECT of a condition is -1 without the library, too. */
#define BEGIN(key, value) \
    (is_preloaded() ? begin(key, value) : sprof_label_begin(key, value))

static void
set(const char *key, const char *value)
{
    expect("set", sprof_label_set(key, value), 0);
}

static void
end(int64_t scope)
{
    expect("end", sprof_label_end(scope), 0);
}

static void *
end_elsewhere(void *scope)
{
    expect("another thread's", sprof_label_end(*(int64_t *)scope),
           SPROF_ERROR_OTHER_THREAD);
    BEGIN("mine", "1");
    expect("another thread's", sprof_label_end(*(int64_t *)scope),
           SPROF_ERROR_OTHER_THREAD);
    return NULL;
}

static void
run_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, start, argument) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
}

static void
unbalanced(void)
{
    int64_t outer = BEGIN("a", "1"), inner = BEGIN("a", "2");
    int64_t others[SPROF_LABEL_SCOPES_MAX];

    run_thread(end_elsewhere, &inner);
    expect("outer first", sprof_label_end(outer), SPROF_ERROR_UNBALANCED);
    expect("inner late", sprof_label_end(inner), SPROF_ERROR_UNBALANCED);
    expect("outer twice", sprof_label_end(outer), SPROF_ERROR_UNBALANCED);
    outer = BEGIN("a", "1");
    expect("of before", sprof_label_end(inner), SPROF_ERROR_UNBALANCED);
    end(outer);
    for (unsigned i = 0; i < SPROF_LABEL_SCOPES_MAX; i++)
        others[i] = BEGIN("a", "1");
    expect("too deep", sprof_label_begin("a", "1"), SPROF_ERROR_FULL);
    for (unsigned i = SPROF_LABEL_SCOPES_MAX; i-- > 0;)
        end(others[i]);
    expect("none", sprof_label_end(0), SPROF_ERROR_INVALID);
    expect("an error", sprof_label_end(SPROF_ERROR_FULL), SPROF_ERROR_FULL);
}

static void
codes(void)
{
    char text[2000];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    unbalanced();
    expect("long key", sprof_label_set(text, "1"), SPROF_ERROR_TOO_LONG);
    expect("long value", sprof_label_set("a", text), SPROF_ERROR_TOO_LONG);
    expect("long name", sprof_mark(text), SPROF_ERROR_TOO_LONG);
    expect("no key", sprof_label_set(NULL, "1"), SPROF_ERROR_INVALID);
    expect("no value", sprof_label_begin("a", NULL), SPROF_ERROR_INVALID);
    expect("empty value", sprof_label_begin("a", ""), SPROF_ERROR_INVALID);
    expect("an equals", sprof_label_set("a=b", "1"), SPROF_ERROR_INVALID);
    expect("two lines", sprof_label_set("a", "b\nc"), SPROF_ERROR_INVALID);
    expect("no name", sprof_mark(NULL), SPROF_ERROR_INVALID);
    expect("empty name", sprof_mark(""), SPROF_ERROR_INVALID);
    expect("no span", sprof_span_end(0, "a"), SPROF_ERROR_INVALID);
    expect("a span to come", sprof_span_end(INT64_MAX, "a"),
           SPROF_ERROR_INVALID);
    expect("remove", sprof_label_set("never", NULL), 0);
    set("a", "1");
    set("a", "2");
    set("a", NULL);
}

/* On a loaded machine a wait is longer than it should be. */
static void
waited(const char *label, uint64_t ns)
{
    printf("waited %s %llu\n", label, (unsigned long long)ns / 1000000);
}

/* request: a 2, b 3, in which phase: parse 1, and a wait, phase sleep; none 2.
 */
static void *
request_thread(void *unused)
{
    int64_t request = BEGIN("request", "a"), phase;
    uint64_t start;

    compute(2 * length);
    end(request);
    request = BEGIN("request", "b");
    compute(length);
    phase = BEGIN("phase", "parse");
    compute(length);
    end(phase);
    compute(length);
    phase = BEGIN("phase", "sleep");
    start = now();
    work_sleep(length);
    waited("sleep", now() - start);
    end(phase);
    end(request);
    compute(2 * length);
    return unused;
}

/* Waits of different labels, at the same place and with very little CPU time
 * between. */
static void *
waiting_thread(void *unused)
{
    static const char *const values[] = {"one", "two", NULL};
    uint64_t times[3] = {0};

    for (unsigned i = 0; i < 9; i++) {
        uint64_t start = now();
        set("waiting", values[i % 3]);
        work_sleep(length / 2);
        times[i % 3] += now() - start;
    }
    for (unsigned i = 0; i < 2; i++)
        waited(values[i], times[i]);
    return unused;
}

static void
sums(void)
{
    pthread_t threads[3];

    let_it_begin();
    for (unsigned i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL,
                           i == 0 ? waiting_thread : request_thread, NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static unsigned place_length;

static void
work_at(const char *place)
{
    int64_t scope = BEGIN("place", place);

    compute(place_length);
    end(scope);
}

__attribute__((constructor)) static void
first(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "places") != 0)
        return;
    place_length = (unsigned)atoi(argv[2]);
    let_it_begin();
    work_at("constructor");
}

static void
last(void)
{
    work_at("atexit");
}

static void
handle(int signo)
{
    (void)signo;
    work_at("handler");
}

static void
destroy(void *value)
{
    (void)value;
    work_at("destructor");
}

static void *
forgetful_thread(void *key)
{
    set("forgotten", "yes");
    pthread_setspecific(*(pthread_key_t *)key, key);
    compute(place_length);
    return NULL;
}

static void *
fresh_thread(void *unused)
{
    pthread_setname_np(pthread_self(), "fresh");
    compute(place_length);
    return unused;
}

static void
places(void)
{
    pthread_key_t key;
    int64_t scope;

    atexit(last);
    pthread_key_create(&key, destroy);
    run_thread(forgetful_thread, &key);
    run_thread(fresh_thread, NULL);
    signal(SIGUSR1, handle);
    scope = BEGIN("place", "main");
    raise(SIGUSR1);
    compute(place_length);
    end(scope);
}

static void
fork_child(void)
{
    int64_t scope = BEGIN("who", "both");
    int status;
    pid_t child;

    set("kept", "yes");
    compute(length);
    child = fork();
    if (child < 0)
        work_fail("fork");
    compute(length);
    end(scope);
    compute(length);
    if (child == 0)
        exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
        work_fail("a child found something wrong");
}

static atomic_bool is_over;

/* Scopes in scopes, each of a few labels. */
static void
nest(unsigned depth, unsigned number)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    char value[16];
    int64_t scope;

    snprintf(value, sizeof value, "%u", number % 50);
    scope = BEGIN(keys[(depth + number) % 5], value);
    if (depth < 6)
        nest(depth + 1, number * 3 + 1);
    if (number % 7 == 0)
        set(keys[number % 5], NULL);
    end(scope);
}

static void
nest_in_handler(int signo)
{
    static atomic_uint number;

    nest(3, atomic_fetch_add(&number, 1) + (unsigned)signo);
    sprof_mark("in a handler");
}

static void *
nesting_thread(void *first)
{
    for (unsigned i = (unsigned)(uintptr_t)first; !atomic_load(&is_over); i++)
        nest(0, i);
    return first;
}

/* A child is alone, and its labels are its own. */
static void
nest_in_child(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        for (unsigned i = 0; i < 3000; i++)
            nest(0, i);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        work_fail("a child found something wrong");
}

static void
stress(void)
{
    pthread_t threads[3];
    uint64_t until = now() + length * (uint64_t)1000000;
    int64_t outer = BEGIN("outer", "yes");

    signal(SIGUSR1, nest_in_handler);
    for (uintptr_t i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, nesting_thread, (void *)i) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; now() < until; i++) {
        pthread_kill(threads[i % 3], SIGUSR1);
        if (i % 512 == 0)
            nest_in_child();
    }
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    end(outer);
}

static volatile sig_atomic_t handled;

static void
mark_in_handler(int signo)
{
    (void)signo;
    expect("mark in a handler", sprof_mark("handled"), 0);
    handled++;
}

static void *
marking_thread(void *unused)
{
    for (unsigned i = 0; i < length; i++) {
        int64_t span = sprof_span_begin();
        set("round", i % 2 == 0 ? "even" : "odd");
        raise(SIGUSR1);
        work_sleep(1);
        expect("span", sprof_span_end(span, "a round"), 0);
        expect("mark", sprof_mark("an instant"), 0);
    }
    return unused;
}

/* More than there are places for, and at the end one that must find a place. */
static void
flood(void)
{
    unsigned refused = 0;
    int64_t result;

    for (unsigned i = 0; i < 100000 && is_preloaded(); i++)
        refused += sprof_mark("flood") == SPROF_ERROR_FULL;
    while ((result = sprof_mark("after the flood")) == SPROF_ERROR_FULL) {
        refused++;
        work_sleep(20);
    }
    if (is_preloaded())
        printf("refused: %u\n", refused);
    expect("mark after the flood", result, 0);
}

static void
marks(void)
{
    pthread_t threads[2];

    signal(SIGUSR1, mark_in_handler);
    for (unsigned i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, marking_thread, NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    flood();
    /* Of marks alone there is no profile. */
    compute(50);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"codes", codes},     {"sums", sums},     {"places", places},
                 {"fork", fork_child}, {"stress", stress}, {"marks", marks}};

    length = work_argument(argc, argv, 2, 100);
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            puts("ok");
            return 0;
        }
    work_fail("no such mode");
}
