#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: settings that are wrong, and places where no profile can
# be written. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# A wrong option value.
# - one line names the variable, the value and what was expected;
# - the program runs as without the library, and no file is written.
section "wrong options"

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
wrong SPROF_OUTPUT p.htm .folded
profile SPROF_OUTPUT=p.folded,p.htm "$work/exits" exit 20
expect_status 21
expect_note SPROF_OUTPUT p.htm .folded
! [ -e p.folded ] || fail "half of a wrong list was written"

wrong SPROF_FREQUENCY '' SPROF_FREQUENCY= 20000

# Places where no profile can be written.
# - one line says which path and why; the program runs as without the library;
# - no signal comes of that line, wherever stderr leads;
# - symbolic links at the name are not followed.
section "places that cannot be written"

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

# What a look can show is said at once, and not when sampling begins.
for name in missing/p.folded "$(printf '%0250d' 0).folded"; do
    profile SPROF_OUTPUT="$tmp/$name" true
    expect_status 0
    expect_note SPROF_OUTPUT "${name%/*}"
done

echo precious >victim
ln -s victim linked.folded
profile SPROF_OUTPUT="$tmp/linked.folded" "$work/known_stack.o2" 100
expect_status 0
[ "$(cat victim)" = precious ] || fail "a symbolic link was followed"
[ ! -L linked.folded ] && [ -s linked.folded ] || fail "the link is still there"

# Nothing reads stderr; or it is a file at its limit, or a terminal that stops
# a process that writes from the background.
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
