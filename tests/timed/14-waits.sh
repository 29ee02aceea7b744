#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: wall time and CPU time are complete: a program that computes
# and then sleeps has all of both, with each trigger and with a sampler that may
# use little.
. "$(dirname "$0")/../scenario/lib.sh"

cat >job.py <<'END'
import time
end = time.thread_time() + 0.6
while time.thread_time() < end:
    sum(range(1000))
time.sleep(1.2)
END
for setting in SPROF_TRIGGER=auto SPROF_TRIGGER=timer SPROF_TRIGGER=ask \
    SPROF_BUDGET=1; do
    profile SPROF_KEEP_SPOOL=1 $setting SPROF_COST=off SPROF_FREQUENCY=10000 \
        /usr/bin/python3 job.py
    expect_status 0
    plain "$sprofile" info p.sprof
    read -r cpu wall < <(sed -n \
        's/^totals *\([0-9.]*\) s CPU, *\([0-9.]*\) s wall.*/\1 \2/p' out)
    time=$(sed -n 's/^time .*, \([0-9.]*\) s$/\1/p' out)
    echo "$setting: CPU $cpu s, wall $wall s of $time s"
    awk -v c="$cpu" -v w="$wall" -v t="$time" 'BEGIN { exit !(c >= 0.6 &&
        c < 0.75 && w > 0.98 * t - 0.05 && w < 1.02 * t + 0.05) }' ||
        fail "$setting: CPU or wall time is not complete"
done

finish
