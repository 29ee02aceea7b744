#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: limits on the memory of the program.
# - where it runs without the library it runs with it, and is told in one line
#   why it has no profile;
# - where the limit leaves room, it has one.
. "$(dirname "$0")/lib.sh"

has prlimit || skip "prlimit is not installed"

# limited LIMIT COMMAND...: the same output and status under it.
limited() {
    local limit=$1 before
    shift
    plain prlimit "$limit" "$@"
    before=$status
    mv out out.plain
    rm -f p.*
    plain prlimit "$limit" env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/p.folded" "$@"
    [ "$status" -eq "$before" ] || fail "$limit: status $status, not $before"
    cmp out.plain out || fail "$limit: other output"
}

for kib in 400 700 1000 2000 4000 5000 100000; do
    limited --data=$((kib << 10)) seq 1000
    expect_status 0
    expect_note RLIMIT_DATA 'not profiling'
    ! ls p.* 2>/dev/null || fail "$kib KiB: a file was written"
done
for limit in data as; do
    limited --$limit=$((512 << 20)) "$work/exits" exit 100
    expect_status 21
    ! grep '^sprof' err || fail "the profiler complained"
    expect_samples 20 p.folded
    limited --$limit=$((512 << 20)) "$work/fork_ways" many 20
    limited --$limit=$((512 << 20)) "$work/thread_ways" brief 20
done

finish
