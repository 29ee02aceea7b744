#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program that waits for SIGPROF, SIGTRAP or 35 (sigwait,
# signalfd, sigsuspend, ppoll and the like), or is interrupted by them, gets
# each that was sent to it and no other. So does one that waits for all signals
# at once, or handles all. One that names sets where nothing is hears so from
# the kernel; and one that goes back to a mask that it had kept has that.
. "$(dirname "$0")/lib.sh"

# other_numbers: the higher rate meets more of what follows.
other_numbers() {
    [ -n "${SPROF_TEST_FULL:-}" ] || rates=10000
}
both=$rates

for trap in $("$work/signal_waits"); do
    rates=$both
    expect_same "$work/signal_waits" "$trap"
    case $trap in
    posix_timers | profiling_timer) ;;
    *)
        other_numbers
        expect_same "$work/signal_waits" "$trap" 5
        expect_same "$work/signal_waits" "$trap" 35
        ;;
    esac
done

# 35 is asked for by others, so a thread that waits for all signals does not
# get it.
for trap in $("$work/all_signals"); do
    rates=$both
    for number in '' 5 60; do
        expect_same "$work/all_signals" "$trap" $number
        other_numbers
    done
done

for trap in $("$work/stale_masks"); do
    rates=$both
    for number in '' 5 35 60; do
        expect_same "$work/stale_masks" "$trap" $number
        other_numbers
    done
done

rates=$both
for trap in $("$work/bad_pointers"); do
    expect_same "$work/bad_pointers" "$trap"
done

finish
