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
# - the system call and what it waits for are told.
section "stacks of waiting threads"

for variant in o2 o0 o2_fp; do
    for trigger in perf timer ask; do
        [ "$variant" = o2 ] || [ "$trigger" = perf ] || continue
        echo "-- $variant, $trigger"
        profile SPROF_TRIGGER=$trigger SPROF_KEEP_SPOOL=1 \
            SPROF_FREQUENCY=2000 "$work/blocked_calls.$variant" 1000
        expect_status 0
        grep -qx ok out || fail "the workload did not print ok"
        grep -qx 'interrupted: 0' err || fail "$(grep interrupted err)"
        ! grep -H '^sprof:' err || fail "the profiler complained"
        expect_stacks 99 ';blocked_thread'
        expect_roots 99 p.folded
        expect_samples 16000 p.folded
        [ "$trigger" = ask ] ||
            ! grep '\[truncated\]' p.folded || fail "a stack is cut"
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
env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
    "$work/blocked_calls.o2" 30000 >out 2>err &
child=$!
sleep 1.5
# written: how much of the spool is not zero.
written() {
    od -An -v -tx1 -w16 p.sprof | grep -vc '^\( 00\)*$'
}
first=$(written)
sleep 2
[ "$(written)" = "$first" ] || fail "the spool has grown"
kill -9 $child
wait $child 2>/dev/null
plain "$sprofile" info p.sprof
expect_status 0
wall=$(sed -n 's/^totals .* CPU, *\([0-9.]*\) s wall.*/\1/p' out)
time=$(sed -n 's/^time .*, \([0-9.]*\) s$/\1/p' out)
echo "wall $wall s in $time s"
awk -v w="$wall" -v t="$time" \
    'BEGIN { exit !(t > 3 && w > 18.7 * t && w < 19.1 * t) }' ||
    fail "19 threads waited $wall s in $time s"

# sums FILE: "CPU WALL" of what info tells.
sums() {
    sed -n 's/^totals *\([0-9.]*\) s CPU, *\([0-9.]*\) s wall.*/\1 \2/p' "$1"
}

# Six runs, of whose last waits some would begin after the last tick. Each takes
# 30 ms at least.
found=0
for _ in 1 2 3 4 5 6; do
    rm -f p.folded
    profile "$work/last_wait"
    expect_status 0
    found=$((found + $(awk '/;wait_last;.*waiting/ { n += $NF }
        END { print n + 0 }' p.folded)))
done
echo "last waits: $found ms"
[ "$found" -ge 180 ] || fail "last waits of 180 ms: $found ms"

cat >job.py <<'END'
import time
end = time.thread_time() + 0.6
while time.thread_time() < end:
    sum(range(1000))
time.sleep(1.2)
END
for setting in SPROF_TRIGGER=auto SPROF_TRIGGER=timer SPROF_TRIGGER=ask \
    SPROF_BUDGET=1; do
    profile SPROF_KEEP_SPOOL=1 $setting SPROF_COST=off SPROF_FREQUENCY=10000 \
        /usr/bin/python3 job.py
    expect_status 0
    plain "$sprofile" info p.sprof
    read -r cpu wall < <(sums out)
    time=$(sed -n 's/^time .*, \([0-9.]*\) s$/\1/p' out)
    echo "$setting: CPU $cpu s, wall $wall s of $time s"
    awk -v c="$cpu" -v w="$wall" -v t="$time" 'BEGIN { exit !(c >= 0.6 &&
        c < 0.75 && w > 0.98 * t - 0.05 && w < 1.02 * t + 0.05) }' ||
        fail "$setting: CPU or wall time is not complete"
done

# What comes before and after the time of sampling is in no sum. How much CPU
# time that is, the program itself says: the machine may give it little.
cat >window.py <<'END'
import time
start, marks = time.monotonic(), [0.2, 1.0]
end = time.thread_time() + 0.6
while time.thread_time() < end or marks:
    if time.thread_time() < end:
        sum(range(1000))
    else:
        time.sleep(0.01)
    if marks and time.monotonic() - start >= marks[0]:
        print(time.thread_time())
        del marks[0]
time.sleep(0.2)
END
profile SPROF_KEEP_SPOOL=1 SPROF_DELAY=0.2 SPROF_DURATION=0.8 \
    /usr/bin/python3 window.py
expect_status 0
truth=$(awk 'NR == 1 { a = $1 } END { print $1 - a }' out)
plain "$sprofile" info p.sprof
read -r cpu wall < <(sums out)
echo "0.8 s of it: CPU $cpu s of $truth s, wall $wall s"
awk -v c="$cpu" -v w="$wall" -v t="$truth" 'BEGIN { exit !(c > t - 0.1 &&
    c < t + 0.1 && w > 0.75 && w < 0.85) }' ||
    fail "0.8 s have CPU $cpu s of $truth s, wall $wall s"

profile SPROF_MODE=cpu /usr/bin/python3 job.py
expect_status 0
! grep '\[waiting\]' p.folded || fail "a wait in cpu mode"
expect_samples 100 p.folded

finish
