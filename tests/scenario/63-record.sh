#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: sprofile record and merge.
# - the program's output, status and signals are its own;
# - one profile of all processes, also of killed ones, and nothing else is left;
# - a line says what cannot be profiled before it runs;
# - wrong options end with 2, and nothing runs;
# - a line on the terminal while the program is silent, gone at the end.
. "$(dirname "$0")/lib.sh"

# What a recording leaves: the directory holds nothing but FILEs.
expect_files() {
    local left
    left=$(cd run && echo *)
    [ "$left" = "$*" ] || fail "left: $left, expected: $*"
    rm -rf run
    mkdir run
}

# record ARGUMENT...: in the directory run.
record() {
    plain sh -c 'cd run && exec "$@"' sh "$sprofile" record "$@"
}

# has_run PID: it has used 0.3 s of CPU time.
has_run() {
    awk '{ sub(/.*\) /, ""); exit !($12 + $13 >= 30) }' "/proc/$1/stat"
}

mkdir run
cat >job.py <<'END'
import os, signal, sys, time
end = time.thread_time() + 0.1
while time.thread_time() < end:
    sum(range(1000))
print(sys.argv[1:], os.environ.get("SPROF_MODE"))
sys.exit(7)
END
record -o p.folded -m cpu -- /usr/bin/python3 "$tmp/job.py" -o x
expect_status 7
[ "$(cat out)" = "['-o', 'x'] cpu" ] || fail "the program printed: $(cat out)"
grep -q '^sprof: wrote p.folded: .* samples of 1 thread, ' err ||
    fail "no summary: $(cat err)"
grep -q '^lost ' err && grep -q '^cost ' err || fail "no losses, no cost"
grep -q '^ *[0-9.]* % ± *[0-9.]*  ' err || fail "no functions"
expect_samples 50 run/p.folded
expect_files p.folded

echo "-- statuses"
record -q -- sh -c 'kill -9 $$'
expect_status 137
record -q -- sh -c 'kill -15 $$'
expect_status 143
rm -f run/sprof.*
record nosuchprogram
expect_status 127
grep -q '^sprofile record: nosuchprogram: No such' err || fail "$(cat err)"
touch run/plain
record ./plain
expect_status 126
rm run/plain

echo "-- the names of generated code"
cat >print.py <<'END'
import os
for name in "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "DOTNET_PerfMapEnabled", "PYTHONPERFSUPPORT":
    print(os.environ.get(name, "none"))
END
export NODE_OPTIONS=--no-warnings DOTNET_PerfMapEnabled=0
record --jit -o p.folded -- /usr/bin/python3 "$tmp/print.py"
expect_status 0
node='--no-warnings --perf-basic-prof-only-functions --interpreted-frames-native-stack'
java=$(sed -n 2p out)
printf '%s\n' "$node" "$java" 0 none | cmp -s - out || fail "--jit sets: $(cat out)"
[[ " $java " == *" -XX:+PreserveFramePointer "* &&
    " $java " == *" -XX:+DumpPerfMapAtExit "* ]] || fail "--jit sets for Java: $java"
grep -qxF "jit   NODE_OPTIONS='$node' for Node" err &&
    grep -qxF "jit   JAVA_TOOL_OPTIONS='$java' for Java" err &&
    ! grep -q DOTNET err || fail "--jit says: $(cat err)"
record --jit -q -o p.folded -- /usr/bin/python3 "$tmp/print.py"
[ ! -s err ] || fail "--jit -q says: $(cat err)"
unset NODE_OPTIONS DOTNET_PerfMapEnabled
rm -rf run
mkdir run
has node && {
    echo 'function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 7) % 1009; return s; }
const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
const until = 4 * used() + 300000;
while (used() < until) leaf(1e5);' >leaf.js
    record --jit -o p.folded -- node "$tmp/leaf.js"
    expect_status 0
    expect_share 60 ';leaf[ ;]' run/p.folded '__libc_start_main;.*[^]] [0-9]*$'
    map=$(sed -n 's|^jit   names of generated code are left in \(/tmp/perf-[0-9]*.map\), .*|\1|p' err)
    [ -s "$map" ] || fail "--jit does not say what node left: $(cat err)"
    rm -f "$map"
    expect_files p.folded
}

echo "-- programs that are too short for a sample"
for short in "0 true" "1 false" "3 sh -c exit\${IFS}3"; do
    # One that a loaded machine slows down may have a sample, but not each time.
    for i in {1..60}; do
        # shellcheck disable=SC2086
        record -o p.sprof,p.pb.gz,p.folded,p.json,p.speedscope.json,p.txt -- \
            ${short#* }
        expect_status "${short%% *}"
        ! grep -q ': 0 samples of 0 threads, ' err || break
    done
    grep -q '^sprof: wrote p.sprof, .*: 0 samples of 0 threads, ' err ||
        fail "no summary: $(cat err)"
    grep -qE '^rate .*(\(processes begin before they can be sampled\)|less than one point due)' err ||
        fail "no reason: $(cat err)"
    for file in p.sprof p.pb.gz; do
        plain "$sprofile" info run/$file
        expect_status 0
        grep -qE "^command .*${short#* }" out || grep -q '^command .*sh -c' out ||
            fail "$file: no command: $(cat out)"
        grep -qE '^due .* not asked(: [0-9]+ early)?$' out ||
            fail "$file: no reason: $(cat out)"
        plain "$sprofile" report --csv run/$file
        expect_status 0
        grep -q '\[not sampled\]' out || fail "$file: no time: $(cat out)"
    done
    plain "$sprofile" diff run/p.sprof run/p.pb.gz
    expect_status 0
    plain "$sprofile" merge -o run/p.folded run/p.sprof run/p.pb.gz
    expect_status 0
    grep -qE '^\[not sampled\] [1-9]' run/p.folded || fail "folded: no time"
    expect_files p.folded p.json p.pb.gz p.speedscope.json p.sprof p.txt
done
record true
expect_status 0
grep -q '^sprof: wrote sprof.true.[0-9]*.sprof: ' err || fail "$(cat err)"
rm -f run/sprof.*
expect_files '*'

echo "-- no process that the library was in"
record -o p.sprof -- env -i /bin/true
expect_status 1
grep -q '^sprofile record: no profile is written: ' err ||
    fail "no word about no profile: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || fail "more than a line: $(cat err)"
expect_files '*'
record -q -o p.sprof -- env -i /bin/sh -c 'exit 3'
expect_status 3
grep -q '^sprofile record: no profile is written: ' err || fail "$(cat err)"
expect_files '*'

echo "-- what is wrong is told, and nothing runs"
for wrong in "-F 0" "-F x" "-m some" "-d 1x" "-o a.svg" "--frobnicate" "-o"; do
    # shellcheck disable=SC2086
    record $wrong sh -c 'echo ran'
    expect_status 2
    [ ! -s out ] || fail "ran all the same: $wrong"
done
grep -q -- --help err || fail "no hint at --help"
record -F 0 true
grep -qx 'sprofile record: -F 0: expected an integer from 1 to 20000' err ||
    fail "$(cat err)"
record
expect_status 2
record -o nowhere/p.txt sh -c 'echo ran'
expect_status 1
[ ! -s out ] || fail "ran without a place for its profile"
plain env SPROF_FREQUENCY=0 "$sprofile" record echo ran
expect_status 1
[ ! -s out ] || fail "ran with a wrong environment"
expect_files '*'

echo "-- programs that no library can be loaded into"
# Scenario 83 has what such a program starts.
if [ "$(id -u)" -eq 0 ]; then
    cp /bin/true own && chown nobody own && chmod 4755 own
    record "$tmp/own"
    expect_status 1
    grep -q 'own is set-user-ID' err || fail "$(cat err)"
fi
expect_files '*'

echo "-- how it ended is told, if that was not with success"
record -o p.sprof -- sh -c 'exit 7'
grep -qx 'end   exit status 7' err || fail "no status: $(cat err)"
record -o p.sprof -- sh -c 'kill -15 $$'
grep -qx 'end   killed by signal 15 (Terminated)' err || fail "$(cat err)"
record -o p.sprof -- sh -c 'exit 0'
! grep '^end ' err || fail "success was told"
expect_files p.sprof

echo "-- CPU time that no process tells"
cat >second.py <<'END'
import time
while time.thread_time() < 1:
    sum(range(1000))
END
record -o p.sprof -- /usr/bin/python3 "$tmp/second.py"
# Its end alone is unseen.
! grep -E '^unseen .* [0-9]{2,}\.[0-9] %' err || fail "unseen, though it was there"
record -o p.sprof,p.pb.gz,p.json -- \
    sh -c 'env -u LD_PRELOAD /usr/bin/python3 "$1"; :' sh "$tmp/second.py"
expect_status 0
grep -qE '^unseen 1\.[0-9]+ s CPU, 9[0-9]\.[0-9] % of 1\.[0-9]+ s: ' err ||
    fail "what ran without the library is not told: $(cat err)"
told=$(sed -n 's/^unseen //p' err)
grep -q "$told" run/p.json || fail "not in the json: $told"
plain "$sprofile" convert run/p.sprof run/q.sprof
plain "$sprofile" convert --thread '*' run/p.sprof run/r.sprof
for file in p.sprof p.pb.gz q.sprof r.sprof; do
    plain "$sprofile" info run/$file
    # A pprof file has whole milliseconds, and a percentage made of these.
    grep -qF "unseen   ${told%%,*}, " out || fail "$file: $(cat out), not $told"
    plain "$sprofile" report run/$file
    grep -qE '^lost .*; unseen 1\.[0-9]+ s CPU$' out || fail "$file: $(cat out)"
done
plain "$sprofile" report --json run/p.sprof
python3 -c '
import json, sys
head = json.load(sys.stdin)
assert 1e9 <= head["unseen_cpu_ns"] < head["tree_cpu_ns"] < 2e9, head
' <out || fail "json"
plain "$sprofile" merge -o run/m.sprof run/p.sprof run/q.sprof
plain "$sprofile" info run/m.sprof
grep -qE '^unseen   2\.' out || fail "not added up: $(cat out)"
expect_files m.sprof p.json p.pb.gz p.sprof q.sprof r.sprof

echo "-- a tree of processes, one of them killed"
declare -f has_run >tree.sh
cat >>tree.sh <<'END'
for i in 1 2 3; do
    "$1" 1000 >/dev/null &
done
"$1" 200000 >/dev/null &
while kill -0 $! && ! has_run $!; do sleep 0.05; done
kill -9 $!
wait
END
record -o p.pb.gz,p.folded -- bash "$tmp/tree.sh" "$work/known_stack.o2"
expect_status 0
grep -qE '^sprof: wrote p.pb.gz, .* in ([0-9]* of )?[0-9]* processes' err || fail "$(cat err)"
expect_share 60 'main;.*leaf_spin;work_burn' run/p.folded
plain "$sprofile" report --by process -n 0 --focus '^leaf_spin$' run/p.pb.gz
[ "$(grep -c ' known_stack.o2 ([0-9]*)$' out)" -eq 4 ] ||
    fail "not the four of the tree, with the killed one: $(cat out)"
expect_files p.folded p.pb.gz

echo "-- many processes, four at a time"
record -o p.pb.gz -- sh -c 'seq 200 | xargs -P 4 -n 1 sh -c ":"'
expect_status 0
count=$(sed -n 's/^sprof: wrote .* in \([0-9]* of \)*\([0-9]*\) processes.*/\2/p' err)
[ "$count" = 203 ] || fail "not all processes, of sh and seq, too: $(cat err)"
expect_files p.pb.gz

echo "-- signals"
cat >signals.py <<'END'
import signal, time
def note(number, frame):
    print("got", number, flush=True)
    if number == signal.SIGTERM:
        raise SystemExit(3)
for number in signal.SIGUSR1, signal.SIGINT, signal.SIGTERM:
    signal.signal(number, note)
print("ready", flush=True)
while True:
    time.sleep(0.05)
END
: >got
"$sprofile" record -o s.folded /usr/bin/python3 signals.py >got 2>err </dev/null &
child=$!
until_true grep -q ready got
for signal in USR1 INT TERM; do
    kill -$signal $child
    until_true grep -qx "got $(kill -l $signal)" got
done
wait $child
status=$?
expect_status 3
[ "$(tr '\n' ' ' <got)" = "ready got 10 got 2 got 15 " ] ||
    fail "signals: $(cat got)"
[ -s s.folded ] || fail "no profile after signals"

# Two signals that it finds only after the program has ended.
"$sprofile" record -q -o late.folded \
    sh -c 'touch ready; while [ -e ready ]; do sleep 0.05; done; exit 7' \
    2>err </dev/null &
child=$!
until_true [ -e ready ]
program=$(pgrep -P $child -x sh)
kill -STOP $child
rm ready
until_true grep -q '^State:.Z' "/proc/$program/status"
kill -INT $child
kill -TERM $child
kill -CONT $child
wait $child
status=$?
expect_status 7
rm -f late.folded

echo "-- another library stands first"
LD_PRELOAD="$work/plugin.so" record -o p.txt sh -c 'echo "$LD_PRELOAD"'
! grep 'ld.so' err || fail "the other library is not there"
case $(cat out) in
"$work/plugin.so:$library") ;;
*) fail "LD_PRELOAD: $(cat out)" ;;
esac
rm -f run/*

echo "-- on a terminal"
cat >terminal.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen, sent, start = b"", False, time.time()
while True:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    if not sent and (b"begun" in seen and b"lost" in seen or
                     time.time() - start > 60):
        sent = True
        os.write(fd, b"\x03")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sys.stdout.buffer.write(seen)
END
cat >waiting.py <<'END'
import time
try:
    print("begun", flush=True)
    time.sleep(300)
except KeyboardInterrupt:
    print("caught", flush=True)
raise SystemExit(4)
END
plain /usr/bin/python3 terminal.py "$sprofile" record -o t.txt \
    /usr/bin/python3 waiting.py
[ "$(head -n 1 out)" = 4 ] || fail "Ctrl-C: $(cat out)"
grep -q caught out || fail "Ctrl-C did not reach the program"
grep -qE 'sprof: [0-9.]+ s, [0-9,]+ samples?, [0-9]+ threads?, [0-9]+ lost' out ||
    fail "no line on the terminal: $(cat out)"
grep -q 'sprof: wrote t.txt' out || fail "no profile after Ctrl-C"

echo "-- beside the program: serve and push"
LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/other.sprof" \
    "$work/busy_and_waiting" 200000 >/dev/null &
other=$!
"$sprofile" record --serve=127.0.0.1:0 -o served.sprof -- \
    "$work/busy_and_waiting" 200000 >served.out 2>served.err &
recorder=$!
until_true grep -q '^sprof: serving ' served.err
url=$(sed -n 's|^sprof: serving \(http://[^/]*\)/debug/pprof/$|\1|p' served.err)
until_true pgrep -P $recorder -x busy_and_waitin >pids
until_true has_run "$(tail -n 1 pids)"
until_true has_run $other
# asked: what it serves has a process.
asked() {
    python3 "$here/serve_client.py" body "${url#http://}" /targets >targets &&
        grep -q __param_pid targets
}
until_true asked
kill -TERM "$recorder"
status=0
wait "$recorder" || status=$?
[ "$status" = 143 ] || fail "the status of a served program is $status"
[ "$(grep -o '"__param_pid"' targets | wc -l)" = 1 ] &&
    ! grep -q "\"$other\"" targets ||
    fail "not the one process of the recording: $(cat targets)"
! python3 "$here/serve_client.py" body "${url#http://}" /targets 2>/dev/null ||
    fail "serve goes on after the recording"
"$sprofile" report served.sprof | grep -q hot_spot || fail "no profile"
kill "$other"
wait "$other" 2>/dev/null
# A server that is not there: the requests wait, and push alone sends them.
plain "$sprofile" record --push 'http://127.0.0.1:1 --interval 0.5' \
    -o pushed.sprof -- "$work/busy_and_waiting" 300
expect_status 0
state=$(sed -n 's/.*`sprofile push --state \([^`]*\)`.*/\1/p' err)
[ -n "$state" ] && [ -e "$state/state" ] || fail "no request waits: $(cat err)"
rm -rf sprof.record.*.push
for wrong in --serve=nowhere '--push=--otlp x' '--push=--nonsense'; do
    plain "$sprofile" record "$wrong" -o wrong.sprof -- touch begun
    expect_status 2
done
! [ -e begun ] || fail "the program was started"
! ls -d sprof.record.* 2>/dev/null || fail "the spools were left"

echo "-- merge"
"$work/make_spool" "$tmp/a.sprof"
plain "$sprofile" merge --wall -o m.folded a.sprof a.sprof a.sprof
expect_status 0
[ "$(total m.folded)" = 39 ] || fail "three spools do not add up"
plain "$sprofile" merge --wall --state running -o n.folded a.sprof a.sprof
expect_status 0
[ "$(total n.folded)" = 18 ] || fail "the running ones of two: $(cat n.folded)"
plain "$sprofile" convert --wall --thread 4712 a.sprof n.folded
expect_status 0
[ "$(total n.folded)" = 5 ] || fail "those of a thread: $(cat n.folded)"
for wrong in "a.sprof" "-o m.folded" "-o m.svg a.sprof" "-x"; do
    # shellcheck disable=SC2086
    plain "$sprofile" merge $wrong
    expect_status 2
done
plain "$sprofile" merge -o m.folded missing.sprof
expect_status 1

echo "-- nobody reads the messages"
(
    status=0
    "$sprofile" record -o unread.folded -- "$work/exits" exit 200 || status=$?
    echo "$status" >unread.status
) 2>&1 >/dev/null | true
[ "$(cat unread.status)" = 21 ] || fail "status: $(cat unread.status)"
[ -s unread.folded ] || fail "unread: no profile"
! ls -d sprof.record.* 2>/dev/null || fail "unread: the spools were left"

finish
