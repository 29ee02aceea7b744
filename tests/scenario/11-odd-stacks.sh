#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: stacks that are deep, lie elsewhere, or have odd frames.
# Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - a stack of 100,000 frames: the leaf end is right, the root is there, and
#   what lies between is marked as left out;
# - a stack just within SPROF_MAX_DEPTH is whole.
section "deep recursion"

profile SPROF_KEEP_SPOOL=1 "$work/deep_recursion" 100000 6000
expect_ok
# The way down and up takes a part of the time, too.
expect_stacks 94 ';descend'
expect_stacks 99 ';bottom'
expect_share 99 '^([^;]*;)?(clone3?|start_thread);' p.folded ';descend'
# No thread stands still for longer than a walk may take, also where the
# sampler loses its CPU in the middle of one. A stack is cut for that alone.
"$sprofile" info p.sprof | grep '^cut' >info
grep -qxE 'cut +(none of [0-9,]+ stacks|[0-9,]+ of [0-9,]+ stacks: [0-9,]+ deadline)' \
    info || fail "$(cat info)"
expect_samples 300 p.folded
awk -F';' '/;descend/ && NF > 1100 { bad = 1 } END { exit bad }' p.folded ||
    fail "a stack has more frames than SPROF_MAX_DEPTH grants"

profile "$work/deep_recursion" 900 500
expect_ok
expect_share 99 'diver(;descend){901};bottom;work_burn' p.folded ';descend'

# Stacks that are not where a stack usually is.
# - inside a handler on an alternate signal stack, the walk goes on to main;
# - coroutines (makecontext) are walked to their start routine;
# - threads on the smallest stack that is granted survive, and are walked.
section "other stacks"

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

profile SPROF_COST=off SPROF_FREQUENCY=10000 "$work/small_stack" 4 300
expect_ok

# Goals:
# - a stack that passes through two signal frames reaches main, and the
#   interrupted function is named right although its pc is no return address.
section "signal frames"

profile "$work/signal_handler_frames" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

# Frames whose rule is no plain offset.
# - samples in procedure linkage stubs are walked;
# - so are those in the loader, which binds such a call: its outermost frame is
#   found through a register that frames below have saved;
# - a frame that is found through a pointer on the stack (DRAP) is walked.
section "odd frames"

profile "$work/plt_loop" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

profile LD_BIND_NOT=1 SPROF_COST=off "$work/plt_loop" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

profile "$work/drap" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

finish
