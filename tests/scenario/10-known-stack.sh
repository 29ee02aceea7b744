#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - the same chain of calls is found whole in every way a compiler lays out
#   frames and wherever its names are kept: >= 98 % of the stacks have it;
# - a program without names shows module+0xoffset, and as many frames.
. "$(dirname "$0")/lib.sh"

# Without time in line for a CPU. A machine that stands still while the process
# begins or ends gives some points to one stack.
export SPROF_MODE=cpu
for variant in o0 o2 o3_lto o2_fp o2_nofp no_pie zdebug no_debug split; do
    echo "-- $variant"
    profile "$work/known_stack.$variant" 1800
    expect_ok
    expect_stacks 98
    expect_roots 99 p.folded
    expect_samples 1500 p.folded
done

echo "-- stripped"
profile "$work/known_stack.stripped" 1800
expect_ok
expect_share 98 '(;known_stack\.stripped\+0x[0-9a-f]+){8}' p.folded
expect_samples 1500 p.folded

finish
