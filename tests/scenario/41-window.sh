#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the suspended window is kept.
# - malloc, locks, stdio and the loader fail and are counted on the sampler's
#   thread and in libsprof's signal handler (window_guard.c): programs run as
#   ever and nothing is counted, at 10,000 Hz, while threads do park;
# - the guard is awake: what breaks the rules on purpose is caught, and it knows
#   the sampler by the locks that the sampler alone can hold.
. "$(dirname "$0")/lib.sh"

guard=$work/libwindow_guard.so
seconds=2
[ "${SPROF_TEST_FULL:-0}" = 0 ] || seconds=15
waited=0 seen=0

# number WORD FILE: the number before WORD in a line of FILE, or 0.
number() {
    local found
    found=$(sed -n "s/.* \([0-9][0-9]*\) $1.*/\1/p" "$2" | head -n 1)
    echo "${found:-0}"
}

# guarded TIME SHORT COMMAND...: the same output as without us in a SHORT time,
# and no forbidden call.
guarded() {
    local before time=$1 short=$2
    shift 2
    echo "-- ${*##*/}"
    plain "$@" "$short"
    before=$status
    mv out out.plain
    plain env LD_PRELOAD="$library $guard" SPROF_OUTPUT="$tmp/p.folded" \
        SPROF_COST=off SPROF_FREQUENCY=10000 SPROF_KEEP_SPOOL=1 "$@" "$time"
    expect_status "$before"
    cmp -s out out.plain || fail "other output: $*"
    ! grep -H '^sprof:' err || fail "the profiler complained"
    grep '^guard:' err
    grep -q '^guard: 0 forbidden calls' err || fail "forbidden calls: $*"
    ! grep -q '^guard:.*signals open' err ||
        fail "the sampler did not block all signals: $*"
    seen=$((seen + $(number "at the end" err)))
    expect_samples 500 p.folded
    plain "$sprofile" info p.sprof
    expect_status 0
    grep '^cost' out
    # The sampler went on where the handler's own walk had ended.
    waited=$((waited + $(number parked out)))
    rm -f p.sprof p.folded
}

plain env LD_PRELOAD="$guard" "$work/window_breaker"
expect_status 0
grep '^guard:' err
for call in malloc pthread_mutex_lock fopen; do
    grep '^guard: 6 forbidden calls' err |
        grep -q "$call from window_breaker+0x[0-9a-f]* (2)" ||
        fail "the guard did not see $call"
done

guarded "$seconds" 1 "$work/chaos_malloc"
guarded $((seconds * 1000)) 100 "$work/dlopen_loop"
guarded $((seconds * 1000)) 100 "$work/makecontext_work"
guarded $((seconds * 1000)) 100 "$work/sigaltstack_work"

cat >job.py <<'END'
import json, re, sys, time
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    text = json.dumps({"numbers": list(range(300)), "text": "x" * 300})
    assert len(re.findall("[0-9]+", text)) == 300
    assert json.loads(text)["numbers"][-1] == 299
print("ok")
END
guarded "$seconds" 0.1 /usr/bin/python3 job.py

# Its stacks are too large to be copied: threads wait while the sampler walks.
guarded $((seconds * 1000)) 100 "$work/deep_recursion" 20000

echo "$waited samples waited for the sampler"
[ "$waited" -gt 0 ] || fail "no thread was ever parked: nothing was tested"
[ "$seen" -gt 0 ] || fail "the guard never saw the sampler's thread"

finish
