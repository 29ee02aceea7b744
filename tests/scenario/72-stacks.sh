#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: sprofile stacks, start, stop and dump.
# - they find the spool of a process by its pid, also under another root or in
#   a container, and say in one line why there is none;
# - nothing is sent to a process that would die of it, or cannot answer;
# - what the process answers is what they say, and their exit status;
# - the stacks read as documented, as text and as JSON, of a process and of its
#   spool when it is gone;
# - libsprof-report.so prints the same text to a descriptor that may be a full
#   pipe or a closed one.
# What answers is tests/workload/stand_in.c.
. "$(dirname "$0")/lib.sh"

stand_in=$work/stand_in
[ -x "$stand_in" ] || skip "$stand_in is not built"

# start HOW [THREADS]: a stand-in; $pid, and its spool $spool.
pids=()
start() {
    spool=$tmp/$1.${#pids[@]}.$SECONDS.sprof
    rm -f started
    "$stand_in" "$spool" "$@" >started 2>&1 &
    pid=$!
    disown
    pids+=("$pid")
    until_true grep -qs ready started || fail "stand_in $*: $(cat started)"
}

# live COMMAND...: a program; $pid.
live() {
    rm -f started
    "$@" >started 2>&1 &
    pid=$!
    disown
    pids+=("$pid")
}

# live_sleep [COMMAND...]: the same for sleep, once it has begun.
live_sleep() {
    live "$@" sleep 1000
    until_true grep -qsx sleep "/proc/$pid/comm"
}

end_all() {
    for pid in "${pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null
    done
    pids=()
}
trap 'end_all; rm -rf "$tmp"' EXIT

# asks STATUS WORDS COMMAND...: how it ends, and that it says WORDS, in one line
# on stderr if it fails.
asks() {
    local wanted=$1 words=$2
    shift 2
    plain "$sprofile" "$@"
    expect_status "$wanted"
    if [ "$wanted" -eq 0 ]; then
        [ -z "$words" ] || grep -qF -- "$words" out ||
            fail "$*: does not say \"$words\""
        [ ! -s err ] || fail "$*: $(head -n 1 err)"
    else
        grep -qF -- "$words" err ||
            fail "$*: does not say \"$words\": $(head -n 2 err)"
        [ "$wanted" -eq 2 ] || [ "$(wc -l <err)" -eq 1 ] ||
            fail "$*: $(wc -l <err) lines"
    fi
}

# lives: the last process that was started.
lives() {
    kill -0 "$pid" 2>/dev/null || fail "the process was ended by $*"
}

echo "-- wrong arguments"
for command in stacks start stop dump; do
    asks 2 'expected one PID' $command
    asks 2 'expected one PID' $command 1 2
    asks 2 "Try \`sprofile $command --help\`" $command --nonsense 1
    asks 0 "usage: sprofile $command" $command --help
    asks 1 'there is no process 99999999' $command 99999999
done
asks 2 '0: expected the PID' dump 0
asks 2 'x: expected the PID' start x
asks 2 '--watch: expected a PID' stacks --watch 1 x.sprof
asks 2 '--watch 0: expected seconds' stacks --watch 0 1
asks 2 '-n x: expected a number' stacks -n x 1
asks 2 '--label x: expected KEY=VALUE' stacks --label x 1
asks 1 'No such file' stacks x.sprof
asks 1 'not a spool' stacks "$stand_in"
"$work/make_spool" "$tmp/made.sprof" || fail "make_spool"
asks 1 'made.sprof: no stacks of all threads are in it' stacks made.sprof

echo "-- processes without a spool"
asks 1 "process $$ (bash) is not profiled: it was started without" stacks $$
live_sleep
asks 1 '(sleep) is not profiled: it was started without' dump "$pid"
live_sleep env LD_PRELOAD="$library" SPROF_ONLY=nobody \
    SPROF_OUTPUT="$tmp/o.txt"
until_true grep -qs libsprof.so "/proc/$pid/maps"
asks 1 'is not profiled: libsprof.so is in it' stacks "$pid"
start answer
mv "$spool" elsewhere.sprof
asks 0 'Deadlock' stacks "$pid"
rm elsewhere.sprof
asks 1 'was removed' stacks "$pid"
live_sleep env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/o.txt"
other_thread() {
    tid=$(cd "/proc/$pid/task" && printf '%s\n' * | grep -vx "$pid")
}
until_true other_thread
asks 1 "$tid is a thread of process $pid" stacks "$tid"
if [ "$(id -u)" -eq 0 ] && has setpriv; then
    asks_as_nobody() {
        plain setpriv --reuid=65534 --clear-groups "$sprofile" "$@"
        expect_status 1
        grep -q 'may not be looked at: try as its user' err ||
            fail "as nobody: $(cat err)"
    }
    chmod 755 "$tmp"
    start answer
    setpriv --reuid=65534 --clear-groups test -x "$sprofile" &&
        asks_as_nobody stacks "$pid"
fi
end_all

echo "-- answers"
start silent
silent=$pid
timeout "$deadline" "$sprofile" stop "$silent" >silent.out 2>silent.err &
asking=$!
start answer
asks 0 'Deadlock: 2 threads wait for each other' stacks "$pid"
asks 0 '' start "$pid"
asks 0 '' stop "$pid"
asks 0 '/tmp/x.pb.gz' dump "$pid"
grep -qx '/tmp/x?.txt' out || fail "dump: the second file: $(cat -v out)"
kill -STOP "$pid"
until_true grep -q '^State:.*stopped' "/proc/$pid/status"
asks 1 "kill -CONT $pid" stacks "$pid"
kill -CONT "$pid"
asks 0 'Deadlock' stacks "$pid"
plain "$sprofile" stacks --watch 0.1 "$pid" &
watching=$!
three_rounds() {
    [ "$(grep -cs '^Stacks of ' out)" -ge 3 ]
}
until_true three_rounds
kill -KILL "$pid"
wait "$watching"
grep -q 'has ended\|ended before' err || fail "watch: $(cat err)"
mv out out.watched
asks 0 'Deadlock' stacks "$spool"
start refuse
asks 1 'answers: no room left' dump "$pid"
asks 1 'answers: No space left on device' stop "$pid"
start die
asks 1 'ended before it answered' stacks "$pid"
start late
for i in 1 2 3; do
    asks 0 'threads  8 in 5 groups' stacks "$pid"
done
start torn
asks 1 'never were complete' stacks "$pid"

echo "-- no harm"
start deaf
asks 1 'no longer handles signal 35' stacks "$pid"
lives deaf
start closed
asks 1 'SPROF_DUMP_SIGNAL is 0' stop "$pid"
lives closed
start old
asks 1 'older version' stacks "$pid"
lives old

echo "-- the text"
start answer
plain "$sprofile" stacks "$pid"
first=$pid
cat >expected <<END
Stacks of bank, process $first, 2026-05-09 07:29:33.120 UTC
command  bank --fast
threads  8 in 5 groups, looked at within 1.300 ms

Deadlock: 2 threads wait for each other's mutexes
  a ($((first + 1))) waits for the mutex of b ($((first + 2)))
      in transfer stand_in.c:LINE
  b ($((first + 2))) waits for the mutex of a ($((first + 1)))
      in audit stand_in.c:LINE
  2 more wait for them, or for others that do:
      c ($((first + 3))), d ($((first + 4)))

3 threads waiting in futex, 0.011 s of CPU time (most: $((first + 4)), 0.005 s)
  a ($((first + 1))), mutex of b ($((first + 2)))
  c ($((first + 3))), d ($((first + 4))), mutex of a ($((first + 1)))
    transfer stand_in.c:LINE
    serve stand_in.c:LINE

2 threads waiting in accept4, socket:[17], 0.013 s of CPU time (most: $((first + 6)), 0.007 s)
  pool-1 ($((first + 5))), user=alice "1"
  pool-2 ($((first + 6))), user=bob
    serve stand_in.c:LINE

1 thread running, 0.001 s of CPU time
  main ($first)
    serve stand_in.c:LINE

1 thread waiting in futex, mutex of a ($((first + 1))), 0.003 s of CPU time
  b ($((first + 2)))
    audit stand_in.c:LINE
    serve stand_in.c:LINE

1 thread running
  mute? ($((first + 7)))
    [no stack: WHY]
END
sed 's/\(stand_in\.c\):[0-9]*/\1:LINE/; s/\[no stack: it .*\]/[no stack: WHY]/' \
    out >shown
diff expected shown >differences || {
    fail "the text differs"
    head -n 10 differences
}
asks 0 'threads  2 of 8 in 1 group' stacks --thread 'pool*' "$pid"
! grep -q Deadlock out || fail "a deadlock of others"
asks 0 'threads  1 of 8 in 1 group' stacks --label user=bob "$pid"
asks 0 'threads  4 of 8 in 2 groups' stacks --state futex "$pid"
asks 0 'threads  3 of 8 in 1 group' stacks --focus '^transfer$' "$pid"
asks 0 '(4 more groups of 5 threads; -n 0 shows all)' stacks -n 1 "$pid"
plain "$sprofile" stacks --thread nobody "$pid"
expect_status 0
grep -q 'no thread matches the options' err || fail "nobody: $(cat err)"

echo "-- JSON"
if has python3; then
    cat >check.py <<'P'
import json, subprocess, sys
def run(*arguments):
    return [json.loads(line) for line in subprocess.run(
        [sys.argv[1], "stacks", "--json", *arguments, sys.argv[2]],
        check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()]
[whole] = run()
pid = whole["pid"]
assert pid == int(sys.argv[2]) and whole["exe"] == "/opt/bank"
assert whole["time_ns"] == 1778311773120000000 and whole["took_ns"] == 1300000
assert whole["deadlocks"] == [{"tids": [pid + 1, pid + 2],
                               "waiting_tids": [pid + 3, pid + 4]}]
tids = [thread["tid"] for thread in whole["threads"]]
assert tids == list(range(pid, pid + 8)) and whole["thread_count"] == 8
assert sorted(tid for group in whole["groups"] for tid in group["tids"]) == tids
for thread in whole["threads"]:
    assert thread["tid"] in whole["groups"][thread["group"]]["tids"]
one = whole["threads"][1]
assert (one["name"], one["state"], one["system_call"], one["waits_on"],
        one["owner_tid"], one["cpu_ns"], one["kernel_state"]) == (
    "a", "futex", "futex", f"mutex of b ({pid + 2})", pid + 2, 2000000, "S")
assert whole["threads"][5]["labels"] == {"user": 'alice "1"'}
mute = whole["threads"][7]
assert mute["cpu_ns"] is None and mute["name"] == "mute?"
group = whole["groups"][mute["group"]]
assert group["cause"] == "silent" and group["frames"] == []
frames = whole["groups"][0]["frames"]
assert [frame["function"] for frame in frames] == ["transfer", "serve"]
assert frames[0]["file"].endswith("stand_in.c") and frames[0]["line"] > 0
assert not frames[0]["inlined"] and whole["groups"][0]["cause"] is None
[part] = run("--thread", "pool*")
assert len(part["threads"]) == 2 and part["thread_count"] == 8
P
    timeout "$deadline" python3 check.py "$sprofile" "$pid" || fail "the JSON is not what it was"
fi

echo "-- many threads"
start answer 10000
plain "$sprofile" stacks "$pid"
expect_status 0
tr -cs '0-9\n' '\n' <out | sort -n | uniq | awk '
    $1 >= 5000 && $1 < 15000 { n++ } END { exit n != 10000 }' ||
    fail "of 10,000 threads some are not told"

echo "-- libsprof-report.so"
start answer
asks 0 Deadlock stacks "$pid"
mv out told
nonce=$("$sprofile" stacks --json "$spool" >/dev/null; od -An -tu4 -v "$spool" |
    tr -s ' \n' '\n' | awk -v n=0 '$1 != "" { w[n++] = $1 } END {
        for (at = 16; at < n && w[at + 1] > 0; at += w[at + 1] / 4)
            if (w[at] % 256 == 19) print w[at + 8] }')
report=$build/libsprof-report.so
plain "$report" 1 stacks 1 "$spool" "$nonce"
expect_status 0
[ "$(cat out)" = ok ] || fail "the report says: $(cat out)"
diff told err >differences || fail "the report's text differs"
plain "$report" 1 stacks 1 "$spool" 1
expect_status 1
grep -q 'has the stacks of another request' out || fail "of 1: $(cat out)"
plain "$report" 1 stacks 1 "$tmp/none.sprof" 1
expect_status 1
grep -q 'none.sprof: No such file' out || fail "of none: $(cat out)"
if has python3; then
    cat >pipes.py <<'P'
import fcntl, os, subprocess, sys, threading, time
def report(end, wanted):
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=end)
    said = done.stdout.decode().strip()
    assert wanted in said, said
def text_of(end):
    parts = []
    while part := os.read(end, 700):
        parts.append(part)
        time.sleep(0.002)
    return b"".join(parts)
def slow(flags):
    out, end = os.pipe()
    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
    fcntl.fcntl(end, fcntl.F_SETFL, flags)
    os.write(end, b"x" * 4000)
    text = []
    reader = threading.Thread(target=lambda: text.append(text_of(out)),
                              daemon=True)
    reader.start()
    report(end, "ok")
    os.close(end)
    reader.join()
    assert text[0][4000:] == open("told", "rb").read()
slow(0)
slow(os.O_NONBLOCK)
ends = []
def nobody_reads(flags):
    out, end = os.pipe()
    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
    fcntl.fcntl(end, fcntl.F_SETFL, flags)
    os.write(end, b"x" * 100)
    start = time.time()
    report(end, "Connection timed out")
    assert time.time() - start > 3
    ends.append(out)
both = [threading.Thread(target=nobody_reads, args=[flags], daemon=True)
        for flags in (0, os.O_NONBLOCK)]
for one in both:
    one.start()
for one in both:
    one.join()
assert len(ends) == 2
out, end = os.pipe()
os.close(out)
report(end, "Broken pipe")
P
    timeout "$deadline" python3 pipes.py "$report" 1 stacks 1 "$spool" "$nonce" ||
        fail "pipes that are full or closed"
fi
wait "$asking"
[ $? -eq 1 ] && grep -q 'has not answered within 10 s' silent.err ||
    fail "silent: $(cat silent.out silent.err)"
kill -0 "$silent" || fail "the process was ended by silence"
end_all

echo "-- other roots"
if [ "$(id -u)" -eq 0 ] && unshare -pfm true 2>/dev/null; then
    mkdir inner
    # Its own pid there is another one, and its spool and its program are at
    # paths that are nothing here.
    live unshare -pfm bash -c "mount -t tmpfs none $tmp/inner &&
        cp $stand_in $tmp/inner/bank &&
        exec $tmp/inner/bank $tmp/inner/a.sprof answer"
    until_true grep -qs ready started
    pid=$(pgrep -P "$pid")
    asks 0 'Stacks of bank, process 1,' stacks "$pid"
    grep -q '^    transfer stand_in.c:' out || fail "no names: $(tail out)"
    asks 0 '/tmp/x.pb.gz' dump "$pid"
else
    echo "needs root and namespaces"
fi
finish
