#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: frames whose rule is no plain offset.
# - samples in procedure linkage stubs are walked;
# - a frame that is found through a pointer on the stack (DRAP) is walked.
. "$(dirname "$0")/lib.sh"

profile "$work/plt_loop" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

profile "$work/drap" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

finish
