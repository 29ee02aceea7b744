#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: children are as without the library.
# - whatever makes them (fork, raw system calls, vfork, posix_spawn, system,
#   popen) and whoever (threads, handlers, children), they do their work, end
#   with their status, and are all that their parent sees;
# - a child that is traced stops where it stops without the library;
# - so is one whose allocator is locked until its fork handlers have run;
# - a program without threads is taken for one, so that a handler may fork;
# - they inherit the signals that the program blocks and ignores, ours included;
# - an adopter, a new PID namespace and a /proc that belongs to root change
#   nothing.
. "$(dirname "$0")/lib.sh"

# Each child that was sampled writes a profile of its own, which takes as long
# as it takes; here it is what the child itself does that counts.
export SPROF_SYMBOLIZE=off
large=256
forks=100
[ -z "${SPROF_TEST_FULL:-}" ] || { large=1024 forks=300; }

expect_same "$work/fork_ways" many "$forks"
expect_same "$work/fork_ways" locks 5
expect_same "$work/fork_ways" large "$large"
for way in handler thread twice daemon raw counted killed_young among; do
    expect_same "$work/fork_ways" "$way"
done
# No profile can be made in that root.
expect_same SPROF_LOG=quiet "$work/fork_ways" odd_null
expect_same "$work/fork_own_malloc" 12
for way in fork vfork spawn system slow attributes counted; do
    expect_same "$work/spawn_ways" "$way"
done
for way in traced traced_exec traced_thread released pdeathsig subreaper \
    namespace; do
    expect_same "$work/family_ways" "$way"
done
rm -f p*

# While it was traced the child has no samples, and its profile says so; then it
# has. A trigger that was asked for by name is used all the same.
profile SPROF_SYMBOLIZE=exit SPROF_KEEP_SPOOL=1 SPROF_MODE=cpu \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_ways" released
expect_ok
traced=$(grep -l compute_alone p.*.folded)
expect_samples 400 "$traced"
expect_share 95 ';compute_alone;|^\[not sampled\]' "$traced"
expect_share 40 ';compute_alone;' "$traced"
expect_share 40 '^\[not sampled\]' "$traced"
plain "$sprofile" info "${traced%.folded}.sprof"
grep -q '^traced *1 time' out || fail "not told that it was traced"
rm -f p*
profile SPROF_SYMBOLIZE=exit SPROF_TRIGGER=timer \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_ways" traced
expect_status 0
grep -qx 'stopped by 27' out || fail "the trigger asked for was not used"
rm -f p*

# It becomes another user, and its children write files, too.
chmod 777 .
expect_same "$work/single_thread" "$forks"
rm -f p*

# As somebody to whom /proc/self does not belong any more.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${nobody[@]}" test -r "$library" 2>/dev/null || nobody=()
plain "${nobody[@]}" env LD_PRELOAD="$library" SPROF_FREQUENCY=10000 \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_ways" undumpable
expect_ok
[ "$(grep -cx 'child: status 8' out)" -eq 3 ] || fail "children ended otherwise"
rm -f ./*

# A process that knows its threads under other numbers than /proc does.
if unshare --pid --fork true 2>/dev/null; then
    expect_same unshare --pid --fork "$work/thread_exit_last" 100
    profile unshare --pid --fork env SPROF_SYMBOLIZE=exit SPROF_MODE=cpu \
        SPROF_OUTPUT="$tmp/n.folded" "$work/many_threads" 4 100
    expect_ok
    expect_share 95 "$(expected)" n.folded ';worker'
    expect_samples 200 n.folded

    # Two of the same number at once, each in a namespace of its own.
    for i in 1 2; do
        timeout "$deadline" unshare --pid --fork env LD_PRELOAD="$library" \
            SPROF_SYMBOLIZE=exit SPROF_MODE=cpu \
            SPROF_OUTPUT="$tmp/two.folded" "$work/many_threads" 4 1000 \
            >"out.$i" 2>"err.$i" &
        sleep 0.3
    done
    wait
    grep -H '^sprof:' err.? && fail "the profiler complained"
    for file in two.folded two.1.folded; do
        expect_share 95 "$(expected)" "$file" ';worker'
        expect_samples 200 "$file"
    done
fi

finish
