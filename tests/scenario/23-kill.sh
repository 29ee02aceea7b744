#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - after kill -9 in the middle of a run the spool holds everything up to the
#   last tick: the report reads it and says so.
. "$(dirname "$0")/lib.sh"

env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
    "$work/known_stack.o2" 30000 >out 2>err &
victim=$!
sleep 2
kill -KILL "$victim"
wait "$victim" 2>/dev/null
! [ -e p.folded ] || fail "a killed process wrote its profile"
spool=$(ls ./*.sprof) || { fail "no spool"; finish; }

plain "$sprofile" convert "$spool" q.folded
expect_status 0
expect_share 99 'main;through_pointer;pointed_to;with_arguments' q.folded

plain "$sprofile" report "$spool"
expect_status 0
grep -q work_burn out || fail "the report lacks work_burn"

# All of the 2 s, less start-up, up to the last tick: a busy machine delays
# ticks, but a late one stands for those that it missed.
plain "$sprofile" info "$spool"
expect_status 0
wall=$(sed -n 's/^totals .* CPU, \([0-9.]*\) s wall.*/\1/p' out)
awk -v wall="${wall:-0}" 'BEGIN { exit !(wall >= 1.5) }' ||
    fail "$wall s of wall time of 2 s"

finish
