#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the first promise, do no harm.
# - every way to end gives the same output, messages and status;
# - pipes, scripts, failing commands and descriptors are as without the library;
# - a program's own functions with libc's names are never called by us.
. "$(dirname "$0")/lib.sh"

ulimit -c 0
for way in return exit _exit quick_exit abort segv term int kill handler atexit
do
    expect_same "$work/exits" "$way"
done
expect_same "$work/thread_exit_last" 300
expect_same "$work/old_versions"
expect_same true
expect_same false
expect_same ls -d /
expect_same sh -c 'echo a; echo b >&2; exit 9'
expect_same sh -c 'seq 1 1000 | sort -r | head -n 3'
expect_same sh -c 'ls /proc/self/fd | wc -l'
expect_same python3 -c 'import threading, sys
t = threading.Thread(target=lambda: sum(range(10**6))); t.start(); t.join()
sys.stderr.write("done\n"); sys.exit(5)'
expect_same sh -c 'kill -TERM $$'
expect_same cat /nonexistent

for trigger in auto perf timer ask; do
    expect_same SPROF_TRIGGER=$trigger SPROF_OUTPUT="$tmp/%h.%e.folded" \
        SPROF_ONLY='own*' "$work/own_names" 100
    expect_status 4
    [ -s "$(uname -n).own_names.folded" ] || fail "own_names: no profile"
    rm -f ./*.folded
done
expect_same SPROF_KEEP=10 "$work/own_names" 100

finish
