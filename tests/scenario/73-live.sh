#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a process that runs is asked for its stacks, and is
# started, stopped and written out, from outside and by itself, and notices
# nothing of it:
# - every thread is in a dump, with its stack or the reason; deadlocks are found;
# - no thread is woken, no wait ends early;
# - dumps go on while threads, children and libraries come and go;
# - a profile holds exactly the time between starts and stops.
. "$(dirname "$0")/lib.sh"

dumps=100
times=100
[ -z "${SPROF_TEST_FULL:-}" ] || dumps=1000 times=1000

# start COMMAND...: with the library, its standard input a pipe that stays open
# until stop_it; waits for its "ready PID", which becomes $pid.
start() {
    rm -f input out err live.*
    mkfifo input
    env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/live.wall.folded" "$@" \
        <input >out 2>err &
    shell=$!
    exec 9>input
    until_true grep -q ready out
    pid=$(sed -n 's/^ready //p' out)
    [ -n "$pid" ] || { fail "not ready: $*"; finish; }
}

stop_it() {
    exec 9>&-
    wait "$shell"
    status=$?
}

# expect_text FILE PATTERN...: each is in a line of FILE.
expect_text() {
    local file=$1 pattern
    shift
    for pattern in "$@"; do
        grep -qE -- "$pattern" "$file" || fail "no \"$pattern\" in $file"
    done
}

# expect_circle FILE THREADS: the dump of waits_in_circle.
expect_circle() {
    expect_text "$1" "^threads  $2 in" '^Deadlock: 3 threads' \
        'circle-0 \([0-9]+\) waits for the mutex of circle-1' \
        'circle-2 \([0-9]+\) waits for the mutex of circle-0' \
        'in lock_next waits_in_circle.c:[0-9]+' \
        '^500 threads waiting in poll' 'stay_idle waits_in_circle.c' \
        'main waits_in_circle.c' 'no stack: it runs and blocks the signal' \
        '^  deaf \([0-9]+\)'
    [ "$(grep -c '^Deadlock' "$1")" -eq 1 ] || fail "not one deadlock in $1"
}

echo "-- stacks of 508 threads"
for rate in $rates; do
    start SPROF_COST=off SPROF_FREQUENCY="$rate" "$work/waits_in_circle" 500
    # A thread that computes answers when it has a CPU.
    has_computed() {
        timeout "$deadline" "$sprofile" stacks "$pid" >stacks 2>message &&
            grep -q 'compute waits_in_circle.c' stacks &&
            grep -qE '^[12] threads? running' stacks
    }
    for _ in 1 2 3; do
        until_true has_computed || fail "stacks: $(cat message)"
    done
    kill -35 "$pid"
    until_true grep -q '^  deaf' err
    stop_it
    expect_status 0
    expect_circle stacks 508
    expect_circle err 508
    expect_text out '^early 0$' '^switches 0$' '^progress yes$' '^ok$'
    if grep -q 'stopped y' out; then
        expect_text stacks 'stopped by a debugger' '^  stopped \('
    fi
done

echo "-- dumps while all changes"
for rate in $rates; do
    profile SPROF_COST=off SPROF_FREQUENCY="$rate" "$work/dump_storm" "$dumps" "$work/plugin.so"
    expect_ok
    expect_text out '^missing 0$' '^failed 0$' '^descriptors flat$' \
        '^memory flat$'
done

# expect_time SPOOL: what each thread was seen to do is all of the time between
# starts and stops, which lies between what the program measured.
expect_time() {
    "$sprofile" report --wall --idle --by thread "$1" >threads 2>message ||
        fail "$(cat message)"
    awk -v least="$(sed -n 's/^least //p' out)" \
        -v most="$(sed -n 's/^most //p' out)" '
        /starts_and_stop.*\([0-9]+\)$/ {
            n++
            if ($1 * 1e9 < least * 0.99 - 1e6 || $1 * 1e9 > most * 1.01 + 1e6)
                print "wall " $1 " not in " least " to " most " ns"
        }
        END { if (n != 2) print n " threads, expected 2" }' threads >wrong
    [ ! -s wrong ] || fail "$(cat wrong)"
}

echo "-- started and stopped by the program"
for rate in $rates; do
    profile SPROF_START=0 SPROF_COST=off SPROF_FREQUENCY="$rate" SPROF_OUTPUT="$tmp/s.sprof" \
        "$work/starts_and_stops" "$times"
    expect_ok
    expect_text out '^wrong 0$'
    expect_time s.sprof
    "$sprofile" report --by function -n 0 s.sprof >functions
    expect_text functions shown_work
    "$sprofile" info s.sprof >info
    expect_text info "^sessions $times times of sampling, "
    ! grep hidden_work functions || fail "what was not sampled is in the profile"
    rm -f s.sprof
done
plain "$work/starts_and_stops" 2
expect_text out '^wrong 5$'

echo "-- started, stopped and written by command"
start SPROF_START=0 "$work/waits_in_circle" 3
for word in start stop start dump; do
    timeout "$deadline" "$sprofile" "$word" "$pid" >"$word.out" 2>message ||
        fail "$word: $(cat message)"
    sleep 0.1
done
expect_text dump.out 'live.dump1.wall.folded$'
[ -s live.dump1.wall.folded ] || fail "nothing written by dump"
stop_it
expect_text live.wall.folded 'stay_idle'

echo "-- the last words of a program"
ulimit -c 0
profile SPROF_DUMP_ON=SIGSEGV,ABRT SPROF_ONLY='python3*' /usr/bin/python3 -c '
import ctypes, os, threading, time
thread = threading.Thread(target=threading.Event().wait, daemon=True)
thread.start()
def waits():
    with open(f"/proc/self/task/{thread.native_id}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S"
while not waits() or not os.path.exists("p.sprof"):
    time.sleep(0.02)
ctypes.string_at(0)'
expect_status 139
expect_text err '^threads  2 in' 'string_at' 'in futex' '^1 thread running'
! grep -E 'on_fatal|sys_futex' err || fail "our own frames are shown"
profile SPROF_DUMP_ON=SIGABRT SPROF_ONLY=bash bash -c 'kill -ABRT $$; echo alive'
expect_status 134
expect_text err '^Stacks of bash'
profile SPROF_DUMP_ON=SIGTERM true
expect_note SPROF_DUMP_ON SIGTERM SIGSEGV

echo "-- the signal stays the program's"
profile SPROF_DUMP_SIGNAL=SIGUSR1 bash -c 'trap "echo mine" USR1; kill -USR1 $$'
expect_status 0
expect_text out mine

finish
