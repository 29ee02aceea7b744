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

# A walk may pass its deadline where others have the processors. Such a stack is
# cut, and begins with that: the others are looked at.
whole='^[^[].*;descend'

profile SPROF_KEEP_SPOOL=1 "$work/deep_recursion" 100000 1500
expect_ok
expect_stacks 99 ';bottom'
expect_share 99 '^([^;]*;)?(clone3?|start_thread);' p.folded "$whole"
grep -q ';\[frames elided\];.*;bottom;' p.folded || fail "no stack is whole"
# A stack is cut for its deadline alone.
"$sprofile" info p.sprof | grep '^cut' >info
grep -qxE 'cut +(none of [0-9,]+ stacks|[0-9,]+ of [0-9,]+ stacks: [0-9,]+ deadline)' \
    info || fail "$(cat info)"
expect_samples 300 p.folded
awk -F';' '/;descend/ && NF > 1100 { bad = 1 } END { exit bad }' p.folded ||
    fail "a stack has more frames than SPROF_MAX_DEPTH grants"

profile "$work/deep_recursion" 900 500
expect_ok
expect_share 99 'diver(;descend){901};bottom;work_burn' p.folded "$whole"
expect_share 20 "$whole" p.folded ';descend'

# Stacks that are not where a stack usually is.
# - inside a handler on an alternate signal stack, the walk goes on to main;
# - coroutines (makecontext) are walked to their start routine;
# - threads on the smallest stack that is granted survive, and are walked.
section "other stacks"

# Until the rules of both stacks are known, a sample that needs one is cut where
# it leaves the first: some, the more the later the sampler comes.
profile "$work/sigaltstack_work" 2500
expect_ok
expect_stacks 95
expect_roots 95 p.folded

profile "$work/makecontext_work" 2000
expect_ok
expect_stacks 95

profile "$work/small_stack" 4 250
expect_ok
expect_stacks 98 ';thread_main'
expect_roots 99 p.folded

profile SPROF_COST=off SPROF_FREQUENCY=10000 "$work/small_stack" 4 150
expect_ok

# - a guard right below the stack pointer, which no map shows, is not read.
if [ -e "$work/guarded_stack" ]; then
    profile "$work/guarded_stack" 500
    expect_ok
    expect_share 20 spin_above_guard p.folded 'spin_above_guard|work_burn'
fi

# Goals:
# - a stack that passes through two signal frames reaches main, and the
#   interrupted function is named right although its pc is no return address.
section "signal frames"

profile "$work/signal_handler_frames" 2000
expect_ok
expect_stacks 98
expect_roots 99 p.folded

# - a restorer of the program's own has not the name of what is in front of it.
if [ -x "$work/own_restorer" ]; then
    profile "$work/own_restorer" 2000
    expect_ok
    expect_stacks 98
    ! grep neighbour p.folded || fail "a function that nobody called"
fi

# Frames whose rule is no plain offset.
# - samples in procedure linkage stubs are walked;
# - so are those in the loader, which binds such a call: its outermost frame is
#   found through a register that frames below have saved;
# - a frame that is found through a pointer on the stack (DRAP) is walked.
section "odd frames"

profile "$work/plt_loop" 2000
expect_ok
expect_stacks 98
expect_roots 99 p.folded

profile LD_BIND_NOT=1 SPROF_COST=off "$work/plt_loop" 2000
expect_ok
expect_stacks 98
expect_roots 99 p.folded

profile "$work/drap" 2000
expect_ok
expect_stacks 98
expect_roots 99 p.folded

finish
