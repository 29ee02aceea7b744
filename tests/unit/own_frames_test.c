/* SPDX-License-Identifier: MIT */
/* own_frames_test.c -- which frames of a stack are the profiler's own: here,
 * those of this program. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/own_frames.h"
#include "unwind/walk.h"
#include "process/modules.h"

#define RETURN(pc) ((pc) | FRAME_RETURN)

static uint64_t ours, theirs;

static void
ignore(const struct module *module, bool gone)
{
    (void)module;
    (void)gone;
}

static int
begin(void **state)
{
    (void)state;
    ours = (uint64_t)own_frames_skip + 1;
    theirs = (uint64_t)dlsym(RTLD_DEFAULT, "getppid");
    return modules_begin(ignore) == 0 ? modules_refresh() : -1;
}

static void
frames_of_the_library_are_known(void **state)
{
    (void)state;
    assert_true(own_frames_has(ours));
    assert_true(own_frames_has(RETURN(ours)));
    assert_false(own_frames_has(theirs));
    assert_false(own_frames_has(RETURN(theirs)));
    assert_false(own_frames_has(FRAME_GUESS));
}

#define SKIP(...)                                             \
    own_frames_skip((const uint64_t[]){__VA_ARGS__},          \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / \
                        sizeof(uint64_t))

static void
frames_of_the_library_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(SKIP(theirs, RETURN(theirs)), 0);
    /* In a hook. */
    assert_int_equal(SKIP(ours, RETURN(ours), RETURN(theirs), RETURN(theirs)),
                     2);
    /* In the handler, which libc's restorer would leave. */
    assert_int_equal(SKIP(ours, RETURN(ours), RETURN(theirs), theirs,
                          RETURN(theirs)),
                     3);
    /* In the program's handler, which ours called: everything is as it would
     * be. */
    assert_int_equal(SKIP(theirs, RETURN(ours), RETURN(theirs), theirs), 0);
    assert_int_equal(SKIP(ours, RETURN(theirs), FRAME_GUESS, RETURN(theirs)),
                     1);
    assert_int_equal(SKIP(ours, RETURN(ours)), 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_library_are_known),
        cmocka_unit_test(frames_of_the_library_are_skipped),
    };

    return cmocka_run_group_tests_name("own frames", tests, begin, NULL);
}
