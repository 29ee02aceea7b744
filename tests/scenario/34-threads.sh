#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: threads are as without the library. Each section names its
# goals.
. "$(dirname "$0")/lib.sh"

# Threads are as without the library.
# - very many, very short, and on the smallest stacks possible;
# - cancelled in every way, made by C11, with every key the program's own;
# - real-time, bound to a CPU, stopped and continued;
# - the process ends, with all of its output, when its last thread does, however
#   the main thread has left;
# - at once, also if our thread lost its CPU while it read the list of threads.
section "beginnings and ends"

brief=5000
idle=300
[ -z "${SPROF_TEST_FULL:-}" ] || { brief=15000 idle=3000; }

expect_same "$work/thread_cases" brief "$brief"
expect_same "$work/thread_cases" idle "$idle"
expect_same "$work/thread_cases" stacks 100
expect_same "$work/thread_cases" cancel 6
for way in c11 keys real_time stopped; do
    expect_same "$work/thread_cases" "$way"
done
for way in pthread_exit thrd_exit cancel; do
    expect_same "$work/thread_exit_last" 50 "$way"
done

# A tenth of a second for each reading, none of which is its own CPU time. What
# takes long for a fault does so each time.
has strace && for hz in $rates $rates $rates $rates $rates; do
    [ "${took[hz]:-8000}" -ge 8000 ] || continue
    start=$(now_ms)
    plain strace -f -qq -o trace -e trace=getdents64 \
        -e inject=getdents64:delay_exit=100000 env LD_PRELOAD="$library" \
        SPROF_COST=off SPROF_FREQUENCY="$hz" SPROF_OUTPUT="$tmp/p.folded" \
        "$work/thread_exit_last" 50
    took[hz]=$(($(now_ms) - start))
    expect_ok
    grep -q getdents64 trace || fail "strace held nothing back"
done
for hz in "${!took[@]}"; do
    [ "${took[hz]}" -lt 8000 ] ||
        fail "took ${took[hz]} ms to see that no thread is left"
done

# Threads that have no control block of a C library.
for trigger in perf timer ask; do
    expect_same SPROF_TRIGGER=$trigger "$work/raw_threads"
done

# Goals:
# - threads that live for 50 microseconds do no harm;
# - the process ends when its last thread does, whose stacks are in its profile.
section "short and last threads"

profile SPROF_COST=off SPROF_FREQUENCY=10000 "$work/short_threads" 1000
expect_ok

profile "$work/thread_exit_last" 500
expect_ok
expect_stacks 98 ';last;[^[]*$'
expect_samples 200 p.folded

# Threads without libc's thread-local storage.
# - what they call of libc behaves as without the library, in a process of
#   their own, as a thread, and at the end of the process;
# - what they compute is sampled, with stacks that reach their root, whether
#   they never had any or have another thread pointer for a while;
# - the same holds for a program that is not profiled;
# - a program that the kernel lets make no thread runs in silence.
section "threads without thread-local storage"

for way in calls end; do
    rates=1000 expect_same SPROF_ONLY=other "$work/no_tls" $way
    rates=1000 expect_same SPROF_LOG=quiet SPROF_SYMBOLIZE=no \
        "$work/no_tls" $way
done

for trigger in auto timer ask; do
    rates=1000 expect_same SPROF_TRIGGER=$trigger "$work/no_tls" calls
    expect_status 0
    rates=1000 expect_same SPROF_TRIGGER=$trigger "$work/no_tls" end
    expect_status 45
done

# Some 300 ms of each. A thread that clone(2) alone has made is met by a look,
# and has no timer before that: where others have the CPUs, late.
for trigger in auto timer; do
    expect_same SPROF_TRIGGER=$trigger "$work/no_tls" compute
    profile SPROF_TRIGGER=$trigger "$work/no_tls" compute
    expect_ok
    burning=';burn_inner ' # and not runnable
    expect_stacks 90 "$burning"
    for function in burn_elsewhere burn_alone; do
        expect_share 1 "$function;burn_outer;burn_inner" p.folded "$burning"
    done
    expect_share 90 '^((__)?clone|thread_start|_start|__libc_start)' p.folded "$burning"
done

# The kernel answers EAGAIN to clone(2).
deadline_class=(chrt -d -T 40000000 -P 100000000 0)
if has chrt && "${deadline_class[@]}" true 2>/dev/null; then
    rates=1000 expect_same "${deadline_class[@]}" "$work/exits" exit 30
    profile SPROF_LOG=info "${deadline_class[@]}" "$work/exits" exit 30
    grep -q '^sprof: .*not profiling' err || fail "SCHED_DEADLINE: not told"
fi

# It answers EINVAL to a process whose children get another PID namespace.
if has unshare && unshare -Urpf true 2>/dev/null; then
    rates=1000 expect_same unshare -Urpf sh -c 'echo $$'
    profile SPROF_LOG=info unshare -Urpf sh -c 'echo $$'
    grep -q '^sprof: .*Invalid argument; not profiling' err ||
        fail "PID namespace: not told"
fi

finish
