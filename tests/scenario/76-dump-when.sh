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

# expect_files NAME...: these are there, no others.
expect_files() {
    local found
    found=$(find . -maxdepth 1 -name '*when.*' -printf '%f\n' | sort |
        paste -sd' ')
    [ "$found" = "$*" ] || fail "files: \"$found\", expected \"$*\""
}

# run WORK CONDITIONS [CAUSE...]: the profiles of these are written, each as text
# and folded, and the work goes on until they are there. No others are.
run() {
    local cause files=()
    for cause in "${@:3}"; do
        files+=("when.${cause}1.txt" "when.${cause}1.wall.folded")
    done
    rm -f when.*
    profile SPROF_DUMP_WHEN="$2" SPROF_COST=off \
        SPROF_OUTPUT="$tmp/when.wall.folded,$tmp/when.txt" \
        "$work/stuck_loop" "$1" "${files[@]}"
    expect_ok
    expect_files "${files[@]}"
}

echo "-- a loop that computes"
run burn 'stalled:main>300ms' stalled-main
expect_share 10 stuck_here when.stalled-main1.wall.folded
expect_share 2 poll when.stalled-main1.wall.folded

echo "-- a loop that waits for a lock"
run lock 'stalled:main>300ms' stalled-main
grep -q 'wait_for_mutex' when.stalled-main1.wall.folded ||
    fail "the lock is not in the profile"

echo "-- a loop that is well"
run loop 'stalled:main>1s,cpu>90%/300ms,span:request>100ms'

echo "-- a span that takes too long, and one that does not"
run span 'span:request>200ms,span:other>10ms' span-request
run span 'span:request>20s'

echo "-- CPU time"
run burn 'cpu>10%/300ms' cpu
expect_share 3 stuck_here when.cpu1.wall.folded

echo "-- two causes, each with its files"
run burn 'cpu>10%/300ms, stalled:main>500ms' cpu stalled-main

echo "-- a program that does not notice"
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
        SPROF_OUTPUT="$tmp/when.folded" true
    expect_status 0
    expect_note "SPROF_DUMP_WHEN=$wrong" 'expected' 'not profiling'
    expect_files
done
finish
