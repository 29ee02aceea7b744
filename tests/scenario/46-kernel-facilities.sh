#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what a program has from the kernel beside its threads
# works as without the library.
# - io_uring, timers, message queues, asynchronous reads: their threads and
#   workers are left alone, and no wait is interrupted;
# - mutexes whose owner ends, policies of scheduling, being frozen or traced;
# - limits that it reaches itself, filters that answer as an older kernel;
# - another library in front of the same functions, before or after ours.
. "$(dirname "$0")/lib.sh"

ulimit -c 0

# same_with_profile LEAST COMMAND...
same_with_profile() {
    local least=$1
    shift
    rm -f p.*
    expect_same "$@"
    [ -e p.folded ] || fail "no profile: $*"
    expect_samples "$least" p.folded
}

for way in io_uring timers mq aio lookup events; do
    expect_same "$work/facility_cases" "$way"
    # The kernel's workers have no stack in the program.
    ! grep '^[^ ]*0x0;' p.folded || fail "$way: registers that are nobody's"
done
expect_same "$work/signal_waits" timeouts
expect_same "$work/long_calls"
# No timer can be made there.
expect_same prlimit --sigpending=0 "$work/long_calls"

expect_same "$work/thread_cases" robust
expect_same "$work/thread_cases" inherit
GROUPS_AT=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
export GROUPS_AT
for way in seized frozen policies; do
    expect_same "$work/family_cases" "$way"
done

# What follows waits for nothing: the higher rate shows more in less time.
[ -n "${SPROF_TEST_FULL:-}" ] || rates=10000
same_with_profile 20 setarch -R "$work/exits" exit 30

for mode in size time memory descriptors part; do
    same_with_profile 50 "$work/restrict_itself" "$mode" 20
done
# The program dies by its write; the spool is left.
rm -f p.*
expect_same SPROF_OUTPUT="$tmp/p.wall.folded" "$work/restrict_itself" \
    size_death 20
[ -s p.sprof ] || fail "size_death: no spool"
rm -f p.*

# With a core, and without.
ulimit -c "$(ulimit -H -c)"
expect_same "$work/family_cases" crash
ulimit -c 0

# As on a kernel that lacks the call.
for call in clone3 rseq getrandom sched_setattr memfd_create \
    perf_event_open timer_create process_vm_readv unshare; do
    rates=1000 same_with_profile 5 "$work/deny_call" -n "$call" \
        "$work/exits" exit 150
done
plain "$work/deny_call" writing true
if [ "$status" -eq 0 ]; then
    rm -f p.*
    profile "$work/deny_call" writing "$work/exits" exit 150
    expect_status 21
    expect_note 'Permission denied' 'not profiling'
fi

# Two that stand in front of the same functions.
for order in "$work/in_front.so:$library" "$library:$work/in_front.so"; do
    for command in "fork_cases locks 5" "fork_cases many 50" \
        "thread_cases brief 500" "family_cases subreaper"; do
        # shellcheck disable=SC2086
        plain "$work"/$command
        before=$status
        mv out out.plain
        # shellcheck disable=SC2086
        profile LD_PRELOAD="$order" SPROF_COST=off SPROF_FREQUENCY=10000 "$work"/$command
        expect_status "$before"
        cmp out out.plain || fail "in front, $order: $command"
    done
done

finish
