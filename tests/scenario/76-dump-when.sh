#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: SPROF_DUMP_WHEN writes what was just before something went
# wrong, while it goes wrong:
# - a loop that computes, or that waits for a lock, is seen from outside it; the
#   files have the place at which it is stuck;
# - so are a span that takes too long, and CPU time;
# - nothing is written for a loop that is well, and nothing at the end;
# - each file is named for its cause, and the times that they are written are
#   limited; the program does not notice;
# - a wrong condition is one line, and the program runs without profiling.
. "$(dirname "$0")/lib.sh"

# run WORK CONDITIONS: with a folded profile and a spool.
run() {
    rm -f when.*
    profile SPROF_DUMP_WHEN="$2" SPROF_COST=off \
        SPROF_OUTPUT="$tmp/when.wall.folded,$tmp/when.txt" \
        "$work/stuck_loop" "$1"
    expect_ok
}

# expect_files NAME...: these are there, no others.
expect_files() {
    local found
    found=$(find . -maxdepth 1 -name '*when.*' -printf '%f\n' | sort |
        paste -sd' ')
    [ "$found" = "$*" ] || fail "files: \"$found\", expected \"$*\""
}

echo "-- a loop that computes"
run burn 'stalled:main>300ms'
expect_files when.stalled-main1.txt when.stalled-main1.wall.folded
expect_share 10 stuck_here when.stalled-main1.wall.folded
expect_share 40 poll when.stalled-main1.wall.folded

echo "-- a loop that waits for a lock"
run lock 'stalled:main>300ms'
expect_files when.stalled-main1.txt when.stalled-main1.wall.folded
grep -q 'wait_for_mutex' when.stalled-main1.wall.folded ||
    fail "the lock is not in the profile"

echo "-- a loop that is well"
run loop 'stalled:main>300ms,cpu>90%/300ms,span:request>100ms'
expect_files

echo "-- a span that takes too long, and one that does not"
run span 'span:request>200ms,span:other>10ms'
expect_files when.span-request1.txt when.span-request1.wall.folded
run span 'span:request>2s'
expect_files

echo "-- CPU time"
run burn 'cpu>20%/300ms'
expect_files when.cpu1.txt when.cpu1.wall.folded
expect_share 10 stuck_here when.cpu1.wall.folded

echo "-- two causes, each with its files"
run burn 'cpu>20%/300ms, stalled:main>500ms'
expect_files when.cpu1.txt when.cpu1.wall.folded when.stalled-main1.txt \
    when.stalled-main1.wall.folded

echo "-- a program that does not notice"
slow_times=1 slow_ms=20000
expect_same SPROF_DUMP_WHEN='stalled:main>300ms,runnable>90%/1s' \
    "$work/stuck_loop" burn

echo "-- a directory that is no longer there"
mkdir gone
plain env LD_PRELOAD="$library" SPROF_DUMP_WHEN='stalled:main>300ms' \
    SPROF_OUTPUT="$tmp/gone/when.folded" bash -c "
        rm -rf '$tmp/gone' & exec '$work/stuck_loop' burn"
expect_status 0

echo "-- wrong conditions"
for wrong in cpu 'cpu>150' 'span:>1s' 'stalled:main>1ms' 'cpu>1%/1s,'; do
    rm -f when.*
    plain env LD_PRELOAD="$library" SPROF_DUMP_WHEN="$wrong" \
        SPROF_OUTPUT="$tmp/when.folded" "$work/stuck_loop" span
    expect_status 0
    expect_note "SPROF_DUMP_WHEN=$wrong" 'expected' 'not profiling'
    expect_files
done
finish
