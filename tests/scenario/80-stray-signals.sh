#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a signal for the process is handled by its main thread, as
# without a profiler, if that does not block it; whatever the main thread waits
# in ends; and the handler is told who sent it. With SPROF_TEST_FULL, 1,000 of
# each.
. "$(dirname "$0")/lib.sh"

count=20 runs=8
[ -z "${SPROF_TEST_FULL:-}" ] || count=1000 runs=1000 deadline=3000

for trigger in auto timer ask; do
    ways=$("$work/stray_signals")
    [ "$trigger" = auto ] || [ -n "${SPROF_TEST_FULL:-}" ] ||
        ways='nanosleep computing child'
    for way in $ways; do
        profile SPROF_TRIGGER="$trigger" "$work/stray_signals" "$way" "$count"
        grep -qx ok out || fail "$trigger, $way: $(cat out)"
        expect_status 0
    done
done

if has python3; then
    plain env SPROF_OUTPUT="$tmp/py.%p.folded" python3 \
        "$here/../workload/typed_interrupt.py" "$runs" "$library"
    grep -qx ok out || fail "python: $(cat out err)"
    if [ -n "${SPROF_TEST_FULL:-}" ]; then
        plain env SPROF_OUTPUT="$tmp/py.%p.folded" SPROF_TRIGGER=timer python3 \
            "$here/../workload/typed_interrupt.py" "$runs" "$library"
        grep -qx ok out || fail "python, timer: $(cat out err)"
    fi
fi

finish
