#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: with SPROF_KEEP only that much of the past is there, and
# it is complete:
# - a dump has the last seconds, of every thread exactly as many as asked, and
#   each thread once, however many files it was in;
# - a signal that ends the program writes the same; after kill -9 both spools
#   are there, and read as one process, one alone or both;
# - an ordinary end leaves nothing, unless it was asked for;
# - files, memory and descriptors do not grow, whatever the program does;
# - a request while the recorder rotates gets an answer.
. "$(dirname "$0")/lib.sh"

turns=4
[ -z "${SPROF_TEST_FULL:-}" ] || turns=60

# wait_for_turns N: until the recorder has turned as often from now on. After two
# turns nothing is left of what was before. A link keeps the inode from others.
wait_for_turns() {
    local turn past
    has_turned() {
        past=(*.past.sprof */*.past.sprof)
        [ ${#past[@]} -gt 0 ] && ! [ "${past[0]}" -ef before ]
    }
    shopt -s nullglob
    for ((turn = 0; turn < $1; turn++)); do
        rm -f before
        past=(*.past.sprof */*.past.sprof)
        [ ${#past[@]} -eq 0 ] || ln "${past[0]}" before
        until_true has_turned
    done
    shopt -u nullglob
}

# start COMMAND...: with the library, its standard input a pipe that stays open
# until stop_it; waits for its "ready PID", which becomes $pid.
start() {
    rm -f input out fly.* whole.*
    mkfifo input
    timeout -k 5 "$deadline" env LD_PRELOAD="$library" SPROF_ONLY='phases*' \
        SPROF_OUTPUT="$tmp/fly.wall.folded,$tmp/whole.sprof" "$@" \
        <input >out 2>err &
    shell=$!
    exec 9>input
    [[ "$*" != *phases* ]] || wait_for_word ready
    pid=$(sed -n 's/^ready //p' out)
}

# wait_for_word WORD: until the program has said it.
wait_for_word() {
    until_true grep -q "$1" out
    cp out out.ready
}

stop_it() {
    exec 9>&-
    wait "$shell" 2>/dev/null
    status=$?
    cp out out.saved
}

# expect_files NAME...: these are there of what the profiler makes, no others.
expect_files() {
    local found
    found=$(find . -maxdepth 1 \( -name '*fly.*' -o -name '*whole.*' \) \
        -printf '%f\n' | sort | paste -sd' ')
    [ "$found" = "$*" ] || fail "files: \"$found\", expected \"$*\""
}

# check_window LEAST MOST FILE...: the three threads that live through it have
# each between LEAST and MOST ms of wall time in the profile, and stand in it
# once; nothing was sampled before the third phase. Of the one that runs, what
# it ran in a part of a file is an estimate, and what it waited for a CPU up to
# a dump is not known yet. A machine may stand still between two looks, and the
# time is another one: $too_late says so.
check_window() {
    local least=$1 most=$2
    shift 2
    "$sprofile" report --wall --idle --by thread -n 0 "$@" >threads 2>message ||
        fail "report: $(cat message)"
    [ ! -s message ] || fail "report says: $(cat message)"
    awk -v least="$least" -v most="$most" -v main="($pid)" \
        -v stays="($pid) $(sed -n 's/^stays \(.*\)/(\1)/p' out.ready |
            paste -sd' ')" '
        index(stays, $NF) && / phases \([0-9]+\)$/ {
            n++
            fewer = $NF == main ? least / 4 : 0
            more = $NF == main ? most / 20 : 0
            if ($1 * 1000 < least - fewer || $1 * 1000 > most + more)
                print "wall " $1 " s of " $NF ", expected " least " to " most
        }
        END { exit n != 3 }' threads >wrong ||
        fail "other threads that stay: $(cat threads)"
    [ ! -s wrong ] || too_late="$too_late $(cat wrong)"
    "$sprofile" report --by function -n 0 "$@" >functions 2>/dev/null
    grep -q third functions || fail "the last phase is not in the profile"
    ! grep -vE '^(samples|rate)' functions | grep -wE 'first|second' ||
        fail "what was long ago is there"
    "$sprofile" info "$@" >info
    [ "$(grep -c '^process ' info)" -eq 1 ] || fail "not one process"
}

# in_time COMMAND...: at the third try its windows are right.
in_time() {
    local try
    for try in 1 2 3; do
        too_late=
        "$@"
        [ -n "$too_late" ] || return 0
        echo "$try: $too_late"
    done
    fail "$too_late"
}

# last_second RATE: a dump, and what a signal leaves.
last_second() {
    start SPROF_COST=off SPROF_FREQUENCY="$1" SPROF_KEEP=1s "$work/phases" 300
    wait_for_word third
    wait_for_turns 2
    sleep 0.4
    timeout "$deadline" "$sprofile" dump "$pid" >dump.out 2>message ||
        fail "dump: $(cat message)"
    check_window 930 1000 whole.dump1.sprof
    expect_sum whole.dump1.sprof
    expect_samples 500 fly.dump1.wall.folded
    ! grep -E '(;|^)(first|second)[ ;]' fly.dump1.wall.folded ||
        fail "what was long ago is in the folded dump"

    kill -TERM "$pid"
    wait "$shell" 2>/dev/null
    exec 9>&-
    check_window 930 1000 whole.sprof
    expect_sum whole.sprof
    expect_files fly.dump1.wall.folded fly.wall.folded whole.dump1.sprof whole.sprof
    [ ! -s err ] || fail "the profiler complained: $(cat err)"
}

for rate in $rates; do
    echo "-- the last second of many, and a signal that ends it, at $rate Hz"
    in_time last_second "$rate"
done

killed() {
    start SPROF_KEEP=1s "$work/phases" 200
    wait_for_word third
    wait_for_turns 2
    sleep 0.3
    kill -KILL "$pid"
    stop_it
    expect_files fly.past.sprof fly.sprof
    check_window 1000 2150 fly.sprof
    cp threads threads.one
    check_window 1000 2150 fly.past.sprof fly.sprof
    cmp -s threads threads.one || fail "one file and both do not say the same"
    check_window 1000 2150 fly.sprof fly.past.sprof
    cmp -s threads threads.one || fail "one file and both do not say the same"
    plain "$sprofile" convert fly.sprof fly.copy.sprof
    expect_status 0
    check_window 1000 2150 fly.copy.sprof
    expect_sum fly.copy.sprof
    "$sprofile" report --wall --idle --by thread fly.past.sprof >threads
    grep -q "phases ($pid)" threads || fail "the past alone cannot be read"
}

echo "-- kill -9"
in_time killed

echo "-- an ordinary end"
start SPROF_KEEP=1s "$work/phases" 100
wait_for_turns 1
stop_it
expect_ok
expect_files
start SPROF_KEEP=1s "$work/phases" 100 write
stop_it
expect_ok
expect_files fly.dump1.wall.folded whole.dump1.sprof

# run_one_turn RATE: a run in which the recorder turns once; on a machine that
# stands still for two seconds, it may be twice.
run_one_turn() {
    start SPROF_KEEP=2s SPROF_KEEP_SPOOL=1 SPROF_COST=off SPROF_FREQUENCY="$1" \
        SPROF_START=0 "$work/phases" 300
    until_true [ -e fly.past.sprof ]
    stop_it
    ! "$sprofile" info fly.sprof | grep '^kept'
}

echo "-- nothing is lost when it turns"
for rate in $rates; do
    run_one_turn "$rate" || run_one_turn "$rate" || run_one_turn "$rate"
    expect_ok
    expect_files fly.past.sprof fly.sprof
    expect_sum fly.sprof
    # What was taken was counted once.
    sampled=$(sed -n 's/^triggers //p' out | tr ',' '\n' |
        awk '$1 != "kept" { sum += $2 } END { print sum }')
    [ "$sampled" -eq "$(taken_of out)" ] ||
        fail "$(taken_of out) stacks taken, $sampled samples"
    "$sprofile" report --json fly.sprof |
        sed -n 's/^"start_ns".*"duration_ns": \([0-9]*\),$/\1/p' >whole
    "$sprofile" report --wall --idle --by thread -n 0 fly.sprof >threads
    awk -v most="$(cat whole)" -v cpu="$(sed -n 's/^cpu //p' out.saved)" -v wall="$(
        sed -n 's/^wall //p' out.saved)" -v main="($pid)" '
        $NF == main {
            n++
            if ($1 < wall - 0.002 || $1 > most / 1e9 * 1.05)
                print "wall " $1 " s, expected " wall " to " most / 1e9
            if ($4 < cpu - 0.002 || $4 > cpu * 1.01 + 0.02)
                print "cpu " $4 " s, expected " cpu
        }
        END { if (n != 1) print n " main threads" }' threads >wrong
    [ ! -s wrong ] || fail "$(cat wrong)"
done

echo "-- recorded, and with an exec"
rm -f input out fly.* whole.*
mkfifo input
timeout -k 5 "$deadline" env SPROF_KEEP=1s \
    "$sprofile" record -q -o r.txt -- "$work/phases" 100 <input >out 2>err &
shell=$!
exec 9>input
wait_for_word third
wait_for_turns 2
stop_it
expect_ok
grep -q '^kept     the last' r.txt || fail "record does not say what was kept"
! grep -w 'first (phases)' r.txt || fail "what was long ago was recorded"
rm -f r.txt
start SPROF_KEEP=1s SPROF_ONLY='exec_chain*' "$work/exec_chain" 3
stop_it
expect_files

# The descriptors of the sampler, which has its own table.
own_files() {
    local task
    for task in /proc/"$pid"/task/*; do
        [ "$(cat "$task/comm")" != sprof ] ||
            find "$task/fd" -mindepth 1 | wc -l
    done
}

memory_of() {
    sed -n 's/^VmRSS:[ \t]*\([0-9]*\) kB/\1/p' /proc/"$pid"/status
}

echo "-- stacks that are new again and again"
start SPROF_COST=off SPROF_FREQUENCY=10000 SPROF_KEEP=1s SPROF_MAX_SIZE=2M SPROF_BUDGET=100 \
    "$work/phases" stacks
wait_for_turns 2
files=$(own_files) memory=$(memory_of) most_bytes=0
for _ in $(seq "$turns"); do
    wait_for_turns 1
    bytes=$(cat fly.sprof fly.past.sprof 2>/dev/null | wc -c)
    [ "$bytes" -le "$most_bytes" ] || most_bytes=$bytes
done
echo "at most $most_bytes bytes; memory $memory, then $(memory_of) KiB"
[ "$most_bytes" -le $((2 << 20)) ] || fail "$most_bytes bytes of spools"
[ "$(memory_of)" -le $((memory + 8192)) ] || fail "memory grows"
# One is open for an instant now and then.
now=$(own_files)
[ "$now" -le $((files + 2)) ] || fail "descriptors: $now, $files before"
kill -TERM "$pid"
stop_it
expect_samples 50 fly.wall.folded
expect_sum whole.sprof
[ ! -s err ] || fail "the profiler complained: $(cat err)"

echo "-- asked while it turns"
start SPROF_KEEP=1s SPROF_COST=off SPROF_FREQUENCY=10000 SPROF_MAX_SIZE=1M "$work/phases" 100
wait_for_word third
for _ in $(seq 25); do
    timeout "$deadline" "$sprofile" stacks "$pid" >stacks 2>message ||
        fail "stacks: $(cat message)"
    grep -q wait_long stacks || fail "no stack in the dump"
done
for word in stop start stop start; do
    timeout "$deadline" "$sprofile" "$word" "$pid" 2>message ||
        fail "$(cat message)"
    sleep 0.1
done
stop_it
expect_ok

echo "-- the past has no place"
start SPROF_KEEP=1s "$work/phases" 100
until mkdir fly.past.sprof 2>/dev/null; do
    # It has turned already.
    stop_it
    start SPROF_KEEP=1s "$work/phases" 100
done
has_tried() {
    "$sprofile" info fly.sprof | grep -qE '^time .*, ([2-9]|1\.[2-9]|[1-9][0-9])'
}
until_true has_tried
kill -TERM "$pid"
stop_it
rmdir fly.past.sprof
expect_note fly.past.sprof 'cannot be made'
expect_samples 500 fly.wall.folded
expect_files fly.wall.folded whole.sprof

finish
