/* SPDX-License-Identifier: MIT */
/*
 * names.h -- has the names of all frames looked up at once when the first is to
 * be shown (profile_symbol), so that several files are read at a time.
 */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include "profile.h"

/* Look up what is on the stacks of the samples. Where that cannot be done now,
 * nothing is lost. A profile that spares names has no lines and no inlined
 * calls where reading them would take long for what was recorded
 * (docs/names.md). */
void names_look_up(struct profile *profile);

/* How long, in ns, reading names may take of a profile that spares them. */
uint64_t names_budget(const struct profile *profile);

#endif
