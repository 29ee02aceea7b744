#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what interrupts running threads.
# - each trigger gives samples of its kind, and programs behave under each;
# - a thread that perf interrupts has no timer beside it;
# - auto takes the next one where perf is denied: by a seccomp filter, by
#   perf_event_paranoid, and under a debugger;
# - an unprivileged user's profile shows the kernel's time as well;
# - a trigger that was asked for and does not work is one clear line;
# - while threads are switched all the time auto has timers, and perf before and
#   after;
# - limits on pending signals and descriptors take nothing away.
# Needs alone: paranoid
. "$(dirname "$0")/lib.sh"

paranoid=/proc/sys/kernel/perf_event_paranoid

# of_trigger NAME: how many samples of p.sprof came by that trigger.
of_trigger() {
    "$sprofile" info p.sprof |
        sed -n "s/^triggers .*\\b$1 \\([0-9]*\\).*/\\1/p" | grep . || echo 0
}

# expect_trigger NAME LEAST: p.sprof has at least LEAST samples of trigger NAME,
# and few of other triggers.
expect_trigger() {
    local count other=0 name
    count=$(of_trigger "$1")
    for name in perf timer ask; do
        [ "$name" = "$1" ] || other=$((other + $(of_trigger $name)))
    done
    echo "   $1: $count, others: $other"
    [ "$count" -ge "$2" ] || fail "$count samples by $1, expected $2"
    [ "$other" -le $((count / 10 + 5)) ] || fail "$other samples not by $1"
}

# near REAL EXPECTED PERCENT WHAT
near() {
    awk -v a="$1" -v b="$2" -v p="$3" \
        'BEGIN { exit !(a >= b * (1 - p / 100) && a <= b * (1 + p / 100)) }' ||
        fail "$4: $1, expected $2 within $3 %"
}

# cpu_seconds: of the last profile.
cpu_seconds() {
    "$sprofile" info p.sprof | sed -n 's/^totals *\([0-9.]*\) s CPU.*/\1/p'
}

has_perf=no
profile SPROF_COST=off SPROF_TRIGGER=perf SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 600
if grep -q '^sprof: SPROF_TRIGGER=perf: does not work here' err; then
    echo "perf does not work here; auto must do without"
else
    has_perf=yes
    expect_ok
    expect_trigger perf 100
    near "$(cpu_seconds)" 0.6 10 "CPU seconds by perf"
    # A busy thread is looked at rarely. That is no reason to give it a timer
    # beside its event: its time would then count twice.
    profile SPROF_COST=off SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 1500
    expect_ok
    expect_trigger perf 200
    near "$(cpu_seconds)" 1.5 10 "CPU seconds by perf alone"
fi
# Of a machine that its own host lets wait, a timer may give 12 signals a CPU
# second.
profile SPROF_TRIGGER=timer SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 3000
expect_ok
expect_stacks 98
expect_trigger timer 10
near "$(cpu_seconds)" 3.0 10 "CPU seconds by timer"
profile SPROF_COST=off SPROF_TRIGGER=ask SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 2000
expect_ok
expect_trigger ask 20
near "$(cpu_seconds)" 2.0 10 "CPU seconds by ask"
# No thread is asked in the first moments of its life: a timer samples these, by
# and by.
found=0
for _ in {1..20}; do
    rm -f p.folded p.sprof
    profile SPROF_TRIGGER=ask SPROF_KEEP_SPOOL=1 "$work/short_threads" 800
    expect_ok
    found=$((found + $(of_trigger timer)))
    [ "$found" -lt 10 ] || break
done
[ "$found" -ge 10 ] || fail "$found samples of short threads by timer"
rm -f p.folded p.sprof

for trigger in timer ask; do
    echo "-- $trigger: programs that are hard on it"
    for program in "fork_children 6" "exec_chain 15" "short_threads 300" \
        "masked_signals 300" "own_sigprof" "thread_exit_last 300" \
        "deep_recursion 20000 300"; do
        # shellcheck disable=SC2086
        profile SPROF_TRIGGER=$trigger SPROF_COST=off SPROF_FREQUENCY=5000 \
            SPROF_OUTPUT="$tmp/%p.folded" "$work/"$program
        expect_ok
        rm -f ./*.folded ./*.sprof
    done
done

echo "-- perf denied by seccomp"
rm -f p.folded p.sprof
profile SPROF_KEEP_SPOOL=1 SPROF_ONLY='known_stack*' "$work/deny_call" \
    perf_event_open "$work/known_stack.o2" 3000
expect_ok
expect_trigger timer 10
rm -f p.folded
profile SPROF_TRIGGER=perf SPROF_ONLY='known_stack*' "$work/deny_call" \
    perf_event_open "$work/known_stack.o2" 100
expect_status 0
expect_note SPROF_TRIGGER=perf "does not work here" "expected auto"
[ ! -e p.folded ] || fail "a profile without its trigger"
# At once, and not when sampling would begin.
profile SPROF_TRIGGER=perf SPROF_ONLY=true "$work/deny_call" \
    perf_event_open true
expect_status 0
expect_note SPROF_TRIGGER=perf "does not work here" "expected auto"

echo "-- timers denied too"
profile SPROF_KEEP_SPOOL=1 SPROF_ONLY='known_stack*' "$work/deny_call" \
    perf_event_open "$work/deny_call" timer_create "$work/known_stack.o2" 2000
expect_ok
expect_trigger ask 20

echo "-- no reading of memory by process_vm_readv"
profile SPROF_KEEP_SPOOL=1 SPROF_ONLY='blocked_calls*' "$work/deny_call" \
    process_vm_readv "$work/blocked_calls.o0" 500
expect_status 0
expect_stacks 99 ';blocked_thread.*\[waiting\]'

echo "-- no descriptor table of our own"
profile SPROF_KEEP_SPOOL=1 SPROF_ONLY='many_threads*' "$work/deny_call" \
    unshare "$work/deny_call" close_range "$work/many_threads" 8 600
expect_ok
expect_trigger timer 20
expect_stacks 98 ';worker'

if [ "$has_perf" = yes ]; then
    echo "-- many switches"
    profile SPROF_KEEP_SPOOL=1 SPROF_FORK=off SPROF_MODE=cpu \
        "$work/hand_over" 1000 2000
    expect_ok
    perf=$(of_trigger perf) timer=$(of_trigger timer)
    echo "   perf: $perf, timer: $timer"
    [ "$timer" -ge 50 ] || fail "$timer samples by timer"
    [ "$perf" -ge 100 ] || fail "$perf samples by perf"
    [ "$perf" -le 2550 ] || fail "perf never had a rest"
    near "$(cpu_seconds)" 3.0 5 "CPU seconds by both"
    expect_share 50 ';computing' p.folded
    profile SPROF_KEEP_SPOOL=1 SPROF_FORK=off SPROF_TRIGGER=perf \
        "$work/hand_over" 600
    expect_ok
    expect_trigger perf 20
fi

echo "-- few pending signals"
(
    failures=0
    ulimit -i 4
    for trigger in auto ask; do
        profile SPROF_COST=off SPROF_TRIGGER=$trigger SPROF_KEEP_SPOOL=1 \
            "$work/many_threads" 8 100
        expect_ok
        expect_samples 600 p.folded
    done
    exit "$failures"
) || fail "with few pending signals"

echo "-- few descriptors"
(
    failures=0
    # What the test runner has left open is not the program's.
    for fd in 3 4 5 6 7 8 9; do eval "exec $fd>&-"; done
    ulimit -n 6
    profile SPROF_COST=off "$work/many_threads" 8 100
    expect_ok
    expect_samples 600 p.folded
    exit "$failures"
) || fail "with few descriptors"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    mkdir -m 777 open
    # unprivileged PARANOID: reading in system calls, as the user "nobody".
    unprivileged() {
        local before
        before=$(cat $paranoid)
        echo "$1" >$paranoid 2>/dev/null || return 1
        rm -f open/*
        plain setpriv --reuid=65534 --regid=65534 --clear-groups env \
            LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/open/p.folded" \
            SPROF_KEEP_SPOOL=1 SPROF_ONLY='dd' \
            dd if=/dev/zero of=/dev/null bs=64k count=240000
        echo "$before" >$paranoid
        [ -e open/p.sprof ] && mv open/p.sprof p.sprof
        expect_status 0
    }
    # The library must be readable by everybody on the way to it.
    if setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$library"
    then
        for level in 2 3; do
            echo "-- nobody, perf_event_paranoid $level"
            rm -f p.folded p.sprof
            unprivileged $level || continue
            "$sprofile" info p.sprof | grep '^triggers'
            mv open/p.folded p.folded 2>/dev/null
            # All of the time is the kernel's.
            expect_share 60 ';(__GI___)?(__libc_)?(read|write)' p.folded
        done
    fi
fi

if [ "$has_perf" = yes ] && command -v gdb >/dev/null; then
    echo "-- under gdb"
    rm -f p.folded
    plain gdb -q -batch -ex "set environment LD_PRELOAD $library" \
        -ex "set environment SPROF_OUTPUT $tmp/p.folded" \
        -ex 'set startup-with-shell off' -ex 'handle SIG33 nostop noprint' \
        -ex run --args "$work/known_stack.o2" 500
    grep -qx ok out || fail "the program did not end under gdb: $(tail -3 out)"
    ! grep -q SIGTRAP out || fail "gdb was stopped: $(grep SIGTRAP out)"
    expect_samples 50 p.folded
fi

finish
