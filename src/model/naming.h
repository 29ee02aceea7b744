/* SPDX-License-Identifier: MIT */
/*
 * naming.h -- the symbols of a profile's nodes. The names of all frames are
 * looked up when the first of them is to be shown.
 */
#ifndef MODEL_NAMING_H
#define MODEL_NAMING_H

#include "profile.h"

/*
 * Return the symbol of NODE (> 0): its function and those inlined there. A
 * marker has one function with a name in brackets: "[truncated]", "[frames
 * elided]", "[caller guessed]", "[no stack]", "[not sampled]". The first call
 * for a frame looks up the names of all samples' frames, which may take long.
 * Never NULL: "[?]" stands for a marker if memory is short. Equal places give
 * the same pointer. It is valid until profile_free; that of generated code only
 * until generated_forget.
 */
const struct symbol *naming_symbol(struct profile *profile, uint32_t node);

/* The time limit, in ns, for reading names of a profile that spares them. */
uint64_t naming_budget(const struct profile *profile);

#endif
