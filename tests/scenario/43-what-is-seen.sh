#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: docs/transparency.md is true.
# - what the page says a program cannot see, it does not see;
# - what the page says it can, it can: a claim that is no longer so is as wrong;
# - a program that SPROF_ONLY leaves out sees the library's mappings alone.
. "$(dirname "$0")/lib.sh"

facts="$work/what_is_seen"

# value FACT FILE
value() {
    sed -n "s/^$1 //p" "$2"
}

# same FACT...: as without the library.
same() {
    local fact
    for fact in "$@"; do
        [ "$(value "$fact" with)" = "$(value "$fact" without)" ] ||
            fail "$fact: $(value "$fact" with), without the library" \
                "$(value "$fact" without)"
    done
}

# is FACT VALUE [MOST]: with the library, between VALUE and MOST.
is() {
    local found
    found=$(value "$1" with)
    [ "${found:--1}" -ge "$2" ] && [ "$found" -le "${3:-$2}" ] ||
        fail "$1: $found, the page says $2${3:+ to $3}"
}

# look [FACT...]: without and with the library.
look() {
    plain "$facts" "$@"
    expect_status 0
    mv out without
    profile "$facts" "$@"
    expect_status 0
    # A process that ends as another user may neither read nor remove the
    # spool. So short a program mostly has none.
    [ "$*" != drop_user ] || sed -i \
        '/the samples are kept;/d; /took no sample, and cannot be removed:/d' err
    ! [ -s err ] || fail "messages: $(cat err)"
    mv out with
}

look
same descriptors dispositions signals_ignored children is_secure affinity
# 35, by which the sampler is asked.
control=$((1 << 34))
is signals_blocked $(($(value signals_blocked without) | control))
is threads 2
same counted_threads
is has_preload 1
same key_number
is lines_of_maps 10 "$(($(value lines_of_maps without) + 24))"
plain_size=$(value size_kb without)
is size_kb "$((plain_size + 288 * 1024))" "$((plain_size + 320 * 1024))"
is resident_kb 0 "$(($(value resident_kb without) + 4096))"
is stack_bytes 500 6144
# SIGPROF and SIGTRAP are bits 26 and 4, 59 is kept in reserve; SIGHUP, SIGINT
# and SIGTERM are bits 0, 1 and 14; 32 is the C library's, for setuid in a program
# with threads.
ours=$((1 << 26 | 1 << 4 | 1 << 59 | 1 | 1 << 1 | 1 << 14 | 1 << 32 |
    control))
[ $(($(value signals_caught with) & ~ours)) -eq \
    "$(value signals_caught without)" ] ||
    fail "signals caught: $(value signals_caught with)"

# Each in its own process, which it changes.
for fact in setns_mount drop_user use_membarrier use_personality priority \
    not_dumpable unshare_others; do
    look "$fact"
    same "$fact"
done
# The profile is written at the exec, by children.
rm -f p*.folded
look used_after_exec
same children_used
is children_used 0
[ -s p.exec1.folded ] || fail "no profile of the image before the exec"
! grep 'a child' with || fail "SIGCHLD came"
EPERM=1 EAGAIN=11
# The sampler steps aside for what only a process with one thread may do.
for fact in unshare_memory unshare_user setns_user setns_time; do
    look "$fact"
    same "$fact"
done
if [ "$(id -u)" -eq 0 ]; then
    plain "$facts" session_to_parent
    if grep -qx 'session_to_parent 0' out; then
        look session_to_parent
        is session_to_parent $EPERM
    fi
fi

# SPROF_ONLY leaves a program out: nothing but what the loader made.
rm -f p.folded
profile SPROF_ONLY=other "$facts"
mv out with
plain "$facts"
mv out without
same threads descriptors dispositions signals_caught children timer_number \
    key_number affinity
for fact in setns_time unshare_user unshare_memory; do
    plain "$facts" "$fact"
    mv out without
    profile SPROF_ONLY=other "$facts" "$fact"
    mv out with
    same "$fact"
done
! [ -e p.folded ] || fail "a program that was left out has a file"

# With this trigger each thread has one of our timers, once sampling has begun.
profile SPROF_TRIGGER=timer "$facts" timer_number
mv out with
is timer_number 0 1000

# A limit of processes counts the threads of a user; it spares root.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir -m 777 open
    chmod 755 .
    other=$((100000 + $$))
    as_other="setpriv --reuid=$other --regid=$other --clear-groups"
    plain $as_other "$facts" fork_at_limit
    grep -qx 'fork_at_limit 0' out || fail "the limit of processes: $(cat out)"
    plain $as_other env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/open/p.folded" "$facts" fork_at_limit
    mv out with
    is fork_at_limit $EAGAIN
fi

finish
