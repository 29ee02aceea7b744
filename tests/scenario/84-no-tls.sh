#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: threads without libc's thread-local storage.
# - what they call of libc behaves as without the library, in a process of
#   their own, as a thread, and at the end of the process;
# - what they compute is sampled, with stacks that reach their root, whether
#   they never had any or have another thread pointer for a while;
# - a program that the kernel lets make no thread runs in silence.
. "$(dirname "$0")/lib.sh"

for trigger in auto timer ask; do
    rates=1000 expect_same SPROF_TRIGGER=$trigger "$work/no_tls" calls
    expect_status 0
    rates=1000 expect_same SPROF_TRIGGER=$trigger "$work/no_tls" end
    expect_status 45
done

# Some 300 ms of each. A thread that clone(2) alone has made is met by a look,
# and has no timer before that.
for trigger in auto timer; do
    expect_same SPROF_TRIGGER=$trigger "$work/no_tls" compute
    profile SPROF_TRIGGER=$trigger "$work/no_tls" compute
    expect_ok
    burning=';burn_inner( |;)'
    expect_stacks 90 "$burning"
    for function in burn_elsewhere burn_alone; do
        expect_share 5 "$function;burn_outer;burn_inner" p.folded "$burning"
    done
    expect_share 99 '^(__clone|_start|__libc_start)' p.folded "$burning"
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
