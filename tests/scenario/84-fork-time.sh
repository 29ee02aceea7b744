#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the CPU time of forks, in which nobody can be interrupted.
# - it is in the profile as that of fork, as much as the program itself saw;
# - with each trigger, and with no function of ours on the stack;
# - a fork that no hook sees is there, too.
. "$(dirname "$0")/lib.sh"

# cpu_of FILE [OPTION...]: ns of CPU time in it; the fifth column from the end.
cpu_of() {
    "$sprofile" report --csv -n 0 "${@:2}" "$1" |
        awk -F, 'NR > 1 { sum += $(NF - 5) } END { printf "%.0f\n", sum }'
}

# expect_forks NAME: stacks with that function have within 6 points of what the
# program says, which sees what handlers of forks take, too.
expect_forks() {
    local said found
    expect_ok
    said=$(sed -n 's/^fork: //p' out)
    found=$(share "$(cpu_of p.pb.gz --focus "$1")" "$(cpu_of p.pb.gz)")
    awk -v a="$said" -v b="$found" \
        'BEGIN { b /= 100; exit !(b > 5 && a - b < 6 && b - a < 6) }' ||
        fail "fork: $found hundredths of a percent, the program says $said %"
}

for trigger in auto timer; do
    for children in follow off; do
        rm -f p.*
        profile SPROF_TRIGGER=$trigger SPROF_FORK=$children \
            SPROF_OUTPUT="$tmp/p.pb.gz" "$work/fork_time"
        expect_forks '^(__libc_)?fork$'
    done
done

# Whoever asks has few samples, so one run says little: the middle one of five.
for _ in 1 2 3 4 5; do
    rm -f p.*
    profile SPROF_TRIGGER=ask SPROF_FORK=off SPROF_OUTPUT="$tmp/p.pb.gz" \
        "$work/fork_time"
    expect_ok
    echo "$(sed -n 's/^fork: //p' out)" \
        "$(share "$(cpu_of p.pb.gz --focus '^(__libc_)?fork$')" \
            "$(cpu_of p.pb.gz)")"
done >asked
awk '{ print $2 / 100 - $1 }' asked | sort -n | sed -n 3p |
    awk '{ exit !($1 > -3 && $1 < 3) }' ||
    fail "asked, fork by the program, and hundredths in the profile: $(cat asked)"

profile SPROF_OUTPUT="$tmp/p.pb.gz" "$work/fork_time" raw
expect_forks '^fork_often$'

# The measured stack, alone.
profile SPROF_TRIGGER=timer SPROF_FORK=off SPROF_OUTPUT="$tmp/p.folded" \
    "$work/fork_time"
expect_share 90 'main;fork_often;(__libc_)?fork( |;\[)' p.folded \
    'fork_often;.*fork'

finish
