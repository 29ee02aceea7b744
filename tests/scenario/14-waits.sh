#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: waits: their stacks, their cost, and how they are
# described. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Waiting threads are seen without being woken.
# - a thread in each call that waits has its whole stack, in code without frame
#   pointers, with them, and not optimized; none is wrong;
# - no call comes back too early;
# - the system call and what it waits for are shown.
section "stacks of waiting threads"

for variant in o2 o0 o2_fp; do
    for trigger in perf timer ask; do
        [ "$variant" = o2 ] || [ "$trigger" = perf ] || continue
        echo "-- $variant, $trigger"
        profile SPROF_TRIGGER=$trigger SPROF_KEEP_SPOOL=1 \
            SPROF_FREQUENCY=2000 "$work/blocked_calls.$variant" 2500
        expect_status 0
        grep -qx ok out || fail "the workload did not print ok"
        # A thread that was asked may begin to wait before the signal comes.
        grep -qxE "interrupted: [0$([ "$trigger" != ask ] || echo 12)]" err ||
            fail "$(grep interrupted err)"
        ! grep -H '^sprof:' err || fail "the profiler complained"
        expect_stacks 99 ';blocked_thread.*\[waiting\]'
        # What was seen reaches its root, and most was.
        expect_share 99 '^([^;]*;)?(__libc_start_main|clone3?|start_thread)' \
            p.folded '^([^[]|\[t)'
        [ "$(share "$(grep '^[^[]' p.folded | total)" "$(total p.folded)")" \
            -ge 5000 ] || fail "most waits have no stack: $(cat p.folded)"
        expect_samples 50000 p.folded
        ! grep '\[truncated\].*\[waiting\]' p.folded || fail "a stack is cut"
    done
done

plain "$sprofile" info p.sprof
expect_status 0
grep -qE '^peeked +[1-9]' out || fail "nothing was peeked at"
grep -qE ' clock_nanosleep' out || fail "no system call in sprofile info"

# Labels are strings of the profile.
plain "$sprofile" convert p.sprof p.pb.gz
expect_status 0
for words in waits_on 'mutex of blocked_calls' 'pipe:\[' 'socket:\[' \
    'anon_inode:\[eventpoll\]' futex epoll_wait accept; do
    zcat p.pb.gz | grep -aq -- "$words" || fail "no \"$words\" in the profile"
done

# What waits cost, and how they are described.
# - the spool of an idle program does not grow;
# - a wait that a kill cut off reaches to the last tick;
# - wall time and CPU time are complete: a program that computes and then sleeps
#   has all of both;
# - SPROF_DURATION ends both;
# - SPROF_MODE=cpu leaves waits out;
# - a sampler that may use little still gets the sums right;
# - a wait that begins after the last tick has its stack.
section "sums"

# 19 threads, all in one wait each, that are killed in it.
begun=$(now_ms)
env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
    "$work/blocked_calls.o2" 120000 >out 2>err &
child=$!
# written: how much of the spool is not zero.
written() {
    od -An -v -tx1 -w16 p.sprof 2>/dev/null | grep -vc '^\( 00\)*$'
}
# It grows until all threads were seen.
before=none now=0
while [ "$now" -eq 0 ] || [ "$now" != "$before" ]; do
    [ $(($(now_ms) - begun)) -lt 90000 ] || { fail "the spool grows"; break; }
    sleep 2
    before=$now now=$(written)
done
kill -9 $child
wait $child 2>/dev/null
ran=$(($(now_ms) - begun))
plain "$sprofile" info p.sprof
expect_status 0
wall=$(sed -n 's/^totals .* CPU, *\([0-9.]*\) s wall.*/\1/p' out)
time=$(sed -n 's/^time .*, \([0-9.]*\) s$/\1/p' out)
echo "wall $wall s in $time s of $ran ms"
awk -v w="$wall" -v t="$time" -v r="$ran" \
    'BEGIN { exit !(t > r / 2000 && w > 15 * t && w < 19.1 * t) }' ||
    fail "19 threads waited $wall s in $time s of $ran ms"

# sums FILE: "CPU WALL" of what info prints.
sums() {
    sed -n 's/^totals *\([0-9.]*\) s CPU, *\([0-9.]*\) s wall.*/\1 \2/p' "$1"
}

# Some last waits would begin after the last tick. Each takes 30 ms at least.
found=0
for _ in 1 2 3 4; do
    rm -f p.folded
    profile "$work/last_wait"
    expect_status 0
    found=$((found + $(awk '/;wait_last;.*waiting/ { n += $NF }
        END { print n + 0 }' p.folded)))
done
echo "last waits: $found ms"
[ "$found" -ge 90 ] || fail "last waits of 120 ms: $found ms"

# The program itself says what CPU time it had, and ends at once: what a virtual
# machine waits for its host may count as CPU time, also in the interpreter's own
# end. It sleeps for 0.8 s.
cat >job.py <<'END'
import os, time
end = time.thread_time() + 0.5
while time.thread_time() < end:
    sum(range(1000))
time.sleep(0.8)
print(time.thread_time(), flush=True)
os._exit(0)
END
for setting in SPROF_TRIGGER=auto SPROF_TRIGGER=timer SPROF_TRIGGER=ask \
    SPROF_BUDGET=1; do
    profile SPROF_KEEP_SPOOL=1 $setting SPROF_COST=off SPROF_FREQUENCY=10000 \
        /usr/bin/python3 job.py
    expect_status 0
    truth=$(cat out)
    plain "$sprofile" info p.sprof
    read -r cpu wall < <(sums out)
    time=$(sed -n 's/^time .*, \([0-9.]*\) s$/\1/p' out)
    echo "$setting: CPU $cpu s of $truth s, wall $wall s of $time s"
    awk -v c="$cpu" -v w="$wall" -v t="$time" -v truth="$truth" \
        'BEGIN { exit !(c > 0.95 * truth && c < 1.1 * truth + 0.05 &&
            w > 0.95 * (truth + 0.8) && w < 1.05 * t + 0.05) }' ||
        fail "$setting: CPU or wall time is not complete: $(ls -l; cat out err)"
done

# What comes before and after the time of sampling is in no sum. What CPU time the
# program had until when, it says itself: no such time of its run had more or less.
cat >window.py <<'END'
import time
end = time.monotonic() + 3
while time.monotonic() < end:
    print(time.monotonic(), time.thread_time(), flush=True)
    sum(range(200000))
    time.sleep(0.005)
END
profile SPROF_KEEP_SPOOL=1 SPROF_DELAY=0.4 SPROF_DURATION=1 \
    /usr/bin/python3 window.py
expect_status 0
mv out told
plain "$sprofile" info p.sprof
expect_status 0
read -r cpu wall < <(sums out)
/usr/bin/python3 - "$cpu" "$wall" <<'END' || fail "CPU $cpu s, wall $wall s"
import bisect, sys
cpu, wall = map(float, sys.argv[1:])
times, used = zip(*(map(float, line.split()) for line in open("told")))
truth = [used[end] - used[begin] for begin, start in enumerate(times)
         if (end := bisect.bisect(times, start + wall)) < len(times)]
print(f"wall {wall} s of {times[-1] - times[0]:.3f} s, CPU {cpu} s of {used[-1]:.3f} s:"
      f" expected {min(truth):.3f} s to {max(truth):.3f} s")
assert 0.1 < wall and min(truth) - 0.03 < cpu < max(truth) + 0.03
END

profile SPROF_MODE=cpu /usr/bin/python3 job.py
expect_status 0
! grep '\[waiting\]' p.folded || fail "a wait in cpu mode"
expect_samples 100 p.folded

finish
