#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the trace and span that libraries of OpenTelemetry publish
# for each thread (otel_thread_ctx_v1) are labels of its samples.
# - CPU time has the span in which it was used; a record that is not valid, or
#   that lies in no memory, is none; a thread that waits keeps its span;
# - the variable is found in the program, in a library beside it and in one that
#   comes late, in each way in which a library finds it itself;
# - they are links in OpenTelemetry's profiles, and `sprofile stacks` shows them.
. "$(dirname "$0")/lib.sh"
has python3 || skip "needs python3"

a=aaaaaaaaaaaaaaaa b=bbbbbbbbbbbbbbbb c=cccccccccccccccc
trace=11111111111111111111111111111111

# value FILE VALUE COLUMN: a sum of label_sums.py; 2 samples, 3 CPU, 4 wall, in ns.
value() {
    awk -v name="$2" -v column="$3" \
        '$1 == name { print $column; found = 1 } END { if (!found) print 0 }' "$1"
}

# expect_near WHAT VALUE MS: VALUE ns are MS ms, as far as samples tell. Otherwise
# $far says so.
expect_near() {
    local ms=$(($2 / 1000000))
    [ "$ms" -ge $(($3 * 7 / 10 - 25)) ] && [ "$ms" -le $(($3 * 13 / 10 + 25)) ] ||
        far="$far $1: $ms ms, expected $3;"
}

# run NAME ARGUMENT...: the workload, profile in p.pb.gz, p.sprof, p.otlp.json. At
# the third try all is near: a sampler that has to wait for a CPU loses samples.
run() {
    local try
    for try in 1 2 3; do
        far=
        profile SPROF_COST=off \
            SPROF_OUTPUT="$tmp/p.pb.gz,$tmp/p.sprof,$tmp/p.otlp.json" \
            "$work/$1" 100 "${@:2}"
        expect_ok
        for key in span_id trace_id; do
            python3 "$here/label_sums.py" p.pb.gz $key >$key
        done
        python3 "$here/label_sums.py" p.pb.gz span_id \
            state=clock_nanosleep >asleep
        expect_spans "$*"
        [ -n "$far" ] || return 0
        echo "$try:$far"
    done
    fail "$far"
}

expect_spans() {
    expect_near "$1, span a" "$(value span_id $a 3)" 100
    expect_near "$1, span b" "$(value span_id $b 3)" 100
    # Three parts of the main thread have none.
    expect_near "$1, no span" "$(value span_id - 3)" 300
    expect_near "$1, all of the trace" "$(value trace_id $trace 3)" 300
    [ "$(value span_id $c 3)" -lt 20000000 ] || fail "$1: the waiter computes"
    # It sleeps for as long as the main thread computes at least.
    [ "$(value asleep $c 4)" -ge 350000000 ] ||
        far="$far $1: a wait in span c: $(value span_id $c 4) ns;"
    # What the thread "hurry" had, and no other.
    awk '$1 != "-" && $1 != "total" { print $1 }' span_id |
        grep -vE "^($a|$b|$c|(0[1-9a-f]|[123][0-9a-f]|40){8})$" >strange
    [ ! -s strange ] || fail "$1: $(tr '\n' ' ' <strange)"
}

for way in "" .call .descriptor .fixed .bound; do
    echo "-- trace_context$way"
    # Not every compiler makes all of them.
    [ -e "$work/trace_context$way" ] || continue
    run "trace_context$way"
done

echo "-- links"
python3 - p.otlp.json $trace $a $b $c <<'END' || fail "other links"
import json
import sys

data = json.load(open(sys.argv[1]))
dictionary = data["dictionary"]
links = {(link["traceId"], link["spanId"]): number
         for number, link in enumerate(dictionary["linkTable"])}
texts, sums = dictionary["stringTable"], {}
for profile in data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
    kind = texts[profile["sampleType"]["typeStrindex"]]
    for sample in profile["samples"]:
        key = kind, sample.get("linkIndex", 0)
        sums[key] = sums.get(key, 0) + sum(map(int, sample["values"]))
wrong = [span for span in sys.argv[3:5]
         if sums.get(("cpu", links[sys.argv[2], span]), 0) < 50000000]
if sums.get(("wall", links[sys.argv[2], sys.argv[5]]), 0) < 350000000:
    wrong.append("c")
print(*wrong)
sys.exit(len(wrong))
END

echo "-- late"
# By a call, each thread gets its data of the library when it first needs it.
for way in bound descriptor fixed; do
    [ -e "$work/libtrace_context_$way.so" ] || continue
    run trace_context "$work/libtrace_context_$way.so"
done

echo "-- stacks"
profile_begin s "$work/trace_context" 60000
child=$(cat "/proc/$running/task/$running/children")
shows_span() {
    "$sprofile" stacks "${child% }" >stacks 2>/dev/null
    grep -q "$c" stacks
}
until shows_span || ! kill -0 "${child% }"; do
    sleep 0.1
done
grep -q "$c" stacks || fail "stacks does not show the span: $(cat stacks)"
kill -TERM "${child% }"
wait "$running"
finish
