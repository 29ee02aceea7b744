#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what the library does with signals changes nothing for
# other processes, and for the program's own use of them. Each section names its
# goals.
. "$(dirname "$0")/lib.sh"

# A child that shares the table of signal handlers outlives its parent, and gets
# its signals. Children that are started while their parent ends ignore nothing
# that the parent handles.
section "the table of dispositions"

for way in quick exit thread fork vfork spawn; do
    expect_same "$work/shared_handlers" $way
    grep -qx ok out || fail "$way: $(cat out)"
    rm -f p.*
done

# A program that uses SIGPROF and all other numbers from 36, or all of the C
# library, gets each of them: by its handler, and where it waits.
section "no number is left"

for first in 34 36; do
    for way in '' waiter; do
        expect_same "$work/takes_all_numbers" $first $way
        [ "$(cat out)" = ok ] || fail "from $first $way: $(cat out)"
        rm -f p.*
    done
done

finish
