#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: spools that are none, or damaged.
# - every command survives any content: status 0 or 1, never a crash;
# - what is valid is used and the damage is told; status 1 if nothing is valid.
. "$(dirname "$0")/lib.sh"

profile SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 500
expect_ok
spool=$(ls ./*.sprof) || { fail "no spool was kept"; finish; }
size=$(stat -c %s "$spool")

# survives FILE: all commands end by themselves.
survives() {
    local command
    for command in report info "convert"; do
        if [ "$command" = convert ]; then
            plain "$sprofile" convert "$1" c.folded
        else
            plain "$sprofile" "$command" "$1"
        fi
        case $status in
        0 | 1) ;;
        *) fail "$command on $1: status $status" ;;
        esac
        [ "$status" -eq 0 ] || [ -s err ] || fail "$command $1: no message"
    done
}

# refuses FILE: not a spool at all.
refuses() {
    plain "$sprofile" report "$1"
    expect_status 1
    grep -q "$(basename "$1")" err || fail "the message does not name $1"
}

: >empty.sprof
head -c 8000 /dev/urandom >random.sprof
echo "hello, world" >text.sprof
head -c 40 "$spool" >header.sprof
mkdir directory.sprof
for file in empty random text header directory; do
    refuses "$file.sprof"
done
refuses missing.sprof

for percent in 5 30 60 90 99; do
    head -c $((size * percent / 100)) "$spool" >cut.sprof
    survives cut.sprof
done
head -c $((size * 6 / 10)) "$spool" >cut.sprof
plain "$sprofile" report cut.sprof
expect_status 0
grep -q work_burn out || fail "the valid part of a cut spool was not used"

# Bytes turned over, at places that a fixed seed chooses.
RANDOM=4711
for round in $(seq 1 25); do
    cp "$spool" flipped.sprof
    for _ in 1 2 3; do
        offset=$(((RANDOM * 32768 + RANDOM) % (round < 10 ? 4096 : size)))
        printf "\\x$(printf %x $((RANDOM % 256)))" |
            dd of=flipped.sprof bs=1 seek="$offset" conv=notrunc status=none
    done
    survives flipped.sprof
done

finish
