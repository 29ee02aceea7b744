#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a wrong option value.
# - one line names the variable, the value and what was expected;
# - the program runs as without the library, and no file is written.
. "$(dirname "$0")/lib.sh"

# wrong VARIABLE VALUE WORD...
wrong() {
    local variable=$1 value=$2
    shift 2
    profile "$variable=$value" "$work/exits" exit 20
    expect_status 21
    expect_note "$variable" "$value" "$@"
    grep -qx ok out || fail "$variable=$value: the program did not run"
    ! ls p.* 2>/dev/null || fail "$variable=$value: a file was written"
    rm -f p.*
}

wrong SPROF_FREQUENCY 0 1 20000
wrong SPROF_FREQUENCY 20001 20000
wrong SPROF_FREQUENCY fast
wrong SPROF_FREQUENCY -5
wrong SPROF_MODE clock wall cpu
wrong SPROF_TRIGGER gun auto
wrong SPROF_MAX_DEPTH 1e3
wrong SPROF_DELAY soon
wrong SPROF_FORK maybe follow off
wrong SPROF_SIGNAL SIGNOTHING
wrong SPROF_SIGNAL 9
wrong SPROF_KEEP 0.5
wrong SPROF_KEEP_SPOOL yes
wrong SPROF_MAX_SIZE 12Q
wrong SPROF_LOG loud quiet debug
wrong SPROF_OUTPUT p.xyz .pb.gz .folded .txt
wrong SPROF_OUTPUT p.html .folded
profile SPROF_OUTPUT=p.folded,p.html "$work/exits" exit 20
expect_status 21
expect_note SPROF_OUTPUT p.html .folded
! [ -e p.folded ] || fail "half of a wrong list was written"

wrong SPROF_FREQUENCY '' SPROF_FREQUENCY= 20000

finish
