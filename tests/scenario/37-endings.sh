#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a process ends as it would have, and its profile is there.
# - SIGINT, SIGTERM and SIGHUP by default write the profile and then kill;
# - the program sees its own dispositions, and so do its children;
# - that takes no more of the stack than a sample does;
# - ends that interrupt malloc, come twice, to a group, from several threads,
#   from constructors and destructors; a raw exit_group leaves a whole spool;
# - other threads do not run on while the profile of an exit is written.
. "$(dirname "$0")/lib.sh"

ulimit -c 0
program=$work/signal_ends
rates=${SPROF_TEST_FULL:+100 1000 5000} rates=${rates:-1000} # and 10,000 below

# wait_until_gone FILE: a process that this script does not wait for writes it.
wait_until_gone() {
    for _ in $(seq 1200); do
        [ -e "$1" ] || return
        sleep 0.1
    done
    fail "$1 is still there"
}

# has_profile: of the last program, whole, and no spool beside it, once those of
# its children are gone, which may end after it.
has_profile() {
    local left
    for left in p.[0-9]*.sprof; do
        wait_until_gone "$left"
    done
    [ -s p.folded ] || fail "$*: no profile"
    ! [ -e p.sprof ] || fail "$*: a spool was left"
    ! grep -H '^sprof:' err || fail "$*: the profiler complained"
    rm -f p.*
}

# At this rate it takes some time to write.
profile SPROF_COST=off SPROF_FREQUENCY=20000 \
    SPROF_OUTPUT=p.folded,p.pb.gz,p.html,p.json "$work/outlived" 1500
expect_ok
has_profile outlived

for way in return exit _exit _Exit by_number quick_exit term int handler atexit; do
    profile "$work/exits" "$way" 30
    has_profile "$way"
done

# The numbers of SIGHUP, SIGINT, SIGTERM.
for signal in 1 2 15; do
    expect_same "$program" dispositions $signal
    expect_status $((128 + signal))
    has_profile dispositions $signal
done
expect_same "$program" children
rm -f p.*
for signal in 1 2 15; do
    expect_same "$program" once_and_raise $signal
    expect_status $((128 + signal))
    has_profile once_and_raise $signal
    expect_same "$program" once_and_again $signal
    expect_status $((128 + signal))
    has_profile once_and_again $signal
done
for mode in blocked_in_main blocked twice group frozen without_main; do
    expect_same "$program" $mode
    has_profile "$mode"
done
expect_same "$work/stack_cases" small
rm -f p.*
rates=10000
expect_same "$program" children 2
rm -f p.*
for round in 1 2 3 4 5; do
    for mode in malloc exit_in_malloc fork exit_in_fork; do
        expect_same "$program" $mode
        has_profile "$mode" $round
    done
    expect_same "$program" exits_at_once
    has_profile exits_at_once $round
done

# No function of the C library is called at the end.
rates='1000 10000'
for way in raw_exit rawest_exit; do
    expect_same "$work/late_signals" $way
    has_profile $way
done
# Ten times, because what is left of us may be the last.
for round in 1 2 3 4 5 6 7 8 9 10; do
    expect_same "$work/late_signals" forbidden
    rm -f p.*
done

# Ignored when the program starts: it stays ignored.
# shellcheck disable=SC2016
expect_same SIGNAL=TERM sh -c \
    'trap "" TERM; { "$0" dispositions; } 2>/dev/null >first; head -n 1 first; kill -TERM $$; exit 5' \
    "$program"
expect_status 5
expect_same sh -c 'trap "echo trapped; exit 6" TERM; kill -TERM $$; sleep 1'
expect_status 6
rm -f p.*

# wait_for_line: until the program in the background has said something.
wait_for_line() {
    for _ in $(seq 600); do
        [ -s out ] && return
        sleep 0.1
    done
    fail "the program does not begin"
}

# A parent in vfork cannot run a handler. It dies all the same.
: >out
env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" "$program" vfork \
    >out 2>err &
wait_for_line
kill -TERM $!
{ wait $!; } 2>/dev/null
status=$?
expect_status 143
kill -KILL "$(head -n 1 out)" || fail "in vfork: killed only after the child"
[ -s p.folded ] || [ -s p.sprof ] || fail "in vfork: nothing is left"
rm -f p.*

# No hook sees this end; the spool has everything.
profile "$work/exits" exit_group 300
expect_status 28
! [ -e p.folded ] || fail "exit_group: who wrote a profile?"
plain "$sprofile" convert p.sprof q.folded
expect_status 0
expect_samples 200 q.folded
rm -f p.* q.*

# Libraries that end the process, before and after ours in the search order.
# The thread does so 0.1 s after it has begun, be that when it may: main has
# more to do than that.
for way in constructor:41:200 constructor_now:42:200 destructor:43:200 \
    destructor_now:44:200 thread:45:20000; do
    IFS=: read -r name number ms <<<"$way"
    for preload in "$library:$work/end_early.so" "$work/end_early.so:$library"
    do
        profile LD_PRELOAD="$preload" END_EARLY="$name" \
            "$work/exits" return "$ms"
        expect_status "$number"
        ! grep -H '^sprof:' err || fail "$name: the profiler complained"
        rm -f p.*
    done
done

finish
