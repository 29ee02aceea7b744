#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: counts are true, up to the limits of size and time. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# No sample disappears.
# - asked = taken + lost, in quiet and in hard cases;
# - the samples of a thread that computes are as many as the rate asks for.
section "asked, taken and lost"

# adds_up: the last program's spool.
adds_up() {
    local spool
    spool=$(ls ./*.sprof) || { fail "no spool"; return; }
    expect_sum "$spool"
    rm -f ./*.sprof
}

profile SPROF_COST=off SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 2000
expect_ok
count=$(total p.folded)
[ "$count" -ge 1800 ] || fail "$count samples of 2 s at 1,000 Hz"
adds_up

for program in "short_threads 1000" "masked_signals 700" "sleepers 700" \
    "exits _exit 300" "deep_recursion 100000 300"; do
    echo "-- $program"
    # shellcheck disable=SC2086
    profile SPROF_KEEP_SPOOL=1 SPROF_COST=off SPROF_FREQUENCY=5000 "$work/"$program
    adds_up
done

# Goals:
# - when the spool reaches SPROF_MAX_SIZE, sampling ends, the program runs on,
#   and what was sampled is in the profile;
# - SPROF_DURATION ends sampling as well.
section "limits of size and time"

profile SPROF_MAX_SIZE=1M SPROF_COST=off SPROF_FREQUENCY=20000 "$work/known_stack.o2" 3000
expect_status 0
expect_note 'reached SPROF_MAX_SIZE'
grep -qx ok out || fail "the program did not run to its end"
expect_samples 5000 p.folded
count=$(total p.folded)
[ "$count" -lt 30000 ] || fail "$count samples fit into 1 MiB?"

rm -f p.*
profile SPROF_MAX_SIZE=1M SPROF_KEEP_SPOOL=1 SPROF_COST=off SPROF_FREQUENCY=20000 \
    "$work/chaos_malloc" 2
expect_status 0
expect_note 'reached SPROF_MAX_SIZE'
expect_samples 1000 p.folded
size=$(stat -c %s p.sprof)
[ "$size" -le 1048576 ] || fail "a spool of $size bytes, of 1 MiB"
grep -qx ok out || fail "the program did not run to its end"

profile SPROF_DURATION=0.3 "$work/known_stack.o2" 1500
expect_ok
# How much of that time a loaded machine lets it run is not known.
count=$(total p.folded)
[ "$count" -ge 10 ] && [ "$count" -le 330 ] ||
    fail "$count samples in 0.3 s at 1,000 Hz"

finish
