#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program that uses the profiler's signals itself. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - a program that has its own SIGPROF handler and profiling timer sees its own
#   signals alone;
# - threads that block all signals or wait for them see only what was sent;
# - waiting threads are not disturbed without need.
section "handlers, masks and waits"

profile "$work/own_sigprof" 1000
expect_ok
expect_samples 300 p.folded

profile "$work/masked_signals" 700
expect_ok

profile "$work/sleepers" 1000
expect_ok
expect_share 99 'main;work_burn' p.folded work_burn
interrupted=$(sed -n 's/^interrupted: //p' err)
[ "${interrupted:-999}" -le 8 ] ||
    fail "waiting threads were interrupted $interrupted times"

# A program that uses SIGPROF, SIGTRAP or 35 itself sees them as it would
# without a profiler:
# - dispositions, flags and masks, and its own default action;
# - what children inherit by fork, vfork, posix_spawn, system and popen.
# And what it blocks or handles for long is sampled all the same.
section "SIGPROF, SIGTRAP and 35"

ulimit -c 0
# Children that are profiled have glibc's own handlers besides.
export SPROF_ONLY=signal_traps
for trap in $("$work/signal_traps"); do
    expect_same "$work/signal_traps" "$trap"
done
# The higher rate meets more of it.
[ -n "${SPROF_TEST_FULL:-}" ] || rates=10000
for trap in default_action default_again ignored handler_mask full_sa_mask \
    inherits old_functions bypasses bypasses_by_number; do
    expect_same "$work/signal_traps" "$trap" 5
    expect_same "$work/signal_traps" "$trap" 35
done
for trap in jumps masks_of_threads; do
    expect_same "$work/signal_traps" "$trap" 35
done

profile "$work/signal_traps" works_in_handler
expect_samples 300 p.folded
expect_share 90 'work_in_handler;work_burn' p.folded '^[^[]*$'

profile SPROF_LOG=info "$work/signal_traps" bypasses
grep -q 'replaced our signal handler' err || fail "nobody said so: $(cat err)"

finish
