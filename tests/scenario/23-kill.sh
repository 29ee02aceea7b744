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

# 2 s, less start-up, at 1,000 Hz; a busy machine costs some of them.
plain "$sprofile" info "$spool"
expect_status 0
count=$(samples_of out)
[ "${count:-0}" -ge 1500 ] || fail "$count samples of 2 s at 1,000 Hz"

finish
