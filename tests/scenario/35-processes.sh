#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: children are as without the library, and have profiles of
# their own. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - children of fork compute and end as they do without the library, and each
#   has its own profile;
# - with a template without %p a child gets its pid before the ending;
# - that is so whatever way of forking they come from;
# - SPROF_FORK=off leaves children alone.
section "profiles of children"

profile SPROF_OUTPUT="$tmp/f.%p.folded" "$work/fork_children" 6 1000
expect_ok
count=$(grep -l child_work f.*.folded | wc -l)
[ "$count" -eq 6 ] || fail "$count children have a profile, expected 6"
cat f.*.folded >all.folded
expect_share 97 "$(expected)" all.folded '_work'
expect_roots 98 all.folded
! ls ./*.sprof 2>/dev/null || fail "a spool was left behind"
rm -f f.*.folded

profile "$work/fork_children" 5 100
expect_ok
expect_share 90 'parent_work;work_burn' p.folded '_work'
count=$(find . -name 'p.*.folded' | wc -l)
[ "$count" -ge 5 ] || fail "$count children have a profile, expected 5"
rm -f p.*.folded p.folded

profile SPROF_OUTPUT="$tmp/f.%p.folded" "$work/fork_own_malloc" 6 500
expect_ok
count=$(grep -l be_child f.*.folded | wc -l)
[ "$count" -eq 6 ] || fail "$count children have a profile, expected 6"
rm -f f.*.folded

profile SPROF_FORK=off SPROF_OUTPUT="$tmp/f.%p.folded" \
    "$work/fork_children" 3 50
expect_ok
! grep -l child_work f.*.folded || fail "a child was profiled"

# A server that writes its title over its environment, as setproctitle does.
profile SPROF_OUTPUT="$tmp/%e.%p.folded" SPROF_COST=off SPROF_FREQUENCY=10000 \
    "$work/title_over_environment" 300
expect_ok
[ "$(cat title_over_environment.*.folded | grep -c work_burn)" -ge 2 ] ||
    fail "no profile of the child of a program that wrote a title"

# Children are as without the library.
# - whatever makes them (fork, raw system calls, vfork, posix_spawn, system,
#   popen), in threads, handlers or children, they do their work, end with
#   their status, and are all that their parent sees;
# - a child that is traced stops where it stops without the library;
# - so is one whose allocator is locked until its fork handlers have run;
# - a program without threads is taken for one, so that a handler may fork;
# - they inherit the signals that the program blocks and ignores, ours included;
# - an adopter, a new PID namespace and a /proc that belongs to root change
#   nothing.
section "behaviour"

# Each child that was sampled writes its own profile, which takes as long as it
# takes. Only what the child itself does counts here.
export SPROF_SYMBOLIZE=off
large=256
forks=100
[ -z "${SPROF_TEST_FULL:-}" ] || { large=1024 forks=300; }

expect_same "$work/fork_cases" many "$forks"
expect_same "$work/fork_cases" locks 5
expect_same "$work/fork_cases" large "$large"
for way in handler thread twice daemon raw counted killed_young among; do
    expect_same "$work/fork_cases" "$way"
done
# No profile can be made in that root.
expect_same SPROF_LOG=quiet "$work/fork_cases" odd_null
expect_same "$work/fork_own_malloc" 6 20
for way in fork vfork spawn system slow attributes counted; do
    expect_same "$work/spawn_cases" "$way"
done
for way in traced traced_exec traced_thread released pdeathsig subreaper \
    namespace; do
    expect_same "$work/family_cases" "$way"
done
rm -f p*

# While it was traced the child has no samples, and its profile says so; then it
# has. A trigger that was asked for by name is used all the same.
profile SPROF_SYMBOLIZE=exit SPROF_KEEP_SPOOL=1 SPROF_MODE=cpu \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_cases" released
expect_ok
traced=$(grep -l compute_alone p.*.folded)
expect_samples 400 "$traced"
expect_share 95 ';compute_alone;|^\[not sampled\]' "$traced"
expect_share 20 ';compute_alone;' "$traced"
expect_share 40 '^\[not sampled\]' "$traced"
plain "$sprofile" info "${traced%.folded}.sprof"
grep -q '^traced *1 time' out || fail "not told that it was traced"
rm -f p*
profile SPROF_SYMBOLIZE=exit SPROF_TRIGGER=timer \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_cases" traced
expect_status 0
grep -qx 'stopped by 27' out || fail "the trigger asked for was not used"
rm -f p*

# It becomes another user, and its children write files, too.
chmod 777 .
expect_same "$work/single_thread" "$forks"
rm -f p*

# As a user that no longer owns /proc/self.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${nobody[@]}" test -r "$library" 2>/dev/null || nobody=()
plain "${nobody[@]}" env LD_PRELOAD="$library" SPROF_COST=off SPROF_FREQUENCY=10000 \
    SPROF_OUTPUT="$tmp/p.%p.folded" "$work/family_cases" undumpable
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

    # Two of the same number at once, each in its own namespace.
    for i in 1 2; do
        timeout "$deadline" unshare --pid --fork env LD_PRELOAD="$library" \
            SPROF_SYMBOLIZE=exit SPROF_MODE=cpu \
            SPROF_OUTPUT="$tmp/two.folded" "$work/many_threads" 4 500 \
            >"out.$i" 2>"err.$i" &
        for _ in {1..6000}; do
            [ ! -s two.sprof ] || break
            sleep 0.01
        done
    done
    wait
    grep -H '^sprof:' err.? && fail "the profiler complained"
    for file in two.folded two.1.folded; do
        expect_share 95 "$(expected)" "$file" ';worker'
        expect_samples 200 "$file"
    done
fi

finish
