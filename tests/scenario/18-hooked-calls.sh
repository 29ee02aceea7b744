#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the calls of the program in front of which libsprof
# stands. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# The CPU time of forks, in which no thread can be interrupted.
# - it is in the profile as that of fork, as much as the program itself saw;
# - with each trigger, and with no function of ours on the stack;
# - a fork that no hook sees is there, too.
section "the time of forks"

# cpu_of FILE [OPTION...]: ns of CPU time in it; the fifth column from the end.
cpu_of() {
    "$sprofile" report --csv -n 0 "${@:2}" "$1" |
        awk -F, 'NR > 1 { sum += $(NF - 5) } END { printf "%.0f\n", sum }'
}

# expect_forks NAME: stacks with that function have within 8 points of what the
# program says, which sees what handlers of forks take, too.
expect_forks() {
    local said found
    expect_ok
    said=$(sed -n 's/^fork: //p' out)
    found=$(share "$(cpu_of p.pb.gz --focus "$1")" "$(cpu_of p.pb.gz)")
    awk -v a="$said" -v b="$found" \
        'BEGIN { b /= 100; exit !(b > 5 && a - b < 8 && b - a < 8) }' ||
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

# The trigger "ask" gives few samples, so one run says little: take the middle
# one of three.
for _ in 1 2 3; do
    rm -f p.*
    profile SPROF_TRIGGER=ask SPROF_FORK=off SPROF_OUTPUT="$tmp/p.pb.gz" \
        "$work/fork_time"
    expect_ok
    echo "$(sed -n 's/^fork: //p' out)" \
        "$(share "$(cpu_of p.pb.gz --focus '^(__libc_)?fork$')" \
            "$(cpu_of p.pb.gz)")"
done >asked
awk '{ print $2 / 100 - $1 }' asked | sort -n | sed -n 2p |
    awk '{ exit !($1 > -8 && $1 < 8) }' ||
    fail "asked, fork by the program, and hundredths in the profile: $(cat asked)"

profile SPROF_COST=off SPROF_OUTPUT="$tmp/p.pb.gz" "$work/fork_time" raw
expect_forks '^fork_often$'

# The measured stack, alone. The C library calls the handlers of pthread_atfork.
profile SPROF_TRIGGER=timer SPROF_FORK=off SPROF_OUTPUT="$tmp/p.folded" \
    "$work/fork_time"
expect_share 90 \
    'main;fork_often;(__libc_)?fork(;__run_postfork_handlers)?( |;\[)' p.folded \
    'fork_often;.*fork'

# No stack has a frame of libsprof, in a program that forks, sends and handles
# signals, starts programs, makes threads, or calls the profiler; not in the
# spool, and in nothing that is made from it.
section "no frame of libsprof"

# check PROGRAM ARGUMENT...: profiled often, because hooks are short.
check() {
    local name=${1##*/}
    echo "-- $name"
    rm -f ./*.sprof ./*.folded
    profile SPROF_COST=off SPROF_FREQUENCY=10000 SPROF_SYMBOLIZE=off \
        SPROF_OUTPUT="$tmp/$name.%p.pb.gz" "$@"
    expect_status 0
    set -- "$name".*.sprof
    [ -e "$1" ] || { fail "$name left no spool"; return; }
    plain "$sprofile" merge -o all.sprof "$@"
    expect_status 0
    plain "$sprofile" report --by module -n 1000 all.sprof
    expect_status 0
    ! grep -F 'libsprof.so' out || fail "$name has frames of the library"
    plain "$sprofile" convert all.sprof all.folded
    expect_status 0
    ! grep -E ';(begin|lifecycle_[a-z]+|hook_[a-z_]+|handler_run)[; ]' \
        all.folded || fail "$name has functions of the library"
}

check bash -c 'for i in {1..100}; do ( : ); done'
check "$work/fork_children" 3 50
check "$work/short_threads" 300
check "$work/starts_and_stops" 200
check bash -c 'trap : USR1; for i in {1..4000}; do kill -USR1 $$; done'
check bash -c 'for i in {1..60}; do env true; done'

finish
