#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: sprofile top.
# - --once shows the hot function and what each thread does, from a pid and from
#   a spool, and nothing that a terminal would obey;
# - it says whether the process is sampled, and why not;
# - a process that is not profiled, or is not there, is one clear error;
# - while it shows a process, that is sampled at the rate that was asked for, and
#   not afterwards;
# - in a terminal: keys, other sizes, the next image after exec, the end of the
#   process, and the terminal is as it was when it is left.
. "$(dirname "$0")/lib.sh"

# begin NAME [ARGUMENT...]: the workload in the background, its pid in $pid.
begin() {
    local name=$1
    shift
    env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/$name.folded" \
        "$work/busy_and_waiting" "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    until_true [ -s "$name.sprof" ]
}

# top ARGUMENT...: once, and what it printed.
top() {
    plain "$sprofile" top --once "$@"
}

# row REGEX: the numbers in the only line that matches.
row() {
    local count
    count=$(grep -cE -- "$1" out)
    [ "$count" -eq 1 ] || fail "$count lines have $1, expected 1"
    grep -E -- "$1" out | head -n 1
}

# expect_wrong STATUS WORD ARGUMENT...: one line, or two with the hint, and
# nothing on stdout.
expect_wrong() {
    local expected=$1 word=$2
    shift 2
    plain "$sprofile" top "$@"
    expect_status "$expected"
    [ ! -s out ] || fail "wrong arguments print something: $*"
    # What can be watched is listed below that (scenario 84).
    sed -i '/^These processes run\|^No process that/,$d' err
    [ "$(wc -l <err)" -eq "$expected" ] || fail "not one message: $(cat err)"
    grep -q -- "$word" err || fail "the message lacks $word: $(cat err)"
}

echo "-- once"
begin a 600000
# However little of a CPU the burner gets.
for seconds in 1.2 4 16 64; do
    top -d $seconds $pid
    awk '/ hot_spot / && $4 >= 0.1 { found = 1 } END { exit !found }' out && break
done
expect_status 0
[ ! -s err ] || fail "a complaint: $(head -n 1 err)"
sed 's/^/    /' out
! grep -q '[[:cntrl:]]' out || fail "control characters"
grep -qx "process  $pid, [0-9.]* s, sampling" out || fail "no process"
grep -qE "^command  .*busy_and_waiting 600000$" out || fail "no command"
grep -qE '^cpu      [0-9.]+ % of one CPU, [0-9.]+ % since the start$' out ||
    fail "no CPU time"
grep -qE '^samples  [0-9]+ a second, [0-9]+ since the start; [0-9]+ looks at' out ||
    fail "no samples"
grep -qE '^threads  4: [0-3] running, [1-4] waiting' out || fail "no threads"
grep -qE '^lost     .* of [0-9]+ asked' out || fail "no losses"
grep -qE '^cost     sampler ' out || fail "no cost"
# The first function is hot_spot; one thread runs, others wait.
sed -n '/^functions by/,/^$/p' out | sed -n 3p >first
awk '$1 >= 80 && $3 >= $1 && $4 >= 0.1 && $6 == "hot_spot" { found = 1 }
    END { exit !found }' first || fail "not hot_spot first: $(cat first)"
# On a loaded machine it waits for a CPU.
row ' burner  ' | awk '$1 + $2 < 50 { exit 1 }' || fail "the burner is idle"
row ' reader  ' | awk '$1 > 5 || $3 < 80 || $7 != "read" { exit 1 }' ||
    fail "the reader does not wait"
grep -q ' reader  .*  read  *pipe:' out || fail "not what the reader waits for"
grep -qF ' odd?[31m? ' out || fail "not the name without control characters"

echo "-- options"
top -d 0.3 --by thread --sort name -n 2 $pid
expect_status 0
! grep -q '^functions' out || fail "functions with --by thread"
grep -qx '(2 more; -n 0 shows all)' out || fail "not two rows of four"
top -d 0.3 --wall --idle --by function --sort total --since-start -n 0 $pid
expect_status 0
grep -qx 'functions by total wall time, shares of all' out || fail "no view"
awk '/ (start_thread|clone3) / && $3 < 60 { exit 1 }' out ||
    fail "most wall time is not in threads"
top -d 0.3 --thread reader --wall $pid
expect_status 0
grep -qx 'filter   --thread reader' out || fail "no filter"
! grep -q 'hot_spot\|burner' out || fail "the filter leaves other threads"
top -d 0.3 --focus '^hot_spot$' --since-start a.sprof
expect_status 0
grep -q ' 100.0  *[0-9.]*  *100.0 .* hot_spot ' out || fail "not the spool by its name"
top -d 0.3 --color always $pid
grep -q "$(printf '\033')\[31m" out || fail "no colour"
plain "$sprofile" top --help
expect_status 0

in_state() {
    top -d 0.1 "$1"
    grep -qE "^process  $1, .*, $2\$" out
}

# expect_state PID WORDS: that is what it says of the profiler, sooner or later.
expect_state() {
    until_true in_state "$@" || fail "not \"$2\": $(grep '^process' out)"
}

echo "-- what the profiler does"
watched=$pid
SPROF_START=0 begin later 600000
expect_state $pid 'waits to begin'
"$sprofile" start $pid || fail "it does not start"
expect_state $pid sampling
"$sprofile" stop $pid || fail "it does not stop"
expect_state $pid stopped
kill $pid
wait $pid 2>/dev/null
SPROF_MAX_SIZE=1M SPROF_COST=off SPROF_FREQUENCY=20000 SPROF_BUDGET=100 begin full 600000
expect_state $pid 'sampling is over: the spool is full'
kill $pid
wait $pid 2>/dev/null
pid=$watched

echo "-- the rate while somebody looks"
# full_rate_in FILE: the process's CPU seconds at that rate, and in all.
full_rate_in() {
    "$sprofile" report --json deep.sprof | python3 -c '
import json, sys
epochs = json.load(sys.stdin)["epochs"]
print(sum(e["cpu_ns"] for e in epochs if e["period_ns"] == 1000000) / 1e9,
      sum(e["cpu_ns"] for e in epochs) / 1e9)' >"$1"
}

# differs TEST: whether, since then, TEST holds for the CPU seconds at the full
# rate (full) and all others (rest).
differs() {
    full_rate_in now
    paste -d ' ' then now |
        awk "{ full = \$3 - \$1; rest = \$4 - \$2 - full; exit !($1) }"
}

# Deep stacks cost more than 1 % at the full rate, on any machine.
env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/deep.folded" SPROF_MAX_DEPTH=16384 \
    "$work/deep_recursion" 12000 600000 >deep.out 2>deep.err &
pid=$!
until_true [ -s deep.sprof ]
echo 0 0 >then
until_true differs 'rest > 0.2'
full_rate_in then
"$sprofile" top --once -d 600 $pid >/dev/null &
looker=$!
until_true differs 'full > 0.2'
kill -KILL $looker
wait $looker 2>/dev/null
full_rate_in then
until_true differs 'rest > 0.2'
full_rate_in then
until_true differs 'full == 0 && rest > 0.5'
"$sprofile" stacks --watch 0.5 $pid >/dev/null &
looker=$!
until_true differs 'full > 0.2'
kill $looker
wait $looker 2>/dev/null
kill $pid
wait $pid 2>/dev/null
pid=$watched

echo "-- a spool that is whole: the same as its report"
profile SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 400
expect_status 0
plain "$sprofile" report p.sprof
awk '/ leaf_spin / { print $4 }' out >reported
top p.sprof
grep -qE '^process .*, has ended$' out || fail "not the end"
awk '/ leaf_spin / { print $5 }' out >shown
paste -d ' ' reported shown
paste -d ' ' reported shown | awk '
    { found = $1 > 0 && $2 > 0.95 * $1 && $2 < 1.05 * $1 }
    END { exit !found }' || fail "not what the report says"

echo "-- what is wrong"
expect_wrong 2 'expected a PID'
expect_wrong 2 'expected a PID' --once 1 2
expect_wrong 2 'expected --once' $pid
expect_wrong 2 'expected seconds' --once -d 0 $pid
expect_wrong 2 'expected function' --once --by line $pid
expect_wrong 2 'expected self' --once --sort tid $pid
expect_wrong 2 'expected a number' --once -n x $pid
expect_wrong 1 'is not profiled' --once $$
expect_wrong 1 'no process' --once 4194303
expect_wrong 1 'No such file' --once nothing.sprof
echo text >text
expect_wrong 1 'not a spool' --once text
! grep -q . a.err || fail "the process said: $(cat a.err)"

in_pane() {
    tmux -L "$server" capture-pane -p >pane 2>/dev/null
    grep -qE -- "$1" pane
}

# shows REGEX: sooner or later.
shows() {
    until_true in_pane "$1" && return
    fail "the terminal does not show: $1"
    sed 's/^/    /' pane
}

keys() {
    tmux -L "$server" send-keys "$@"
}

finish_without_tmux() {
    kill $pid
    wait $pid 2>/dev/null
    finish
}

has tmux || finish_without_tmux
server=none
terminals=0
export TMUX_TMPDIR=$tmp
trap 'tmux -L "$server" kill-server 2>/dev/null; rm -rf "$tmp"' EXIT

# terminal PID [LOCALE]: top in a terminal of 100 times 30; when it is left, the
# screen says its status and whether the terminal is as it was. A server that
# ends takes new sessions, so each has its own.
terminal() {
    server=sprof.$((++terminals))
    cat >run.sh <<END
trap : INT
before=\$(stty -g)
env LC_ALL=${2:-C.UTF-8} "$sprofile" top -d 0.2 $1
echo "status \$?"
[ "\$(stty -g)" = "\$before" ] && echo same terminal
sleep 600
END
    tmux -L "$server" -f /dev/null new-session -d -x 100 -y 30 "sh ./run.sh" ||
        fail "tmux does not start"
}

left() {
    shows '^status 0$'
    shows '^same terminal$'
    ! grep -q hot_spot pane || fail "the screen was not put back"
    tmux -L "$server" kill-server
}

terminal $pid
shows ' hot_spot \(busy_and_waiting\)'
shows '^functions by self CPU time, shares of the last 0\.'
shows "^process  $pid, .*, sampling"
keys t
shows '^threads by CPU time, shares'
shows ' reader  .* read  *pipe:'
shows ' odd\?\[31m\? '
keys s
shows '^threads by tid'
keys w
keys f
shows '^functions by self wall time'
keys s r
shows '^functions by total wall time, shares of all'
keys p
shows ', paused$'
keys p
shows ', sampling$'
keys h
shows '^  q, Ctrl-C '
keys x
shows '^functions by total'
# Narrow, of one line, and large again.
tmux -L "$server" resize-window -x 45 -y 10
shows "^process  $pid, sampling, "
shows '^  self %    ±  total %  function'
shows '^q quit'
tmux -L "$server" resize-window -x 10 -y 1
sleep 0.7
tmux -L "$server" resize-window -x 140 -y 40
shows '^cost     sampler .* parked'
keys c r s s
shows ' hot_spot \(busy_and_waiting\)'
keys Down
shows '^functions by self CPU'
shows '^functions by self'
keys q
left

echo "-- Ctrl-C, in a locale without UTF-8"
terminal $pid C
shows ' hot_spot \(busy_and_waiting\)'
keys C-c
left

echo "-- terminals of no use"
# not_in SETTING WHY
not_in() {
    timeout "$deadline" script -qec "env $1 '$sprofile' top $pid" /dev/null >out \
        </dev/null
    grep -q "$2: try --once" out || fail "in $1: $(head -n 3 out)"
}
not_in TERM=nonsense 'TERM is not known here'
not_in TERM=dumb 'cannot place its cursor'
not_in '-u TERM' 'TERM is not set'

{ kill $pid && wait $pid; } 2>/dev/null

echo "-- the next image, and the end"
begin b 0 exec
terminal $pid
shows ' hot_spot '
kill -USR1 $pid
shows ' next_spot '
kill -USR1 $pid
shows "^process  $pid, .*, has ended"
shows '^it has ended'
keys t
shows '^threads by CPU'
keys Enter
left
wait $pid
expected=$?
[ $expected -eq 0 ] && grep -qx ok b.out || fail "the workload is not ok"
[ ! -s b.err ] || fail "the process said: $(cat b.err)"

finish
