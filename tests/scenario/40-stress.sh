#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - 8 threads in malloc, stdio, dlopen and C++ exceptions, sampled at 10,000 Hz
#   for 10 s: no hang, no crash, every result right;
# - the counts still add up.
. "$(dirname "$0")/lib.sh"

seconds=10
[ "${SPROF_TEST_FULL:-0}" = 0 ] || seconds=90
deadline=$((seconds + 180))
profile SPROF_COST=off SPROF_FREQUENCY=10000 SPROF_KEEP_SPOOL=1 "$work/chaos_malloc" "$seconds"
expect_ok
cat err
expect_samples 10000 p.folded
expect_roots 97 p.folded
expect_sum ./*.sprof

finish
