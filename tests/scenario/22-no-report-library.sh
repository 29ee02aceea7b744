#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: libsprof.so without its other half.
# - the spool is kept, one line says so, and sprofile reads it;
# - SPROF_SYMBOLIZE=off asks for just that, without a complaint.
. "$(dirname "$0")/lib.sh"

mkdir alone
cp "$library" alone/
library=$tmp/alone/libsprof.so
profile "$work/known_stack.o2" 300
expect_status 0
grep -qx ok out || fail "the program did not run"
expect_note libsprof-report.so .sprof
! [ -e p.folded ] || fail "a profile came from nowhere"
spool=$(ls ./*.sprof) || fail "no spool was kept"
plain "$sprofile" convert "$spool" q.folded
expect_status 0
expect_share 99 'main;through_pointer;pointed_to' q.folded
rm -f ./*.sprof

library=$build/libsprof.so
profile SPROF_SYMBOLIZE=off "$work/known_stack.o2" 300
[ "$status" -eq 0 ] || fail "status $status"
! grep '^sprof:' err || fail "the profiler complained"
! [ -e p.folded ] || fail "SPROF_SYMBOLIZE=off wrote a profile"
plain "$sprofile" report ./*.sprof
expect_status 0
grep -q work_burn out || fail "the report lacks work_burn"

finish
