#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a program that has its own SIGPROF handler and profiling timer sees its own
#   signals and none of ours;
# - threads that block all signals or wait for them see only what was sent;
# - waiting threads are not disturbed without need.
. "$(dirname "$0")/lib.sh"

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

finish
