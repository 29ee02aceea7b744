#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what the library maps is not in the way of what the
# program maps. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# A hole that the program has just made stays free: while sampling begins, after
# a fork in both processes, after an exec that failed, when the main thread has
# left, and below a stack that grows.
section "holes"

for way in compute fork exec main grow; do
    expect_same "$work/left_holes" $way
    grep -qx ok out || fail "$way: $(cat out)"
    rm -f p.*
done

finish
