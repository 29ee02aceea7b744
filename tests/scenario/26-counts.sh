#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: no sample disappears.
# - asked = taken + lost, in quiet and in hard cases;
# - the samples of a thread that computes are as many as the rate asks for.
. "$(dirname "$0")/lib.sh"

# adds_up: the last program's spool.
adds_up() {
    local spool
    spool=$(ls ./*.sprof) || { fail "no spool"; return; }
    expect_sum "$spool"
    rm -f ./*.sprof
}

profile SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 2000
expect_ok
count=$(total p.folded)
[ "$count" -ge 1800 ] || fail "$count samples of 2 s at 1,000 Hz"
adds_up

for program in "short_threads 1000" "masked_signals 700" "sleepers 700" \
    "exits _exit 300" "deep_recursion 100000 300"; do
    echo "-- $program"
    # shellcheck disable=SC2086
    profile SPROF_KEEP_SPOOL=1 SPROF_FREQUENCY=5000 "$work/"$program
    adds_up
done

finish
