#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: stacks that are not where a stack usually is.
# - inside a handler on an alternate signal stack, the walk goes on to main;
# - coroutines (makecontext) are walked to their start routine;
# - threads on the smallest stack that is granted survive, and are walked.
. "$(dirname "$0")/lib.sh"

# Until the rules of both stacks are known, a sample that needs one is cut where
# it leaves the first: some, the more the later the sampler comes.
profile "$work/sigaltstack_work" 2000
expect_ok
expect_stacks 99
expect_roots 99 p.folded

profile "$work/makecontext_work" 700
expect_ok
expect_stacks 97

profile "$work/small_stack" 4 300
expect_ok
expect_stacks 98 ';thread_main'
expect_roots 99 p.folded

profile SPROF_FREQUENCY=10000 "$work/small_stack" 4 300
expect_ok

finish
