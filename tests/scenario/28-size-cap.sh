#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - when the spool reaches SPROF_MAX_SIZE, sampling ends, the program runs on,
#   and what was sampled is in the profile;
# - SPROF_DURATION ends sampling as well.
. "$(dirname "$0")/lib.sh"

profile SPROF_MAX_SIZE=1M SPROF_FREQUENCY=20000 "$work/known_stack.o2" 3000
expect_status 0
expect_note 'reached SPROF_MAX_SIZE'
grep -qx ok out || fail "the program did not run to its end"
expect_samples 5000 p.folded
count=$(total p.folded)
[ "$count" -lt 30000 ] || fail "$count samples fit into 1 MiB?"

profile SPROF_MAX_SIZE=1M SPROF_FREQUENCY=20000 "$work/chaos_malloc" 2
expect_status 0
grep -qx ok out || fail "the program did not run to its end"

profile SPROF_DURATION=0.3 "$work/known_stack.o2" 1500
expect_ok
# How much of that time a loaded machine lets it run, nobody knows.
count=$(total p.folded)
[ "$count" -ge 10 ] && [ "$count" -le 400 ] ||
    fail "$count samples in 0.3 s at 1,000 Hz"

finish
