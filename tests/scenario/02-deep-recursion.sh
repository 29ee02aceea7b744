#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a stack of 100,000 frames: the leaf end is right, the root is there, and
#   what lies between is marked as left out;
# - a stack just within SPROF_MAX_DEPTH is whole.
. "$(dirname "$0")/lib.sh"

profile SPROF_KEEP_SPOOL=1 "$work/deep_recursion" 100000 4000
expect_ok
# The way down and up takes a part of the time, too.
expect_stacks 94 ';descend'
expect_stacks 99 ';bottom'
expect_share 99 '^([^;]*;)?(clone3?|start_thread);' p.folded ';descend'
# Nobody stands still for longer than a walk may take, also where the sampler
# loses its CPU in the middle of one: a stack is cut for that alone.
"$sprofile" info p.sprof | grep '^cut' >info
grep -qxE 'cut +(none of [0-9,]+ stacks|[0-9,]+ of [0-9,]+ stacks: [0-9,]+ deadline)' \
    info || fail "$(cat info)"
expect_samples 300 p.folded
awk -F';' '/;descend/ && NF > 1100 { bad = 1 } END { exit bad }' p.folded ||
    fail "a stack has more frames than SPROF_MAX_DEPTH grants"

profile "$work/deep_recursion" 900 500
expect_ok
expect_share 99 'diver(;descend){901};bottom;work_burn' p.folded ';descend'

finish
