/* SPDX-License-Identifier: MIT */
/*
 * gpu_wait.h -- finds the threads that wait for a GPU: their stack has a
 * function of CUDA, NCCL or HIP that returns when the GPU is done. Such a
 * function sleeps in a system call, or uses the CPU until then. CUDA does the
 * latter by default (cudaDeviceScheduleSpin).
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
