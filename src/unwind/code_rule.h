/* SPDX-License-Identifier: MIT */
/*
 * code_rule.h -- the rule of a frame, of what code_flow.c knows at an
 * instruction.
 */
#ifndef UNWIND_CODE_RULE_H
#define UNWIND_CODE_RULE_H

#include <stdint.h>

#include "code_state.h"
#include "rules.h"

/* The rule of STATE: where the caller is. RULE_NONE: it is not known. A rule of
 * the kind RULE_LEAF names one of REGISTERS, a bit for each. Context: any. */
struct rule code_rule_of(const struct code_state *state, uint32_t registers);

#endif
