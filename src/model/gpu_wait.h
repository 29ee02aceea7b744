/* SPDX-License-Identifier: MIT */
/*
 * gpu_wait.h -- finds the threads that wait for a GPU: a function of CUDA, NCCL
 * or HIP that returns when the GPU is done is on their stack. Such a function
 * sleeps in a system call, or uses the CPU until then, which is CUDA's way
 * unless it is told otherwise (cudaDeviceScheduleSpin).
 */
#ifndef MODEL_GPU_WAIT_H
#define MODEL_GPU_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* Whether the function called NAME waits for a GPU. */
bool gpu_wait_is_name(const char *name);

/* Whether such a function is at NODE or calls it. Looks up the names of a
 * stack, and remembers the result. */
bool gpu_wait_is_at(struct profile *profile, uint32_t node);

#endif
