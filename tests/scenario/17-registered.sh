#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: SPROF_THREADS=registered.
# - only threads that registered are in the profile, under each trigger;
# - with all threads, registering gives a thread its name;
# - without the library the calls do nothing.
. "$(dirname "$0")/lib.sh"

for trigger in auto timer ask; do
    echo "-- $trigger"
    profile SPROF_TRIGGER=$trigger SPROF_THREADS=registered \
        "$work/registered_threads" 700
    expect_ok
    expect_share 95 'listed_work' p.folded
    ! grep unlisted_work p.folded || fail "a thread that did not register"
    expect_samples 100 p.folded
done

profile SPROF_KEEP_SPOOL=1 "$work/registered_threads" 300
expect_ok
grep -q ';unlisted_work' p.folded || fail "the other thread is not there"
plain "$sprofile" info p.sprof
grep -q ' listed$' out || fail "the thread has not its name"

plain "$work/registered_threads" 10
expect_ok

profile SPROF_THREADS=some "$work/registered_threads" 10
expect_note SPROF_THREADS=some "all|registered"

finish
