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

#define EXACT(pc) frame_exact(pc)
#define RETURN(pc) frame_return(pc)
#define GUESS frame_guessed()

static uint64_t ours, theirs;

static int
begin(void **state)
{
    (void)state;
    ours = (uint64_t)own_frames_skip + 1;
    theirs = (uint64_t)dlsym(RTLD_DEFAULT, "getppid");
    return 0;
}

static void
frames_of_the_library_are_known(void **state)
{
    (void)state;
    assert_true(own_frames_has(ours));
    assert_false(own_frames_has(theirs));
    assert_false(own_frames_has(frame_pc(GUESS)));
}

#define SKIP(...)                                                 \
    own_frames_skip((const struct frame[]){__VA_ARGS__},          \
                    sizeof((const struct frame[]){__VA_ARGS__}) / \
                        sizeof(struct frame))

static void
frames_of_the_library_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(SKIP(EXACT(theirs), RETURN(theirs)), 0);
    /* In a hook. */
    assert_int_equal(SKIP(EXACT(ours), RETURN(ours), RETURN(theirs),
                          RETURN(theirs)),
                     2);
    /* In the handler, which libc's restorer would leave. */
    assert_int_equal(SKIP(EXACT(ours), RETURN(ours), RETURN(theirs),
                          EXACT(theirs), RETURN(theirs)),
                     3);
    /* In the program's handler, which ours called, all frames are the
     * program's. */
    assert_int_equal(SKIP(EXACT(theirs), RETURN(ours), RETURN(theirs),
                          EXACT(theirs)),
                     0);
    assert_int_equal(SKIP(EXACT(ours), RETURN(theirs), GUESS, RETURN(theirs)),
                     1);
    assert_int_equal(SKIP(EXACT(ours), RETURN(ours)), 2);
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
