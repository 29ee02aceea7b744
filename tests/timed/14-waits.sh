#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: waits: their times are right. Each section names its goals.
. "$(dirname "$0")/../scenario/lib.sh"

# Wall time and CPU time are complete: a program that computes and then sleeps
# has all of both, with each trigger and with a sampler that may use little.
section "sums"

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

# Short waits beside a busy thread on the same CPU: when looks come, the thread is
# mostly in line for that CPU, where the kernel does not show its place.
# - each function has the wall time that it has by its own clock, at the full rate
#   and at 50 Hz, where a look stands for ten waits.
section "time in line"

for setting in "auto SPROF_COST=off" "timer SPROF_COST=off" \
    "auto SPROF_FREQUENCY=50" "timer SPROF_FREQUENCY=50"; do
    read -r trigger rate <<<"$setting"
    rm -f p.folded
    profile SPROF_TRIGGER=$trigger $rate "$work/queued_waits" 3000
    expect_status 0
    nap=$(grep -E ';nap[; ]' p.folded | total)
    rest=$(grep -E ';rest[; ]' p.folded | total)
    echo "$setting: $(tr '\n' ' ' <out): nap $nap, rest $rest"
    awk -v nap="$nap" -v rest="$rest" '
        { truth[$1] = $2 }
        END {
            was = truth["nap"] / (truth["nap"] + truth["rest"])
            is = nap / (nap + rest)
            exit !(is > was - 0.05 && is < was + 0.05)
        }' out || fail "$setting: the short waits have another part:
$(awk '{ print $NF, $0 }' p.folded | sort -rn | head -n 9)"
done

finish
