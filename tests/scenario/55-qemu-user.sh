#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program of this processor that qemu-user runs.
# - it behaves as without the library: on a stack that qemu has not aligned for
#   the handler, with threads, forks, and programs that it starts;
# - it has a profile with its functions, though no mapping is executable and
#   the child that writes it cannot be hidden.
. "$(dirname "$0")/lib.sh"

has qemu-x86_64 || skip "qemu-user is not installed"
plain qemu-x86_64 "$work/exits" exit 1
[ "$status" -eq 21 ] || skip "qemu-x86_64 cannot run a program here"

# emulated [NAME=VALUE] COMMAND...: the same output and status.
emulated() {
    local setting=SPROF_TRIGGER=auto
    case $1 in *=*) setting=$1 && shift ;; esac
    plain qemu-x86_64 "$@"
    mv out out.plain
    mv err err.plain
    local before=$status
    # QEMU 7.2 ends a forked child that starts a thread, by this assertion,
    # in some runs. It does so to programs without the library too.
    for _ in 1 2 3 4 5; do
        rm -f p.*
        plain qemu-x86_64 -E LD_PRELOAD="$library" -E "$setting" \
            -E SPROF_OUTPUT="$tmp/p.folded" "$@"
        grep -q '^ERROR:.*qemu_plugin_vcpu_init_hook' err || break
    done
    [ "$status" -eq "$before" ] || fail "status $status, not $before: $*"
    diff out.plain out || fail "other output: $*"
    diff err.plain err || fail "other messages: $*"
}

for trigger in auto timer; do
    emulated SPROF_TRIGGER=$trigger "$work/known_stack.o2"
    grep -q '^sprof' err && fail "the profiler complained"
    expect_share 90 "$(expected)" p.folded ';work_burn [0-9]'
done
emulated SPROF_TRIGGER=ask "$work/known_stack.o2"
emulated "$work/no_tls" compute
emulated "$work/exits" exit 20
emulated "$work/fork_cases" many 20
emulated "$work/exec_cases" execve
emulated "$work/spawn_cases" spawn
emulated "$work/thread_cases" brief 20

finish
