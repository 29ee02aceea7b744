#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a process that took no sample writes no file;
# - SPROF_ONLY leaves other programs alone: no thread, no file;
# - quiet means quiet.
. "$(dirname "$0")/lib.sh"

profile true
expect_status 0
! [ -s err ] || fail "true has messages: $(cat err)"
! ls p.* 2>/dev/null || fail "true wrote a file"

profile SPROF_ONLY='known_*' "$work/exits" return 100
expect_status 26
! ls p.* 2>/dev/null || fail "SPROF_ONLY did not hold"

profile SPROF_ONLY='known_*' "$work/known_stack.o2" 100
expect_ok
expect_samples 30 p.folded
rm -f p.*

profile SPROF_DELAY=30 "$work/known_stack.o2" 100
expect_ok
! ls p.* 2>/dev/null || fail "SPROF_DELAY did not hold"

profile SPROF_LOG=quiet SPROF_FREQUENCY=none "$work/exits" exit 20
expect_status 21
! [ -s err ] || fail "SPROF_LOG=quiet is not quiet"

finish
