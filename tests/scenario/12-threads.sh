#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - every thread is seen, with its own stack;
# - a thread has the name that it had last, whenever it chose it;
# - threads that live for 50 microseconds do no harm;
# - the process ends when its last thread does.
. "$(dirname "$0")/lib.sh"

profile "$work/many_threads" 20 100
expect_ok
expect_stacks 98 ';worker'
for parity in even odd; do
    expect_share 40 "${parity}_work" p.folded ';worker.*work_burn'
done
expect_samples 500 p.folded

profile "$work/many_threads" 300 10
expect_ok

profile SPROF_FREQUENCY=10000 "$work/short_threads" 1000
expect_ok

for rate in $rates; do
    for how in ends waits 'waits 1500'; do
        # shellcheck disable=SC2086
        profile SPROF_FREQUENCY="$rate" SPROF_OUTPUT="$tmp/n.sprof" \
            "$work/late_names" $how
        expect_ok
        "$sprofile" report --wall --by thread -n 0 n.sprof >threads
        count=$(grep -cE ' named-[0-9]+ \([0-9]+\)$' threads)
        [ "$count" -eq 20 ] || fail "$how: $count threads have their names"
        rm -f n.sprof
    done
done

profile "$work/thread_exit_last" 500
expect_ok
expect_stacks 98 ';last'
expect_samples 200 p.folded

finish
