#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a process that took no sample leaves nothing. Each section
# names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - a process that took no sample writes no file;
# - SPROF_ONLY leaves other programs alone: no thread, no file;
# - quiet means quiet.
section "no file"

# On a busy machine it may live long enough for a sample.
for _ in 1 2 3 4 5 6 7 8; do
    rm -f p.*
    profile true
    expect_status 0
    ! [ -s err ] || fail "true has messages: $(cat err)"
    ls p.* >/dev/null 2>&1 || break
done
! ls p.* 2>/dev/null || fail "true wrote a file"

profile SPROF_ONLY='known_*' "$work/exits" return 100
expect_status 26
! ls p.* 2>/dev/null || fail "SPROF_ONLY did not hold"

profile SPROF_ONLY='known_*' "$work/known_stack.o2" 100
expect_ok
expect_samples 30 p.folded
rm -f p.*

profile SPROF_DELAY=3000 "$work/known_stack.o2" 100
expect_ok
! ls p.* 2>/dev/null || fail "SPROF_DELAY did not hold"

profile SPROF_LOG=quiet SPROF_FREQUENCY=none "$work/exits" exit 20
expect_status 21
! [ -s err ] || fail "SPROF_LOG=quiet is not quiet"

# No process leaves an empty spool.
# - a child that is traced and killed at once, as programs do that try out
#   ptrace(2); what one that computed has is kept;
# - su, runuser and setpriv in a directory where only the superuser may write:
#   their command runs as it does without, and one line of each process says
#   that it cannot be profiled;
# - a process that changes its user and executes another program cannot remove
#   its spool: it says so.
section "no empty spool"

# expect_no_spool: none is left in p, but what has a sample: on a busy machine a
# child lives for some time before it is killed.
expect_no_spool() {
    local spool
    for spool in $(find p -name '*.sprof'); do
        plain "$sprofile" info "$spool"
        grep -qE '^samples *([1-9]|.*, [1-9][0-9]* look)' out ||
            fail "a spool without a sample is left: $spool"
    done
}

echo "-- a traced child"
for kept in 0 1; do
    mkdir p
    profile SPROF_OUTPUT="$tmp/p/p.%p.folded" SPROF_KEEP_SPOOL=$kept \
        "$work/traced_child"
    expect_ok
    [ "$kept" = 1 ] || expect_no_spool
    rm -r p
done
mkdir p
profile SPROF_OUTPUT="$tmp/p/p.%p.folded" "$work/traced_child" 400
expect_ok
spool=p/p.$(sed -n 's/^child //p' out).sprof
plain "$sprofile" convert "$spool" q.folded
expect_status 0
expect_share 90 'work_burn' q.folded
expect_samples 20 q.folded
if has strace; then
    rm -r p
    mkdir p
    profile SPROF_OUTPUT="$tmp/p/%e.%p.folded" strace -o trace true
    expect_status 0
    expect_no_spool
fi

[ "$(id -u)" -eq 0 ] || finish
chmod 755 .
cp "$work/changes_user" "$work/known_stack.o2" "$library" .
cp "$build/libsprof-report.so" .
chmod 755 -- *
library=$tmp/libsprof.so
user=$(id -un 65534 2>/dev/null || echo nobody)

# as_user COMMAND...: of another user, in a directory that is not his.
as_user() {
    rm -rf p
    mkdir -m 755 p
    plain "$@"
    local before=$status
    mv out out.plain
    profile SPROF_OUTPUT="$tmp/p/%e.%p.folded" "$@"
    expect_status "$before"
    cmp -s out out.plain || fail "other output: $*"
    ! grep '^sprof:' err | grep -v 'p/: expected a directory that can be' ||
        fail "another message: $*"
    expect_no_spool
    plain "$sprofile" record -q -o r.folded "$@"
    expect_status "$before"
    expect_share 80 'main;through_pointer;pointed_to' r.folded
    rm -f r.folded
}
! has su || as_user su "$user" -s /bin/sh -c "$tmp/known_stack.o2 300; exit 3"
! has runuser || as_user runuser -u "$user" -- "$tmp/known_stack.o2" 300
! has setpriv ||
    as_user setpriv --reuid=65534 --clear-groups "$tmp/known_stack.o2" 300

echo "-- an exec as another user"
rm -rf p
mkdir -m 755 p
cat >becomes.py <<'END'
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.execv("/bin/true", ["true"])
END
profile SPROF_OUTPUT="$tmp/p/p.%p.folded" SPROF_START=0 \
    /usr/bin/python3 -S -E becomes.py
expect_status 0
if ls p/*.sprof >/dev/null 2>&1; then
    grep -q "^sprof: $tmp/p/p.*.sprof: took no sample, and cannot be" err ||
        fail "an empty spool is left without a word: $(cat err)"
fi

finish
