/* SPDX-License-Identifier: MIT */
/*
 * look_test.c -- what /proc says of threads that this test has made wait, and
 * the words for it; and the table of threads that goes with them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/look.h"
#include "process/threads.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static _Atomic pid_t tid;
static _Atomic bool is_over;
static unsigned added, removed;

static void
note_thread(uint32_t index, bool gone)
{
    (void)index;
    *(gone ? &removed : &added) += 1;
}

static int
begin(void **state)
{
    (void)state;
    added = removed = 0;
    tid = 0;
    is_over = false;
    if (pipe(ends) != 0)
        return -1;
    return threads_begin(getpid(), (pid_t)syscall(SYS_gettid), note_thread,
                         true);
}

static int
end(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void
say_tid(void)
{
    tid = (pid_t)syscall(SYS_gettid);
}

static void *
reads(void *unused)
{
    char byte;

    say_tid();
    (void)!read(ends[0], &byte, 1);
    return unused;
}

static void *
locks(void *unused)
{
    say_tid();
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

static void *
joins(void *other)
{
    say_tid();
    pthread_join(*(pthread_t *)other, NULL);
    return NULL;
}

static void *
runs(void *unused)
{
    say_tid();
    while (!is_over)
        sched_yield();
    return unused;
}

/* Start BODY and look at it until it is in STATE; a minute at the most. */
static struct look
look_until(pthread_t *thread, void *(*body)(void *), void *argument,
           enum look_state state)
{
    struct look look = {.state = LOOK_GONE};

    tid = 0;
    assert_int_equal(pthread_create(thread, NULL, body, argument), 0);
    for (unsigned i = 0; i < 60000; i++) {
        const struct timespec wait = {0, 1000000};

        nanosleep(&wait, NULL);
        if (tid == 0)
            continue;
        look_at(tid, &look);
        if (look.state == state)
            break;
    }
    assert_int_equal(look.state, state);
    return look;
}

/*
 * Join THREAD, and wait until the kernel has forgotten it: pthread_join ends
 * when the tid is cleared, which is before the thread leaves /proc.
 */
static void
join_and_forget(pthread_t thread, pid_t id)
{
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 60000; i++) {
        if (syscall(SYS_tgkill, getpid(), id, 0) != 0)
            return;
        usleep(1000);
    }
    fail_msg("thread %d is still there after a minute", id);
}

static const char *
name_of(pid_t owner)
{
    return owner == getpid() ? "keeper" : owner == tid ? NULL : "other";
}

static const char *
words_of(const struct look *look)
{
    static char words[256];

    look_words(tid, look, name_of, words, sizeof words);
    return words;
}

static void
a_reader_waits_for_its_pipe(void **state)
{
    pthread_t thread;
    struct look look = look_until(&thread, reads, NULL, LOOK_WAITING);

    (void)state;
    assert_int_equal(look.number, SYS_read);
    assert_int_equal(look.arguments[0], ends[0]);
    assert_int_equal(look.arguments[2], 1);
    /* On its own stack, which the address of a local tells. */
    assert_true(look.sp != 0 && look.pc != 0);
    assert_memory_equal(words_of(&look), "pipe:[", 6);
    assert_int_equal(write(ends[1], "x", 1), 1);
    join_and_forget(thread, tid);
    look_at(tid, &look);
    assert_int_equal(look.state, LOOK_GONE);
    assert_string_equal(words_of(&look), "");
}

static void
a_locker_waits_for_the_owner(void **state)
{
    pthread_t thread;
    char expected[64];
    struct look look;

    (void)state;
    pthread_mutex_lock(&held);
    look = look_until(&thread, locks, NULL, LOOK_WAITING);
    assert_int_equal(look.number, SYS_futex);
    snprintf(expected, sizeof expected, "mutex of keeper (%d)", getpid());
    assert_string_equal(words_of(&look), expected);
    pthread_mutex_unlock(&held);
    join_and_forget(thread, tid);
}

static void
a_joiner_waits_for_an_end(void **state)
{
    pthread_t first, second;
    struct look look;
    char expected[64];
    pid_t other;

    (void)state;
    look_until(&first, reads, NULL, LOOK_WAITING);
    other = tid;
    look = look_until(&second, joins, &first, LOOK_WAITING);
    snprintf(expected, sizeof expected, "end of other (%d)", other);
    assert_string_equal(words_of(&look), expected);
    assert_int_equal(write(ends[1], "x", 1), 1);
    join_and_forget(second, tid);
}

/* A pid has 32 bits, of which -1 may fill the register or not (waitpid(2)). */
static void
a_parent_waits_for_children(void **state)
{
    static const struct {
        uint64_t pid;
        const char *words;
    } cases[] = {{12, "process 12"},
                 {0xffffffffu, "any child"},
                 {UINT64_MAX, "any child"},
                 {0, "any child of the same group"},
                 {0xfffffff4u, "any child of group 12"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct look look = {.state = LOOK_WAITING,
                                  .number = SYS_wait4,
                                  .arguments = {cases[i].pid}};
        assert_string_equal(words_of(&look), cases[i].words);
    }
}

static void
who_runs_is_running(void **state)
{
    pthread_t thread;
    struct look look = look_until(&thread, runs, NULL, LOOK_RUNNING);

    (void)state;
    assert_string_equal(words_of(&look), "");
    assert_true(look_line(tid).ns < 60000000000u);
    is_over = true;
    join_and_forget(thread, tid);
}

/* Returns how many descriptors from FROM on are open, up to 1,000. */
static unsigned
count_descriptors(int from)
{
    unsigned count = 0;

    for (int fd = from; fd < 1000; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Files that stay open are few, and leave the low numbers free. Those of a
 * thread that has gone say so. Under a small limit none stays open. */
static void
open_files_are_few_and_high(void **state)
{
    /* Those of earlier tests, whose table the caller has no more. */
    const unsigned before = count_descriptors(64);
    const unsigned low = count_descriptors(0) - before;
    struct rlimit limit, small;
    pthread_t threads[40];
    pid_t ids[40];
    struct look look;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        look_until(&threads[i], reads, NULL, LOOK_WAITING);
        ids[i] = tid;
        (void)look_line(tid);
    }
    assert_int_equal(count_descriptors(0) - count_descriptors(64), low);
    assert_in_range(count_descriptors(64) - before, 2, 32);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(write(ends[1], "x", 1), 1);
    for (unsigned i = 0; i < 40; i++)
        join_and_forget(threads[i], ids[i]);
    for (unsigned i = 0; i < 40; i++) {
        look_at(ids[i], &look);
        assert_int_equal(look.state, LOOK_GONE);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    small = limit;
    small.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    const unsigned high = count_descriptors(64);
    look_until(&threads[0], reads, NULL, LOOK_WAITING);
    assert_true(count_descriptors(64) <= high);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    join_and_forget(threads[0], tid);
}

/* Threads come and go; the caller is never among them. That there are others
 * is known without the list. */
static void
threads_are_listed(void **state)
{
    pthread_t thread;
    uint32_t index;

    (void)state;
    assert_int_equal(threads_refresh(), 0);
    assert_false(threads_count_differs());
    look_until(&thread, reads, NULL, LOOK_WAITING);
    assert_true(threads_count_differs());
    assert_int_equal(threads_refresh(), 1);
    assert_false(threads_count_differs());
    assert_int_equal(threads_count(), 1);
    assert_int_equal(added, 1);
    index = threads_indexes()[tid] - 1;
    assert_int_equal(threads_at(index)->tid, tid);
    assert_int_equal(threads_index(tid), index);
    assert_string_equal(threads_at(index)->name, "");
    assert_true(threads_read_name(index));
    assert_string_equal(threads_at(index)->name, "look_test");
    assert_int_equal(threads_index((pid_t)syscall(SYS_gettid)), THREADS_NONE);
    assert_int_equal(write(ends[1], "x", 1), 1);
    join_and_forget(thread, tid);
    assert_true(threads_count_differs());
    assert_int_equal(threads_refresh(), 0);
    assert_int_equal(removed, 1);
    assert_int_equal(threads_indexes()[tid], 0);
    assert_int_equal(threads_count(), 0);
}

/* A thread that a sample came from before it was listed. */
static void
unlisted_threads_are_entered(void **state)
{
    uint32_t index = threads_index(4000000), next;

    (void)state;
    assert_int_not_equal(index, THREADS_NONE);
    assert_int_equal(added, 1);
    next = threads_index(4000001);
    assert_int_equal(next, index + 1);
    threads_remove(index);
    assert_int_equal(threads_index(4000002), index);
    assert_int_equal(threads_refresh(), 0);
    assert_int_equal(threads_count(), 0);
    assert_int_equal(removed, added);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reader_waits_for_its_pipe),  TEST(a_locker_waits_for_the_owner),
        TEST(a_joiner_waits_for_an_end),    TEST(a_parent_waits_for_children),
        TEST(who_runs_is_running),          TEST(threads_are_listed),
        TEST(unlisted_threads_are_entered), TEST(open_files_are_few_and_high),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
