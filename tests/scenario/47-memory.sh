#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: memory and stacks that the program itself makes, protects
# or takes away. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Faults, stacks, code and mappings that the program makes are as without the
# library.
section "mappings, faults and stacks"

ulimit -c 0

# Nothing here waits: the higher rate shows more in less time.
[ -n "${SPROF_TEST_FULL:-}" ] || rates=10000
for way in collector coroutines generated keys reserve inherited secret \
    grows_down vacant; do
    expect_same "$work/memory_cases" "$way"
done
for way in heap stack neighbours; do
    expect_same "$work/user_faults" "$way"
done
expect_same "$work/stack_cases" carved
expect_same "$work/stack_cases" hole
# What lies above a page that cannot be read is found all the same.
expect_share 90 'work_over_hole;meet_code;' p.folded 'meet_code;'

# A fault that our handler runs into, because the program has made a page of a
# stack unreadable, is repaired by the program's own handler of SIGSEGV; and one
# that leaves by a jump harms nothing: masks are as without a profiler, and
# samples go on.
section "a fault in our handler"

ulimit -c 0
for way in repair jump leave; do
    expect_same "$work/fault_in_handler" "$way"
    expect_samples 20 p.folded
done

# A program that makes an alternate signal stack read-only, while signals come
# to it, goes on as without a profiler: our signals do not use that stack. Its
# handlers' masks read as it set them, and samples go on.
section "a read-only alternate stack"

ulimit -c 0
for trigger in auto timer ask; do
    # The higher rate meets more of it.
    [ "$trigger" = auto ] || [ -n "${SPROF_TEST_FULL:-}" ] || rates=10000
    for way in thread process call closed open; do
        expect_same SPROF_TRIGGER="$trigger" "$work/read_only_stack" "$way"
        [ "$(cat out)" = ok ] || fail "$trigger, $way: $(cat out)"
        expect_samples 20 p.folded
    done
done

finish
