#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: somebody shortens the spool of a program that runs.
# - the program runs to its end, at any rate, however often and to whatever
#   length that is done;
# - what comes after is in its profile, and one line says what was lost;
# - a copy that was made before (log rotation with copytruncate) is a spool of
#   its own;
# - a process that is killed after that leaves a spool that reads well.
. "$(dirname "$0")/lib.sh"

# start [NAME=VALUE...] COMMAND...: with nothing left of the last one.
start() {
    rm -f p.*
    profile_begin p "$@"
}

for size in 0 1 100 5000; do
    echo "-- to $size bytes"
    start "$work/known_stack.o2" 1200
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
start SPROF_FREQUENCY=10000 "$work/many_threads" 8 800
while kill -0 "$running" 2>/dev/null && [ -e p.sprof ]; do
    truncate -s 0 p.sprof 2>/dev/null
    sleep 0.0$((RANDOM % 10))
done
profile_end
grep -q '^sprof: .*shortened' err || fail "no message: $(head -n 2 err)"

echo "-- then killed"
start "$work/known_stack.o2" 20000
truncate -s 0 p.sprof
sleep 0.6
kill -KILL "$(cat /proc/"$running"/task/"$running"/children)"
wait "$running" 2>/dev/null
plain "$sprofile" convert p.sprof q.folded
expect_status 0
expect_share 90 'main;through_pointer;pointed_to' q.folded
finish
