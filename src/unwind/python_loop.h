/* SPDX-License-Identifier: MIT */
/*
 * python_loop.h -- which function a native frame of the interpreter's loop runs
 * that has just been entered, or is about to be left. Then its function is not
 * in the thread's chain of frames: it is not there yet, or no more.
 *
 *  - Up to 3.10 each caller of the loop keeps the frame's object in a register,
 *    which the loop saves, or in its own frame. The object names the frame that
 *    is now the innermost one as its caller.
 *  - From 3.11 on the frame of a function lies after the frame of its caller,
 *    where the thread's blocks end. From 3.12 on the loop itself takes it from
 *    there before it returns. What it said is still in that place then.
 *  - The frame of a generator is in the generator. The loop's caller keeps that
 *    in a register.
 *
 * Where the last frame was taken away, nothing in the thread's state tells a
 * function from a generator. But each of them has other callers of the loop.
 * Those are learned from frames that are in the chain, or that have just begun.
 */
#ifndef UNWIND_PYTHON_LOOP_H
#define UNWIND_PYTHON_LOOP_H

#include <stdbool.h>

#include "python.h"
#include "script.h"

/* Forget all callers. Returns 0, or -1 if memory is short. Context: sampler. */
int python_loop_begin(void);

/* NATIVE is a frame of the loop of PYTHON, and runs the next functions in
 * SCRIPT. Learn what its caller calls it for. Context: any. */
void python_loop_learn(const struct python *python, const struct script *script,
                       const struct script_native *native);

/* NATIVE is a frame of the loop of PYTHON. It runs none of the functions in
 * SCRIPT that have no place yet. Set FRAME to its function. Returns false if
 * that is not known, or if a function in SCRIPT is its own (3.9). Where the
 * thread does not wait, it is the spare one or none. Context: any. */
bool python_loop_find(const struct python *python, const struct script *script,
                      const struct script_native *native,
                      struct script_frame *frame);

/* The walk goes on later, without the thread. Keep in SCRIPT what tells then
 * which function the next frame of the loop runs. Returns false if nothing
 * does. From 3.11 on. Context: handler. */
bool python_loop_spare(const struct python *python, struct script *script);

#endif
