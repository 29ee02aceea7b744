#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: spools that a kill left, or that are damaged. Each section
# names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - after kill -9 in the middle of a run the spool holds everything up to the
#   last tick: the report reads it and says so.
section "killed"

env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
    "$work/known_stack.o2" 200000 >out 2>err &
victim=$!
# cpu_ms SPOOL: how much it says that the program has used.
cpu_ms() {
    "$sprofile" info "$1" 2>/dev/null |
        awk '/^totals/ { ms = 1000 * $2 } END { printf "%d\n", ms }'
}
before=0 end=$((SECONDS + deadline))
until [ "$before" -ge 800 ] || [ "$SECONDS" -ge "$end" ]; do
    sleep 0.05
    before=$(cpu_ms p.sprof)
done
kill -KILL "$victim"
wait "$victim" 2>/dev/null
! [ -e p.folded ] || fail "a killed process wrote its profile"
spool=$(ls ./*.sprof) || { fail "no spool"; finish; }

plain "$sprofile" convert "$spool" q.folded
expect_status 0
expect_share 99 'main;through_pointer;pointed_to;with_arguments' q.folded

plain "$sprofile" report "$spool"
expect_status 0
grep -q work_burn out || fail "the report lacks work_burn"

# All that it held before.
[ "$before" -ge 800 ] && [ "$(cpu_ms "$spool")" -ge "$before" ] ||
    fail "$(cpu_ms "$spool") ms of CPU time, there were $before"

# Spools that are none, or damaged.
# - every command survives any content: status 0 or 1, never a crash;
# - what is valid is used and the damage is named; status 1 if nothing is
#   valid.
section "damaged"

profile SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 300
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
for round in $(seq 1 20); do
    cp "$spool" flipped.sprof
    for _ in 1 2 3; do
        offset=$(((RANDOM * 32768 + RANDOM) % (round < 10 ? 4096 : size)))
        printf "\\x$(printf %x $((RANDOM % 256)))" |
            dd of=flipped.sprof bs=1 seek="$offset" conv=notrunc status=none
    done
    survives flipped.sprof
done

finish
