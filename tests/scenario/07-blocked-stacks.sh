#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: waiting threads are seen without being woken.
# - a thread in each call that waits has its whole stack, in code without frame
#   pointers, with them, and not optimized; none is wrong;
# - no call comes back too early;
# - the system call and what it waits for are told.
. "$(dirname "$0")/lib.sh"

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

finish
