#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a fault that our handler runs into, because the program
# has made a page of a stack unreadable, is repaired by the program's own
# handler of SIGSEGV; and one that leaves by a jump harms nothing: masks are as
# without a profiler, and samples go on.
. "$(dirname "$0")/lib.sh"

ulimit -c 0
for way in repair jump leave; do
    expect_same "$work/fault_in_handler" "$way"
    expect_samples 20 p.folded
done

finish
