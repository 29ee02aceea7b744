#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - children of fork compute and end as they do without the library, and each
#   has its own profile;
# - with a template without %p a child gets its pid before the ending;
# - that is so whatever way of forking they come from;
# - SPROF_FORK=off leaves children alone.
. "$(dirname "$0")/lib.sh"

profile SPROF_OUTPUT="$tmp/f.%p.folded" "$work/fork_children" 10 100
expect_ok
count=$(grep -l child_work f.*.folded | wc -l)
[ "$count" -eq 10 ] || fail "$count children have a profile, expected 10"
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

profile SPROF_OUTPUT="$tmp/f.%p.folded" "$work/fork_own_malloc" 12
expect_ok
count=$(grep -l be_child f.*.folded | wc -l)
[ "$count" -eq 12 ] || fail "$count children have a profile, expected 12"
rm -f f.*.folded

profile SPROF_FORK=off SPROF_OUTPUT="$tmp/f.%p.folded" \
    "$work/fork_children" 5 50
expect_ok
! grep -l child_work f.*.folded || fail "a child was profiled"

finish
