/* SPDX-License-Identifier: MIT */
/*
 * crowd_test.c -- places that a tree of processes shares: how many there are,
 * and who gets that of a process that has ended.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/crowd.h"
#include "base/clock.h"

#define WAITING 16
#define A_MOMENT_NS 20000000u
#define PATIENCE_NS 20000000000u

/* A child that takes PLACE and keeps it until it is killed. *HAS_PLACE becomes
 * whether it got one. */
static pid_t
start(enum crowd_place place, bool *has_place)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        *has_place = crowd_enter(place);
        if (write(ends[1], has_place, sizeof(*has_place)) > 0)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], has_place, sizeof(*has_place)),
                     sizeof(*has_place));
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void
end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
a_process_alone_has_every_place(void **state)
{
    (void)state;
    assert_true(crowd_enter(CROWD_WAITING) && crowd_enter(CROWD_WRITING));
    assert_true(crowd_may_complain() && crowd_may_complain());
    crowd_leave(CROWD_WAITING);
}

static void
a_tree_has_few_places(void **state)
{
    pid_t children[WAITING + 1];
    bool has_place;
    (void)state;
    crowd_before_fork();
    for (int i = 0; i <= WAITING; i++) {
        children[i] = start(CROWD_WAITING, &has_place);
        assert_int_equal(has_place, i < WAITING);
    }
    assert_false(crowd_enter(CROWD_WAITING));
    /* One was killed, and has given nothing back. */
    end(children[3]);
    assert_true(crowd_enter(CROWD_WAITING));
    assert_true(crowd_enter(CROWD_WAITING));
    crowd_leave(CROWD_WAITING);
    end(start(CROWD_WAITING, &has_place));
    assert_true(has_place);
    for (int i = 0; i <= WAITING; i++)
        if (i != 3)
            end(children[i]);
}

static void
a_wait_for_a_place_ends(void **state)
{
    bool has_place;
    (void)state;
    crowd_before_fork();
    pid_t first = start(CROWD_WRITING, &has_place);
    pid_t second = start(CROWD_WRITING, &has_place);
    assert_true(has_place);
    uint64_t until = clock_now() + A_MOMENT_NS;
    assert_false(crowd_enter_until(CROWD_WRITING, until));
    assert_true(clock_now() >= until);
    end(first);
    assert_true(crowd_enter_until(CROWD_WRITING, UINT64_MAX));
    crowd_leave(CROWD_WRITING);
    end(second);
}

/* Others get the place of a stopped process soon, and that of one which runs
 * never. It gives back nothing afterwards. */
static void
the_place_of_a_stopped_process_is_free(enum crowd_place place, int count)
{
    pid_t children[WAITING];
    bool has_place;
    crowd_before_fork();
    for (int i = 0; i < count; i++) {
        children[i] = start(place, &has_place);
        assert_true(has_place);
    }
    assert_false(crowd_enter_until(place, clock_now() + A_MOMENT_NS));
    assert_int_equal(kill(children[count - 1], SIGSTOP), 0);
    assert_true(crowd_enter_until(place, clock_now() + PATIENCE_NS));
    assert_int_equal(kill(children[count - 1], SIGCONT), 0);
    pid_t late = start(place, &has_place);
    assert_false(has_place);
    crowd_leave(place);
    end(late);
    for (int i = 0; i < count; i++)
        end(children[i]);
}

static void
a_stopped_writer_lets_others_write(void **state)
{
    (void)state;
    the_place_of_a_stopped_process_is_free(CROWD_WRITING, 2);
}

static void
a_stopped_child_lets_others_be_sampled(void **state)
{
    (void)state;
    the_place_of_a_stopped_process_is_free(CROWD_WAITING, WAITING);
}

static void
a_tree_complains_once(void **state)
{
    (void)state;
    crowd_before_fork();
    assert_true(crowd_may_complain());
    assert_false(crowd_may_complain());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_alone_has_every_place),
        cmocka_unit_test(a_tree_has_few_places),
        cmocka_unit_test(a_wait_for_a_place_ends),
        cmocka_unit_test(a_stopped_writer_lets_others_write),
        cmocka_unit_test(a_stopped_child_lets_others_be_sampled),
        cmocka_unit_test(a_tree_complains_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
