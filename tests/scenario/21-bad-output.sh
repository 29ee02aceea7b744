#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: places where no profile can be written.
# - one line says which path and why; the program runs as without the library;
# - symbolic links at the name are not followed.
. "$(dirname "$0")/lib.sh"

# unwritable PATH
unwritable() {
    profile SPROF_OUTPUT="$1" "$work/exits" exit 50
    expect_status 21
    expect_note "$(dirname "$1")"
    grep -qx ok out || fail "$1: the program did not run"
}

: >file
unwritable "$tmp/missing/p.folded"
unwritable "$tmp/file/p.folded"
unwritable /proc/p.folded
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 500 closed
    unwritable "$tmp/closed/p.folded"
fi

echo precious >victim
ln -s victim p.folded
profile "$work/known_stack.o2" 100
expect_status 0
[ "$(cat victim)" = precious ] || fail "a symbolic link was followed"

# A full disk, where one can be made.
mkdir full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
    profile SPROF_OUTPUT="$tmp/full/p.folded" "$work/exits" exit 300
    expect_status 21
    grep -qx ok out || fail "full disk: the program did not run"
    umount full
fi

finish
