#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: labels and marks of the program (include/sprof.h).
# - wrong use has its code, and without the library every call says so; right use
#   has none, in handlers on top of each other and around forks;
# - the sums over a label's values are the totals, exactly, in samples, CPU and
#   wall time, by a reader of pprof files that is not ours and by each command;
# - the shares are those that the workload has, waits included;
# - labels are right in a constructor, in a handler, in a destructor of a thread,
#   in an atexit function; a thread has none of the one whose tid it got; a
#   forked child has its parent's; C++ scopes end with an exception;
# - marks are all there, or counted;
# - labels and marks come through convert, merge, a filter and .sprof;
# - the examples do what they say.
. "$(dirname "$0")/lib.sh"
source=${SPROF_SOURCE:-$here/../..}
has python3 || skip "needs python3"

# value KEY VALUE COLUMN [OTHER=VALUE]: a sum of p.pb.gz; 2 samples, 3 CPU, 4
# wall, in ns.
value() {
    python3 "$here/label_sums.py" p.pb.gz "$1" ${4:+"$4"} |
        awk -v name="$2" -v column="$3" \
            '$1 == name { print $column; found = 1 } END { if (!found) print 0 }'
}

# expect_near WHAT VALUE MS [TENTHS SLACK]: VALUE ns are MS ms, as far as samples
# tell: within two tenths and 25 ms, or so much. Otherwise $far says so.
expect_near() {
    local ms=$(($2 / 1000000)) tenths=${4:-2} slack=${5:-25}
    [ "$ms" -ge $(($3 * (10 - tenths) / 10 - slack)) ] &&
        [ "$ms" -le $(($3 * (10 + tenths) / 10 + slack)) ] ||
        far="$far $1: $ms ms, expected $3;"
}

# measure COMMAND...: at the third try all is near. A sampler that has to wait
# for a CPU loses samples.
measure() {
    local try
    for try in 1 2 3; do
        far=
        "$@"
        [ -n "$far" ] || return 0
        echo "$try:$far"
    done
    fail "$far"
}

# rows FILE KEY: what `sprofile report` has for each value: value, samples, CPU,
# wall, without the title, sorted.
rows() {
    "$sprofile" report --csv --by "label:$2" "$1" 2>rows.err |
        awk -F, 'NR > 1 { print $1, $4, $2, $3 }' | sed 's/^\[none\]/-/' | sort
}

# profile_labels ARGUMENT...: run the workload, profile in p.pb.gz and p.sprof.
profile_labels() {
    profile SPROF_OUTPUT="$tmp/p.pb.gz,$tmp/p.sprof,$tmp/p.json" \
        "$work/labels" "$@"
    expect_ok
}

echo "-- codes"
expect_same "$work/labels" codes
expect_ok
plain "$work/labels" codes
expect_ok

echo "-- stress"
expect_same "$work/labels" stress 300
expect_ok

echo "-- sums"
# waited NAME: how long the workload did so.
waited() {
    awk -v name="$1" '$1 == "waited" && $2 == name { sum += $3 }
        END { print sum }' waits
}
# A tick of an idle process may stand for 32 ms, and the sampler waits for a CPU
# like everybody else. Time without a CPU, before a thread goes to sleep or when
# it has woken, is another state.
slept() {
    value "$1" "$2" 4 state=clock_nanosleep
}
measure_sums() {
    profile_labels sums 100
    grep waited out >waits
    expect_near "request=a" "$(value request a 3)" 400
    expect_near "request=b" "$(value request b 3)" 600
    expect_near "phase=parse" "$(value phase parse 3)" 200
    expect_near "phase=parse in b" "$(value phase parse 3 request=b)" 200
    # A wait also gets what its thread waited for a CPU before it, if the sampler
    # had to wait as long: no less than the sleep, then.
    [ "$(slept phase sleep)" -ge $(($(waited sleep) * 600000 - 60000000)) ] ||
        far="$far phase=sleep: $(slept phase sleep) ns, expected $(waited sleep) ms;"
    for name in one two; do
        expect_near "waiting=$name" "$(slept waiting $name)" "$(waited $name)" 4 60
    done
}
measure measure_sums
[ "$(value phase parse 3 request=a)" -eq 0 ] || fail "phase=parse outside of b"
for key in request phase waiting; do
    python3 "$here/label_sums.py" p.pb.gz $key | grep -v '^total' | sort >other
    for file in p.pb.gz p.sprof; do
        rows $file $key >ours
        diff other ours || fail "$file: other sums by $key"
    done
    plain "$sprofile" report --csv --by process p.sprof
    total=$(awk -F, 'NR == 2 { print $5, $3, $4 }' out)
    sum=$(awk '{ a += $2; b += $3; c += $4 }
        END { printf "%.0f %.0f %.0f\n", a, b, c }' other)
    [ "$sum" = "$total" ] || fail "sums by $key: $sum, in all $total"
done
for file in p.pb.gz p.sprof; do
    plain "$sprofile" report --by label:nobody $file
    expect_status 1
    grep -q 'no sample has that label; expected one of .*request' err ||
        fail "$file: a label that nothing has: $(cat err)"
done
"$sprofile" report --csv --by state --label request=b p.sprof >out
[ "$(awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f\n", sum }' out)" = \
    "$(value request b 3)" ] || fail "--label request=b keeps something else"
"$sprofile" report --csv --by state --label 'request=[ab]' p.pb.gz >out
[ "$(awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f\n", sum }' out)" = \
    $(($(value request a 3) + $(value request b 3))) ] ||
    fail "--label with a pattern keeps something else"
if has go; then
    go tool pprof -tags p.pb.gz >tags 2>&1 || fail "go tool pprof -tags"
    grep -q '^ *request: Total' tags && grep -q ': a$' tags ||
        fail "go tool pprof does not see the labels"
fi

echo "-- the way through files"
"$sprofile" convert p.sprof again.pb.gz
"$sprofile" merge -o merged.sprof p.sprof p.pb.gz
"$sprofile" convert --label request=b p.sprof filtered.sprof
rows p.sprof request >ours
rows again.pb.gz request | diff ours - || fail "convert changes labels"
rows merged.sprof request | awk '{ print $1, $2 / 2, $3 / 2, $4 / 2 }' |
    diff <(awk '{ print $1, $2 / 1, $3 / 1, $4 / 1 }' ours) - ||
    fail "merge changes labels"
rows filtered.sprof request | diff <(grep '^b' ours) - ||
    fail "a filtered spool has other labels"
"$sprofile" info p.sprof | grep -q 'labels .*request (2 values)' ||
    fail "info does not tell the labels"
python3 - p.json <<'END' || fail "no labels in the Firefox profile"
import json, sys
profile = json.load(open(sys.argv[1]))
strings, found = profile["shared"]["stringArray"], set()
for thread in profile["threads"]:
    markers = thread["markers"]
    for name, data in zip(markers["name"], markers["data"]):
        if data["type"] == "Label":
            found.add((strings[name], strings[data["value"]]))
sys.exit(not {("request", "a"), ("request", "b"), ("phase", "parse")} <= found)
END

"$sprofile" info p.sprof >out
read -r cpu wall < <(sed -n \
    's/^totals *\([0-9.]*\) s CPU, \([0-9.]*\) s wall time.*/\1 \2/p' out)
python3 "$here/firefox_schema.py" p.json "$cpu" "$wall" >faults ||
    fail "p.json is not as described: $(head -n 5 faults)"

echo "-- places"
measure_places() {
    profile_labels places 300
    for place in constructor destructor atexit handler main; do
        expect_near "place=$place" "$(value place $place 3)" 300
    done
    expect_near "forgotten in its thread" "$(value forgotten yes 3)" 600
    [ "$(value forgotten yes 3 thread=fresh)" -eq 0 ] ||
        fail "a thread has another's label"
    expect_near "the other thread" "$(value forgotten - 3 thread=fresh)" 300
}
measure measure_places

echo "-- fork"
measure_fork() {
    profile SPROF_COST=off SPROF_OUTPUT="$tmp/f.%p.pb.gz" "$work/labels" fork 250
    expect_status 0
    for file in f.*.pb.gz; do
        mv "$file" p.pb.gz
        # Set inside the scope, so it ends with it.
        [ "$(value kept yes 3)" = "$(value who both 3)" ] ||
            fail "a label of a scope outlives it"
        if [ "$(value who total 3)" -gt 625000000 ]; then
            expect_near "who=both in the parent" "$(value who both 3)" 500 1
            expect_near "who=- in the parent" "$(value who - 3)" 250 1
            continue
        fi
        # On a loaded machine the child's sampler begins some time after it does.
        expect_near "who=both in the child" "$(value who both 3)" 250 8 0
        expect_near "who=- in the child" "$(value who - 3)" 250 8 0
    done
    [ "$(find . -name 'f.*.pb.gz' | wc -l)" -eq 0 ] || fail "files are left"
}
measure measure_fork

echo "-- C++"
measure_scopes() {
    profile SPROF_OUTPUT="$tmp/p.pb.gz" "$work/labels_scope"
    expect_ok
    expect_near "thrower" "$(value where thrower 3)" 100
    expect_near "late" "$(value where late 3)" 100
    expect_near "outer, and nothing else" "$(value where - 3 outer=yes)" 100
}
measure measure_scopes

# marks [COMMAND...]: 2 threads of 50 rounds, each with a span, a mark and one in
# a handler; then 100,000, and one more.
marks() {
    profile SPROF_OUTPUT="$tmp/p.sprof,$tmp/p.json" "$@" "$work/labels" marks 50
    expect_ok
    python3 - p.json "$(sed -n 's/^refused: //p' out)" <<'END' ||
import collections, json, sys
profile, refused = json.load(open(sys.argv[1])), int(sys.argv[2])
strings, found, lost = profile["shared"]["stringArray"], [], 0
for thread in profile["threads"]:
    markers = thread["markers"]
    for i, data in enumerate(markers["data"]):
        if data["type"] != "Mark":
            continue
        name = strings[markers["name"][i]]
        took = (markers["endTime"][i] or 0) - markers["startTime"][i]
        lost += int(name.split()[0]) if " marks lost: " in name else 0
        found.append((name, data.get("labels"), markers["phase"][i]))
        assert name != "a round" or 0.9 < took < 10000, took
counts = collections.Counter(found)
for name, phase in (("a round", 1), ("handled", 0), ("an instant", 0)):
    for parity in "even", "odd":
        assert counts[name, "round=" + parity, phase] == 50, counts
assert counts["after the flood", None, 0] == 1, counts
assert lost == refused, (lost, refused)
assert counts["flood", None, 0] + lost == 100000, counts
END
        fail "marks are missing: $*"
}
echo "-- marks"
marks
# The sampler has to wait for its turn.
! has taskset || marks taskset -c 0
"$sprofile" info p.sprof | grep -q 'marks .* 100 spans' ||
    fail "info does not count marks"

echo "-- examples"
# example NAME: compile it with nothing but the header, and record it.
example() {
    cc -O2 -Wall -Wextra -Werror -I "$source/include" -o "$1" \
        "$source/examples/$1.c" || fail "$1 does not compile"
    plain "./$1"
    expect_status 0
    mv out alone
    plain "$sprofile" record -q -o "$tmp/p.sprof" "./$1"
    expect_status 0
    mv out recorded
    [ "$(wc -l <"$source/examples/$1.c")" -le 40 ] || fail "$1 is long"
}
example labels
grep -q 'not profiled' alone || fail "labels: $(cat alone)"
grep -q ', profiled' recorded || fail "labels: $(cat recorded)"
rows p.sprof request | awk '{ cpu[$1] = $3 }
    END { exit !(cpu["/search"] > cpu["/cart"] && cpu["/cart"] > cpu["/help"] &&
        cpu["/help"] > 0) }' || fail "labels: $(rows p.sprof request)"
example marks
grep -q 'no marks: not running' alone || fail "marks: $(cat alone)"
[ -s recorded ] && fail "marks: $(cat recorded)"
"$sprofile" info p.sprof | grep -q '^marks    3 instants, 9 spans' ||
    fail "marks: $("$sprofile" info p.sprof | grep '^marks')"
# No warning flag of a user should find fault with the header.
printf '#include "sprof.h"\nint main() { return sprof_mark("a") > 0; }\n' >h.c
for standard in c99 c11 c2x; do
    cc -std=$standard -pedantic -Wall -Wextra -Wconversion -Werror \
        -I "$source/include" h.c || fail "sprof.h in $standard"
done
for standard in c++98 c++11 c++20; do
    c++ -x c++ -std=$standard -pedantic -Wall -Wextra -Werror -Wno-long-long \
        -I "$source/include" h.c || fail "sprof.h in $standard"
done

finish
