#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the spool of a program that runs is changed from outside.
# Each section names its goals.
. "$(dirname "$0")/lib.sh"

# The spool of a running program is shortened.
# - the program runs to its end, at any rate, however often and to whatever
#   length that is done;
# - what comes after is in its profile, and one line says what was lost;
# - a copy that was made before (log rotation with copytruncate) is a whole
#   spool;
# - a process that is killed after that leaves a spool that reads well.
section "shortened"

# until_true COMMAND...: tries while the program runs.
until_true() {
    until "$@"; do
        kill -0 "$running" 2>/dev/null || { fail "in vain: $*"; return; }
        sleep 0.02
    done
}
# sampled FILE: whether FILE.sprof has some stacks, most of them the program's.
# Where this script has to wait for a CPU, the program still runs after that.
sampled() {
    "$sprofile" info "$1.sprof" 2>/dev/null |
        grep -qE '^states .*running ([4-9][0-9]|[0-9]{3})'
}

# start [NAME=VALUE...] COMMAND...: with nothing left of the last one.
start() {
    rm -f p.*
    profile_begin p "$@"
    until_true sampled p
}

for size in 0 1 100 5000; do
    echo "-- to $size bytes"
    start "$work/known_stack.o2" 4000
    cp p.sprof copy.sprof
    truncate -s "$size" p.sprof
    profile_end
    expect_note p.sprof shortened 'samples of before are lost'
    expect_share 90 'main;through_pointer;pointed_to;with_arguments' p.folded
    expect_samples 30 p.folded
    plain "$sprofile" convert copy.sprof copy.folded
    expect_status 0
    expect_share 90 'main;through_pointer;pointed_to' copy.folded
done

echo "-- again and again"
start SPROF_COST=off SPROF_FREQUENCY=10000 "$work/many_threads" 8 400
while kill -0 "$running" 2>/dev/null && [ -e p.sprof ]; do
    truncate -s 0 p.sprof 2>/dev/null
    sleep 0.0$((RANDOM % 10))
done
profile_end
grep -q '^sprof: .*shortened' err || fail "no message: $(head -n 2 err)"

echo "-- then killed"
start "$work/known_stack.o2" 150000
truncate -s 0 p.sprof
until_true sampled p
kill -KILL "$(cat /proc/"$running"/task/"$running"/children)"
wait "$running" 2>/dev/null
plain "$sprofile" convert p.sprof q.folded
expect_status 0
expect_share 90 'main;through_pointer;pointed_to' q.folded

# A spool that is being written is removed or moved.
# - the program runs to its end, and its profile is written all the same;
# - a spool that is wanted (SPROF_SYMBOLIZE=off, SPROF_KEEP_SPOOL=1) is there;
# - a flight recorder can be asked for what it has, and goes on;
# - a process that changes its user, and may not write there, says how to make
#   the profile;
# - no message names a file that is not there, whatever else is gone.
section "removed or moved"

# start_in_folder [NAME=VALUE...] COMMAND...: its files are in p, where nothing
# is left of the last one.
start_in_folder() {
    rm -rf p
    mkdir p
    profile_begin p/p "$@"
    until_true sampled p/p
}
# Ask the program, the child of timeout, for what it has.
ask_dump() {
    local pid
    pid=$(cat /proc/"$running"/task/"$running"/children)
    timeout "$deadline" "$sprofile" dump "${pid% }" >dump 2>message ||
        fail "dump: $(cat message)"
}
expect_quiet() {
    [ ! -s err ] || fail "messages: $(head -n 3 err)"
}
# expect_profile FILE: of the whole run.
expect_profile() {
    expect_share 90 'main;through_pointer;pointed_to;with_arguments' "$1"
    expect_samples 900 "$1"
}

echo "-- the profile"
for rate in $rates; do
    start_in_folder SPROF_COST=off SPROF_FREQUENCY="$rate" "$work/known_stack.o2" 2000
    rm p/p.sprof
    profile_end
    expect_quiet
    expect_profile p/p.folded
    [ ! -e p/p.sprof ] || fail "the spool is left"
done

echo "-- the profile of one that was moved"
start_in_folder "$work/known_stack.o2" 2000
mv p/p.sprof p/elsewhere.sprof
profile_end
expect_quiet
expect_profile p/p.folded
[ ! -e p/p.sprof ] || fail "the spool is left"
[ -e p/elsewhere.sprof ] || fail "the moved file is gone"

echo "-- the spool"
for setting in SPROF_SYMBOLIZE=off SPROF_KEEP_SPOOL=1; do
    start_in_folder "$setting" "$work/known_stack.o2" 2000
    rm p/p.sprof
    profile_end
    expect_quiet
    [ "$(stat -c %a p/p.sprof)" = 600 ] || fail "$setting: mode of the spool"
    plain "$sprofile" convert p/p.sprof q.folded
    expect_status 0
    expect_profile q.folded
done

echo "-- while it runs"
start_in_folder "$work/known_stack.o2" 4000
rm p/p.sprof
ask_dump
expect_share 90 'main;through_pointer;pointed_to' p/p.dump1.folded
profile_end
expect_profile p/p.folded

echo "-- of a flight recorder"
start_in_folder SPROF_KEEP=1 "$work/known_stack.o2" 5000
rm p/p.sprof
# The next spool has the name again.
until_true [ -s p/p.sprof ]
ask_dump
expect_share 90 'main;through_pointer;pointed_to' p/p.dump1.folded
profile_end
expect_quiet

echo "-- another file has its name"
for way in rm mv; do
    for setting in SPROF_SYMBOLIZE=exit SPROF_KEEP_SPOOL=1; do
        start_in_folder "$setting" "$work/known_stack.o2" 2000
        [ $way = rm ] && rm p/p.sprof || mv p/p.sprof p/p.sprof.1
        echo mine >p/p.sprof
        profile_end
        expect_profile p/p.folded
        grep -qx mine p/p.sprof || fail "somebody else's file is changed"
        if [ "$setting" = SPROF_KEEP_SPOOL=1 ]; then
            expect_note "the spool is $tmp/p/p.spool1.sprof: another file has"
            "$sprofile" convert p/p.spool1.sprof q.folded
            expect_profile q.folded
        else
            expect_quiet
            [ ! -e p/p.spool1.sprof ] || fail "the spool is left"
        fi
    done
done

echo "-- with its directory"
for setting in SPROF_SYMBOLIZE=exit SPROF_SYMBOLIZE=off; do
    start_in_folder "$setting" "$work/known_stack.o2" 2000
    rm -r p
    profile_end
    ! grep p.sprof err || fail "a file is named that is not there"
done

echo "-- the user changes, and may not write there"
[ "$(id -u)" -eq 0 ] || finish
cat >user.py <<'END'
import os, sys, time
def work():
    until = time.process_time() + 0.3
    while time.process_time() < until:
        sum(range(1000))
if sys.argv[1] == "late":
    work()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
work()
print("ok", flush=True)
END
for when in late early; do
    rm -rf p
    mkdir -m 755 p
    profile SPROF_OUTPUT="$tmp/p/p.%p.folded" /usr/bin/python3 user.py $when
    expect_status 0
    grep -qx ok out || fail "the workload did not print ok"
    words=$(sed -n 's/.*Permission denied; .*; to make it: //p' err)
    [[ "$words" == "sprofile convert $tmp/p/p."*".sprof $tmp/p/p."*".folded" ]] ||
        fail "$when: no way to the profile: $(head -n 3 err) $(ls p)"
    plain "$sprofile" ${words#sprofile }
    expect_status 0
    expect_samples 40 "${words##* }"
done

finish
