#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: threads are as without the library.
# - very many, very short, and on the smallest stacks that there are;
# - cancelled in every way, made by C11, with every key the program's own;
# - real-time, bound to a CPU, stopped and continued;
# - the process ends, with all of its output, when its last thread does, however
#   the main thread has left;
# - at once, also if our thread was not running while it read who is there.
. "$(dirname "$0")/lib.sh"

brief=5000
idle=300
[ -z "${SPROF_TEST_FULL:-}" ] || { brief=15000 idle=3000; }

expect_same "$work/thread_ways" brief "$brief"
expect_same "$work/thread_ways" idle "$idle"
expect_same "$work/thread_ways" stacks 100
expect_same "$work/thread_ways" cancel 6
for way in c11 keys real_time stopped; do
    expect_same "$work/thread_ways" "$way"
done
for way in pthread_exit thrd_exit cancel; do
    expect_same "$work/thread_exit_last" 50 "$way"
done

# A tenth of a second for each reading, none of which is its own CPU time.
has strace && for hz in $rates; do
    start=$(now_ms)
    plain strace -f -qq -o trace -e trace=getdents64 \
        -e inject=getdents64:delay_exit=100000 env LD_PRELOAD="$library" \
        SPROF_FREQUENCY="$hz" SPROF_OUTPUT="$tmp/p.folded" \
        "$work/thread_exit_last" 50
    took=$(($(now_ms) - start))
    expect_ok
    grep -q getdents64 trace || fail "strace held nothing back"
    [ "$took" -lt 8000 ] ||
        fail "took $took ms to see that no thread is left"
done

# Threads that have no control block of a C library.
for trigger in perf timer ask; do
    expect_same SPROF_TRIGGER=$trigger "$work/raw_threads"
done

finish
