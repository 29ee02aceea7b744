#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: many children at once cost little, and nothing is lost.
# - of those that only wait few are sampled; those that compute all are;
# - in a recorded tree each process is there, and all CPU time;
# - few write their profiles at a time, and one line at most says that the time
#   was over; their parent writes what they left.
. "$(dirname "$0")/lib.sh"

# crowd_is N ARGUMENT...: run that, and N profiles at most are there.
crowd_is() {
    local most=$1 found
    shift
    rm -f p.*
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.%p.wall.folded" \
        "$work/many_children" "$@"
    expect_ok
    found=$(ls p.*.folded | wc -l)
    echo "   $found profiles; $(head -n 1 out)"
    [ "$found" -le "$most" ] || fail "$found of them were sampled"
}

section "those that wait"
# Sixteen are sampled all the same, and the parent.
crowd_is 17 200 0
crowd_is 17 200 0 0 term
# A few are sampled as ever: where they wait is known.
crowd_is 5 4 0
[ "$(grep -l 'be_child.*read' p.*.folded | wc -l)" -eq 4 ] ||
    fail "a child that waits has no stack"

section "those that compute"
# They have waited for 0.5 s or more, in a crowd.
crowd_is 25 200 8 200
found=$(grep -l child_computes p.*.folded | wc -l)
[ "$found" -eq 8 ] || fail "$found of 8 children that computed have samples"
ms=$(cat p.*.folded | grep child_computes | grep -v runnable | total)
echo "   $ms of 1600 ms"
[ "$ms" -ge 800 ] || fail "$ms of 1600 ms of CPU time are there"

section "a recorded tree"
plain "$sprofile" record -q -o p.sprof -- "$work/many_children" 200 8 100
expect_ok
"$sprofile" report --by process -n 0 --csv p.sprof >rows
found=$(grep -c '^many_children,' rows)
[ "$found" -eq 201 ] || fail "$found of 201 processes"
"$sprofile" report -n 0 --csv p.sprof >rows
ms=$(awk -F, '/^child_computes,|^work_burn,/ { sum += $3 }
    END { printf "%d\n", sum / 1e6 }' rows)
echo "   child_computes: $ms of 800 ms"
[ "$ms" -ge 300 ] || fail "$ms of 800 ms of CPU time are there"
cpu=$("$sprofile" info p.sprof |
    sed -n 's/^totals *\([0-9.]*\) s CPU.*/\1/p')
awk -v c="$cpu" 'BEGIN { exit !(c >= 0.8) }' || fail "CPU time $cpu s, not 0.8 s"

# A copy of the library, with a report program that is a script.
beside() {
    mkdir beside
    cp "$library" beside/
    printf '%s\n' '#!/bin/sh' "$@" >beside/libsprof-report.so
    chmod +x beside/libsprof-report.so
    library=$tmp/beside/libsprof.so
}

section "few write at a time"
beside "echo 1 >>'$tmp/log'" 'sleep 0.3' "echo -1 >>'$tmp/log'" 'echo ok'
: >log
plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.%p.folded" \
    "$work/many_children" 12 12 40
expect_ok
most=$(awk '{ now += $1; if (now > most) most = now } END { print most + 0 }' log)
count=$(grep -c '^1' log)
echo "   $count writers, $most at a time"
[ "$count" -eq 13 ] || fail "$count of 13 profiles were written"
[ "$most" -le 2 ] || fail "$most writers at a time"

section "no time at all"
beside 'sleep 100'
plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.%p.folded" SPROF_EXIT_MS=500 \
    "$work/many_children" 40 40 30 term
expect_status 0
expect_note 'SPROF_EXIT_MS=500' 'sprofile convert' 'more processes'
found=$(ls p.*.sprof | wc -l)
[ "$found" -eq 41 ] || fail "$found of 41 spools are kept"

section "the parent writes what they left"
# The first two writers take all the time that the children have.
beside "ls '$tmp'/began.* 2>/dev/null | grep -c . >'$tmp/count'.\$\$" \
    "touch '$tmp/began'.\$\$" \
    "[ \$(cat '$tmp/count'.\$\$) -ge 2 ] || exec sleep 100" \
    "exec '$build/libsprof-report.so' \"\$@\""
plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.%p.folded" SPROF_EXIT_MS=6000 \
    "$work/many_children" 6 6 40
expect_ok
found=$(grep -l child_computes p.*.folded | wc -l)
[ "$found" -eq 6 ] || fail "$found of 6 children have a profile"
! ls p.*.sprof 2>/dev/null || fail "a spool is left"

finish
