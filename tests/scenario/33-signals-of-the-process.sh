#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: signals for the process come to the thread to which the
# kernel would send them. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# A signal for the process is handled by its main thread, as without a
# profiler, if that does not block it. Any wait of the main thread ends, and
# the handler learns the sender. One that it blocks is handled by another
# thread, also when it has left a wait for it by a jump. With SPROF_TEST_FULL,
# 1,000 of each.
section "the main thread"

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

profile "$work/left_wait" "$count"
grep -qx ok out || fail "a wait that was left: $(cat out)"
expect_status 0

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

# A signal whose default action ends the process does so at once, though a
# thread waits for it (sigtimedwait, sigwait, sigwaitinfo, signalfd), if the
# main thread does not block it. The waiting thread gets it if all threads
# block it.
section "signals that end the process"

count=12
[ -z "${SPROF_TEST_FULL:-}" ] || count=300 deadline=1000

# The end of a process takes long where its profile is written; that is another
# test's business.
for way in $("$work/waits_for_end"); do
    profile SPROF_SYMBOLIZE=off SPROF_OUTPUT="$tmp/%p.folded" \
        "$work/waits_for_end" "$way" "$count"
    grep -qx ok out || fail "$way: $(cat out)"
    expect_status 0
    rm -f ./*.folded.sprof
done

# Such an end writes the profile.
profile "$work/waits_for_end" signalfd 1
expect_status 0
compgen -G "$tmp/p*.folded" >/dev/null || fail 'no profile'

finish
