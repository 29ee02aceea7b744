#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: each trigger gives the rate that was asked for, as far as it
# can, and exact CPU time. The kernel looks at timers when it ticks, and few ticks
# meet a thread of a busy machine: nearly as many as those of the program's own
# timer, but for a few of each by chance.
. "$(dirname "$0")/../scenario/lib.sh"

for row in "perf 900" "timer 0" "ask 700"; do
    read -r trigger least <<<"$row"
    rm -f p.*
    program=known_stack.o2
    [ "$trigger" != timer ] || program=own_sigprof
    profile SPROF_COST=off SPROF_TRIGGER=$trigger SPROF_KEEP_SPOOL=1 \
        "$work/$program" 1000 1
    if grep -q 'does not work here' err; then
        lacks "$trigger" "does not work here"
        continue
    fi
    part "$trigger"
    expect_ok
    own=$(sed -n 's/^own: \([0-9]*\) .*/\1/p' err)
    [ "$trigger" != timer ] || least=$((${own:-1000} * 4 / 5 - 10))
    "$sprofile" info p.sprof >info
    count=$(sed -n "s/^triggers .*\\b$trigger \\([0-9]*\\).*/\\1/p" info)
    [ "${count:-0}" -ge "$least" ] ||
        fail "${count:-no} samples by $trigger, expected $least"
    cpu=$(sed -n 's/^totals *\([0-9.]*\) s CPU.*/\1/p' info)
    awk -v cpu="$cpu" 'BEGIN { exit !(cpu >= 0.98 && cpu <= 1.02) }' ||
        fail "$cpu s of CPU by $trigger, expected 1 s within 2 %"
done

finish
