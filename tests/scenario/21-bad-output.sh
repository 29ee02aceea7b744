#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: places where no profile can be written.
# - one line says which path and why; the program runs as without the library;
# - no signal comes of that line, wherever stderr leads;
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

# What a look can tell is told at once, and not when sampling begins.
for name in missing/p.folded "$(printf '%0250d' 0).folded"; do
    profile SPROF_OUTPUT="$tmp/$name" true
    expect_status 0
    expect_note SPROF_OUTPUT "${name%/*}"
done

echo precious >victim
ln -s victim p.folded
profile "$work/known_stack.o2" 100
expect_status 0
[ "$(cat victim)" = precious ] || fail "a symbolic link was followed"

# Nobody reads stderr any more; it is a file at its limit; or a terminal that
# stops who writes from the background.
# says_to COMMAND...: runs where the line raises a signal, and at the start,
# where all signals are blocked for some lines.
says_to() {
    local options
    for options in SPROF_MODE=clock SPROF_OUTPUT="$tmp/missing/p.folded"; do
        { "$@" env LD_PRELOAD="$library" "$options" \
            "$work/exits" exit 50 >out; } 2>/dev/null
        status=$?
        : >err
        expect_status 21
        grep -qx ok out || fail "$1, $options: the program did not run"
    done
}
unread() {
    "$@" 2>&9
}
limited() {
    prlimit --fsize=4096 "$@" 2>>limit
}
background() {
    python3 "$here/background.py" "$@"
}
mkfifo pipe
exec 8<>pipe 9>pipe 8>&-
says_to unread
exec 9>&-
head -c 4096 /dev/zero >limit
says_to limited
says_to background

# A full disk, where one can be made.
mkdir full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
    profile SPROF_OUTPUT="$tmp/full/p.folded" "$work/exits" exit 300
    expect_status 21
    grep -qx ok out || fail "full disk: the program did not run"
    umount full
fi

finish
