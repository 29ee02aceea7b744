/* SPDX-License-Identifier: MIT */
/* sample_state.c -- see sample_state.h. */
#include <stdio.h>

#include "gpu_wait.h"
#include "system_call.h"
#include "sample_state.h"

const char *
sample_state_gpu(struct profile *profile, const struct profile_sample *sample)
{
    if (sample->state == STATE_RUNQUEUE ||
        (!sample->is_gpu_wait && !gpu_wait_is_at(profile, sample->node)))
        return NULL;
    return sample->state == STATE_RUNNING ? SAMPLE_STATE_SPINS
                                          : SAMPLE_STATE_GPU;
}

/* Each machine has its own numbers of system calls, so the name depends on the
 * machine, too. */
const char *
sample_state_name(struct profile *profile, const struct profile_sample *sample)
{
    uint32_t process = profile->threads[sample->thread].process;
    char text[32];
    const char *gpu = sample_state_gpu(profile, sample);
    if (gpu != NULL)
        return gpu;
    if (sample->state == STATE_RUNNING)
        return "running";
    if (sample->state == STATE_RUNQUEUE)
        return "runnable";
    if (sample->system_call == SYSCALL_UNKNOWN)
        return "waiting";
    const char *name = system_call_name(profile->processes[process].machine,
                                        sample->system_call);
    if (name == NULL) {
        snprintf(text, sizeof(text), "system call %u", sample->system_call);
        name = profile_string(profile, text);
    }
    return name != NULL ? name : "waiting";
}

const char *
sample_state_frame(struct profile *profile, const struct profile_sample *sample)
{
    static const char *const frames[2][STATE_COUNT] = {
        {[STATE_WAITING] = "[waiting]", [STATE_RUNQUEUE] = "[runnable]"},
        {[STATE_WAITING] = "[" SAMPLE_STATE_GPU "]",
         [STATE_RUNNING] = "[" SAMPLE_STATE_SPINS "]"},
    };
    return frames[sample_state_gpu(profile, sample) != NULL][sample->state];
}
