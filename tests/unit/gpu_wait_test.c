/* SPDX-License-Identifier: MIT */
/*
 * gpu_wait_test.c -- which functions wait for a GPU, and what that makes of a
 * sample's state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "model/folding.h"
#include "model/gpu_wait.h"
#include "model/sample_state.h"

#include "profile_maker.h"

/* Offsets of functions in module 1. */
enum { MAIN = 0x10, SYNC = 0x20, POLL = 0x30, LAUNCH = 0x40 };

static void
names_are_those_that_libraries_export(void **state)
{
    static const char *const waits[] = {
        "cudaStreamSynchronize",
        "cudaStreamSynchronize_ptsz",
        "cudaDeviceSynchronize",
        "cudaEventSynchronize",
        "cudaMemcpy",
        "cudaMemcpy2D_ptds",
        "cuCtxSynchronize",
        "cuCtxSynchronize_v2",
        "cuStreamSynchronize",
        "cuEventSynchronize",
        "cuMemcpyDtoH_v2",
        "cuMemcpyPeer",
        "hipDeviceSynchronize",
        "hipStreamSynchronize_spt",
        "hipMemcpyWithStream",
        "ncclGroupEnd",
    };
    static const char *const others[] = {
        "",
        "cu",
        "cudaMemcpyAsync",
        "cuMemcpyDtoHAsync_v2",
        "hipMemcpy2DAsync",
        "cudaMemcpyAsync_ptsz",
        "cudaLaunchKernel",
        "cudaStreamSynchronize@plt",
        "cudaStreamSynchronizeLater",
        "customSynchronize",
        "cuda::Synchronize",
        "at::cudaMemcpy",
        "hipsterMemcpy",
        "ncclGroupStart",
        "ncclGroupEndInternal",
        "memcpy",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
        assert_true(gpu_wait_is_name(waits[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(gpu_wait_is_name(others[i]));
}

/* main, and what it calls: node 3 waits, node 4 is beside it. */
static void
add_stacks(void)
{
    maker_name(MAIN, "main", NULL);
    maker_name(SYNC, "torch::synchronize", "cudaStreamSynchronize");
    maker_name(POLL, "poll", NULL);
    maker_name(LAUNCH, "cudaLaunchKernel", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, SYNC, 0);
    maker_add_node(3, 2, 1, POLL, 0);
    maker_add_node(4, 1, 1, LAUNCH, 0);
}

/* The samples of PROFILE, in their order, are in these states and have these
 * last frames (NULL: none). */
static void
expect_states(struct profile *profile, const char *const (*states)[2],
              uint32_t count)
{
    assert_int_equal(profile->sample_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        const char *frame = sample_state_frame(profile, sample);
        assert_string_equal(sample_state_name(profile, sample), states[i][0]);
        assert_int_equal(frame == NULL, states[i][1] == NULL);
        if (frame != NULL)
            assert_string_equal(frame, states[i][1]);
    }
}

static void
a_stack_tells_by_any_of_its_functions(void **state)
{
    static const char *const states[][2] = {
        {"gpu, spinning", "[gpu, spinning]"},
        {"gpu", "[gpu]"},
        {"gpu", "[gpu]"},
        {"gpu, spinning", "[gpu, spinning]"},
        {"runnable", "[runnable]"},
        {"running", NULL},
        {"poll", "[waiting]"},
        {"running", NULL},
    };
    const struct record_sample queued = {.count = 1,
                                         .thread = 1,
                                         .node = 3,
                                         .state = STATE_RUNQUEUE};
    (void)state;
    add_stacks();
    maker_add_sample(1, 3, 1, 0);
    maker_add_sample(1, 3, 1, SYS_poll);
    maker_add_sample(1, 3, 1, SYSCALL_UNKNOWN);
    maker_add_sample(1, 2, 1, 0);
    maker_append(RECORD_SAMPLE, &queued, sizeof(queued), NULL, 0);
    maker_add_sample(1, 4, 1, 0);
    maker_add_sample(1, 4, 1, SYS_poll);
    maker_add_sample(1, 1, 1, 0);
    struct profile *profile = maker_load(NULL);
    expect_states(profile, states, sizeof(states) / sizeof(*states));
    profile_free(profile);
}

/* Script 1 calls the function that waits. */
static void
states_stay_without_native_functions(void **state)
{
    static const char *const states[][2] = {{"gpu", "[gpu]"},
                                            {"running", NULL}};
    static const char name[] = "cudaStreamSynchronize";
    const struct record_script script = {.id = 1,
                                         .language = SCRIPT_PYTHON,
                                         .lines = SCRIPT_NUMBERS,
                                         .first_line = 1,
                                         .name_length = sizeof(name),
                                         .file_length = sizeof("job.py")};
    const struct writer_tail tail[] = {{name, sizeof(name)},
                                       {"job.py", sizeof("job.py")}};
    (void)state;
    add_stacks();
    maker_append(RECORD_SCRIPT, &script, sizeof(script), tail, 2);
    maker_add_node(5, 1, 1, 7, NODE_SCRIPT);
    maker_add_node(6, 5, 1, SYNC, 0);
    maker_add_node(7, 6, 1, POLL, 0);
    maker_add_sample(1, 7, 1, SYS_poll);
    maker_add_sample(1, 5, 1, 0);
    struct profile *profile = maker_load(NULL);
    profile->shows_script = true;
    folding_apply(profile);
    assert_int_equal(profile->samples[0].node, profile->samples[1].node);
    expect_states(profile, states, 2);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(names_are_those_that_libraries_export),
        UNIT(a_stack_tells_by_any_of_its_functions),
        UNIT(states_stay_without_native_functions),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
