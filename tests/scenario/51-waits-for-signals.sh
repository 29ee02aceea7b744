#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program that waits for SIGPROF, SIGTRAP or 35 (sigwait,
# signalfd, sigsuspend, ppoll and its like), or is interrupted by them, gets each
# of its own and none of ours.
. "$(dirname "$0")/lib.sh"

for trap in $("$work/signal_waits"); do
    expect_same "$work/signal_waits" "$trap"
    case $trap in
    posix_timers | profiling_timer) ;;
    *)
        expect_same "$work/signal_waits" "$trap" 5
        expect_same "$work/signal_waits" "$trap" 35
        ;;
    esac
done

finish
