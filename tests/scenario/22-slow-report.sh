#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: whatever libsprof-report.so does, the process ends as it
# would have, in good time, with its spool kept.
# - one that crashes, talks nonsense, fails, is no program, or is missing;
# - one that is slow: SPROF_LOG=info says it; a second signal ends the wait at
#   once; how long it takes at most is in scenario 82;
# - meanwhile no thread of the process does anything;
# - the status is that of the first exit, however many threads exit while the
#   profile is written.
. "$(dirname "$0")/lib.sh"

mkdir beside
cp "$library" beside/
library=$tmp/beside/libsprof.so
report=$tmp/beside/libsprof-report.so

# report_is LINE...: a shell script in its place.
report_is() {
    rm -f "$report"
    printf '%s\n' '#!/bin/sh' "$@" >"$report"
    chmod +x "$report"
}

# keeps_spool WAY STATUS WORD...: the end, and one line with these words.
keeps_spool() {
    local way=$1 expected=$2
    shift 2
    profile "$work/exits" "$way" 60
    expect_status "$expected"
    grep -qx ok out || fail "the program did not run"
    expect_note p.sprof "$@"
    [ -s p.sprof ] || fail "$way: no spool was kept"
    ! [ -e p.folded ] || fail "$way: a profile came from nowhere"
    rm -f p.*
}

# However it is started, it competes with others as the program does.
for end in exit:21 term:143; do
    report_is "nice >'$tmp/nice'" 'kill -SEGV $$'
    keeps_spool "${end%:*}" "${end#*:}" 'broke off'
    [ "$(cat nice)" = "$(nice)" ] || fail "a nice value of $(cat nice)"
done

# Half a second after the first exit, in the middle of the writing.
for way in second second_now; do
    report_is 'sleep 1' 'echo ok'
    profile "$work/exits" $way 60
    expect_status 45
    rm -f p.*
done

# An alarm half a second after the end, and one every millisecond.
report_is 'sleep 1' 'echo ok'
for way in alarm_by_default alarm_handled ticks; do
    expect_same "$work/late_signals" $way
    rm -f p.*
done

# A second in which the other thread would write 100 lines. One may be on its way.
for way in noise noise_now; do
    rm -f before
    report_is "grep -c . '$tmp/out' >'$tmp/before'" 'sleep 1' 'echo ok'
    profile "$work/exits" $way 60
    expect_status 27
    lines=$(($(grep -c . out) - $(cat before)))
    [ "$lines" -le 1 ] || fail "$way: $lines lines after the end"
    rm -f p.*
done

# Broken ones.
for end in exit:21 _exit:22 term:143; do
    way=${end%:*} expected=${end#*:}
    report_is 'kill -SEGV $$'
    keeps_spool "$way" "$expected" 'broke off'
    report_is 'echo "the symbols are on strike"' 'echo more' 'exit 1'
    keeps_spool "$way" "$expected" 'the symbols are on strike'
    report_is 'head -c 100000 /dev/zero | tr "\0" x' 'exit 3'
    keeps_spool "$way" "$expected"
    report_is 'echo to stderr >&2' 'cat' 'kill -KILL $$'
    keeps_spool "$way" "$expected" 'broke off'
    chmod -x "$report"
    [ "$(id -u)" -eq 0 ] || keeps_spool "$way" "$expected" 'Permission denied'
    echo nonsense >"$report"
    chmod +x "$report"
    keeps_spool "$way" "$expected" 'cannot run' 'Exec format error'
    rm -f "$report"
    keeps_spool "$way" "$expected" 'cannot run' 'No such file'
done

# It gets nothing that belongs to the program.
report_is 'ls /proc/self/fd | wc -l' 'exit 1'
exec 7<"$report" 8>fd8
keeps_spool exit 21 '4;' # 0, 1, 2, and the directory that ls reads
exec 7<&- 8>&-
report_is 'sed -n "s/^SigIgn:\t//p" /proc/self/status' 'exit 1'
keeps_spool exit 21 0000000000000000

# A slow one. It says how long it took.
report_is 'sleep 1' 'echo ok'
profile SPROF_LOG=info "$work/exits" exit 60
expect_status 21
took=$(sed -n 's/.*writing took \([0-9]*\) ms.*/\1/p' err)
[ "${took:-0}" -ge 1000 ] || fail "writing took \"$took\" ms of 1,000"
rm -f p.*

report_is 'sleep 2' 'echo ok'
expect_same "$work/signal_ends" frozen
grep -q 'then silence' out || fail "a killed process went on"
rm -f p.*

has_samples() {
    "$sprofile" info "$1" 2>/dev/null | grep -q '^samples *[1-9]'
}

# start_waiting: a program in the background that runs until it is killed, and
# has samples.
start_waiting() {
    rm -f begun
    # The shell lets what is in the background ignore SIGINT.
    env --default-signal=INT LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" SPROF_LOG=info \
        "$work/signal_ends" wait >out 2>err &
    victim=$!
    until_true has_samples p.sprof
    start=$(now_ms)
}

# await: its status and how long it took since start_waiting.
await() {
    { wait "$victim"; } 2>/dev/null
    status=$?
    took=$(($(now_ms) - start))
}

# Three at once are one.
report_is 'sleep 1' 'echo ok'
start_waiting
kill -TERM $victim
kill -TERM $victim
kill -INT $victim
await
case $status in
130 | 143) ;;
*) fail "signals at once: status $status" ;;
esac
grep -q 'writing took' err || fail "signals at once: nothing was written"
rm -f p.*

# A second one after a moment is meant.
report_is ": >'$tmp/begun'" 'exec sleep 90'
start_waiting
kill -INT $victim
until_true [ -e begun ]
sleep 1.1
kill -INT $victim
await
expect_status 130
! grep -q 'took longer' err || fail "the second Ctrl-C was not heard for $took ms"
[ -s p.sprof ] || fail "the second Ctrl-C: no spool"
rm -f p.*

finish
