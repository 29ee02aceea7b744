#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: report, info and diff on profiles of real programs. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# Report, info and diff on profiles of real programs.
# - every view shows what the program is known to do, as text and for programs;
# - filters keep what they say, and parts add up to the whole;
# - the same holds for the spool of a killed process and of one that runs;
# - diff finds what changed and nothing else, and says so by its status;
# - wrong arguments and broken files: one clear line, 2 and 1;
# - on a terminal lines fit, with colours and a pager; in a pipe they are plain.
section "report, info and diff"

costs=$work/two_costs
[ -x "$costs" ] || skip "$costs is not built"
# Names are kept, as they are for most users.
mkdir "$XDG_CACHE_HOME"

# record NAME COMMAND...: its spool is NAME.sprof.
record() {
    local name=$1
    shift
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/$name.folded" \
        SPROF_KEEP_SPOOL=1 SPROF_COST=off "$@"
    expect_status 0
    [ -s "$name.sprof" ] || fail "no spool of $*"
}

# shows REGEX...: the last output has a line for each.
shows() {
    local regex
    for regex in "$@"; do
        grep -Eq -- "$regex" out || {
            fail "no line matches: $regex"
            sed 's/^/    /' out | head -n 30
        }
    done
}

# report ARGUMENT...: of a.sprof, which must succeed without a word.
report() {
    plain "$sprofile" report "$@" a.sprof
    expect_status 0
    [ ! -s err ] || fail "report $*: $(head -n 1 err)"
}

record a "$costs" 120 2000 2000
record b "$costs" 120 2000 2000
record c "$costs" 120 2000 4000

echo "-- views"
report
shows '^command .*two_costs 120' '^samples .* of 2 threads' \
    '^ cpu flat .* function$' ' first \(two_costs\)$' ' main \(two_costs\)$'
report --wall -n 2
shows '^wall flat .* function$' '^\([0-9]+ more functions; -n 0 shows all\)$'
report --tree
shows '[->] call_both \(two_costs\)$' '[|`]- first \(two_costs\)$'
report --callers first
shows '  first \(two_costs\)$' '[-<] call_both \(two_costs\)$'
! grep -q ' second (' out || fail "second does not call first"
report --by line
shows ' first two_costs\.c:[0-9]+ \(two_costs\)$'
report --by module
shows ' two_costs$'
report --by thread --wall --idle
shows ' two_costs \([0-9]+\)$' ' waiter \([0-9]+\)$'
report --by state --wall
shows ' running$' ' futex$'
report --by process
shows ' two_costs \([0-9]+\)$'
report --lines first
shows '^first \(two_costs\), /.*/two_costs\.c$' \
    '[0-9]+ +[0-9.]+ .* for \(unsigned i = 0;|6364136223846793005u'

echo "-- for programs"
if has python3; then
    cat >check.py <<'P'
import csv, io, json, subprocess, sys
def run(*arguments):
    return subprocess.run([sys.argv[1], "report", *arguments, "a.sprof"],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
whole = json.loads(run("--json"))
total = whole["totals"]["cpu_ns"]
assert total > 0 and whole["filter"] is None and whole["rows_left_out"] == 0
assert whole["asked"] == whole["taken"] + sum(whole["lost"].values())
for by in "function", "line", "module":
    data = json.loads(run("--json", "--by", by))
    assert data["report"] == by
    assert sum(row["cpu_flat_ns"] for row in data["rows"]) == total, by
    assert max(row["cpu_cum_ns"] for row in data["rows"]) <= total, by
    rows = list(csv.DictReader(io.StringIO(run("--csv", "--by", by))))
    assert [list(row) for row in rows] == [list(row) for row in data["rows"]]
    assert [list(map(str, row.values())) for row in data["rows"]] == \
           [list(row.values()) for row in rows], by
for by in "thread", "state", "process":
    data = json.loads(run("--json", "--by", by))
    assert sum(row["cpu_ns"] for row in data["rows"]) == total, by
tree = json.loads(run("--json", "--tree"))["rows"]
assert sum(row["cpu_flat_ns"] for row in tree) == total
assert all(row["parent"] < row["id"] for row in tree)
assert sum(row["cpu_cum_ns"] for row in tree if row["parent"] == 0) == total
callers = json.loads(run("--json", "--callers", "first"))["rows"]
first = [row for row in whole["rows"] if row["function"] == "first"][0]
assert callers[0]["cpu_cum_ns"] == first["cpu_cum_ns"]
for option in ["--focus", "call_both"], ["--ignore", "call_both"]:
    part = json.loads(run("--json", *option))
    assert part["unfiltered"] == whole["totals"]
    total -= part["totals"]["cpu_ns"]
assert total == 0
for parts in [["0-0.05", "0.05-0.1", "0.1-"], ["-0.07", "0.07-"]]:
    left = [json.loads(run("--json", "--time", part)) for part in parts]
    for key in "cpu_ns", "wall_ns", "samples":
        assert sum(part["totals"][key] for part in left) == \
               whole["totals"][key], (parts, key)
P
    plain python3 check.py "$sprofile"
    expect_status 0
    sed 's/^/    /' err | head -n 5
fi

echo "-- filters"
report --thread waiter --by thread
shows '^filter +--thread waiter: [0-9.]+ of [0-9.]+ s CPU' \
    '^samples +[0-9]+ of 1 thread, [0-9]+ looks at waits' \
    ' waiter \([0-9]+\)$'
! grep -q ' two_costs (' out || fail "another thread is left"
report --state futex --wall --label thread=waiter
shows ' wait_until_over \(two_costs\)$'
! grep -q ' first (' out || fail "what ran is left"
report --focus '^first$|^second$' --ignore '^second$'
shows ' first \(two_costs\)$'
! grep -q ' second (' out || fail "second is left"
plain "$sprofile" report --thread nobody a.sprof
expect_status 1
grep -qx 'sprofile: no sample is left by --thread nobody' err ||
    fail "nothing left, and not a word"
plain "$sprofile" info --thread waiter a.sprof
expect_status 0
shows '^filter ' '^1 thread$'
plain "$sprofile" info a.sprof b.sprof c.sprof
expect_status 0
shows '^3 processes$' '^6 threads$' '^ +3  .*/two_costs$'

echo "-- diff"
# The level is so low that chance does not fail this test. How long a process
# takes to begin is not the program's.
plain "$sprofile" diff --shares --focus call_both --level 0.001 \
    --fail-above 5% a.sprof b.sprof
expect_status 0
! grep -q '^slower\|^faster' out ||
    fail "two runs of one program differ: $(sed 's/^/    /' out)"
plain "$sprofile" diff --fail-above 5 a.sprof c.sprof
expect_status 3
shows '^scale ' '^slower$' '\+[0-9.]+ .* second \(two_costs\)$' '^faster$' \
    '-[0-9.]+ .* first \(two_costs\)$'
grep -Eqx 'sprofile: slower by more than 5 %: second \(two_costs\), \+.* %' \
    err || fail "what failed is not told: $(cat err)"
plain "$sprofile" diff --by stack --cpu --fail-above 400% a.sprof c.sprof
expect_status 0
shows ' second < call_both < main < '
# Five times the work: a loaded machine may be half as fast.
record few "$costs" 24 2000 2000
plain "$sprofile" diff --absolute --fail-above 20 few.sprof a.sprof
expect_status 3
head -n 1 out | grep -Eq '^total +\+.* s CPU, \+.* %; seconds' ||
    fail "the total is not first: $(head -n 1 out)"
grep -q 'the total, +' err || fail "the total did not fail"
# Commands differ, so shares are compared, and nothing is known of the total.
plain "$sprofile" diff --fail-above 20 --min 99 few.sprof a.sprof
expect_status 1
grep -q '^sprofile: the total is +.* --absolute, or --shares' err ||
    fail "the total is not told: $(cat err)"
plain "$sprofile" diff --shares --fail-above 20 --min 99 few.sprof a.sprof
expect_status 0
if has python3; then
    plain "$sprofile" diff --json --all a.sprof c.sprof
    python3 -c 'import json, sys
data = json.load(sys.stdin)
assert data["report"] == "diff" and data["rows_left_out"] == 0
row = [row for row in data["rows"] if row["function"] == "second"][0]
assert row["significant"] and row["change_ns"] > 0 and not row["fails"]
assert sum(row["new_ns"] for row in data["rows"]) == data["total"]["new_ns"]
' <out || fail "diff --json is not what is documented"
fi

export SPROF_CACHE=off
cp "$costs" app
record old ./app 50 2000 2000
cp "$work/known_stack.o2" app
record new ./app 200
plain "$sprofile" diff --fail-above 5 old.sprof new.sprof
expect_status 1
grep -q '^sprofile: functions cannot be compared: .* OLD .*replaced' err ||
    fail "a replaced program is not told: $(cat err)"
shows '^note: .*/app is not the file that was profiled'
unset SPROF_CACHE

echo "-- a killed process and a live one"
LD_PRELOAD=$library SPROF_OUTPUT=$tmp/live.folded "$costs" 100000 2000 2000 \
    >/dev/null &
child=$!
end=$((SECONDS + deadline))
until "$sprofile" report --focus '^first$' live.sprof 2>/dev/null |
        grep -q ' first ('; do
    [ $SECONDS -lt $end ] || { fail "a living process is not seen"; break; }
    sleep 0.1
done
for state in live killed; do
    for view in "report --tree" "report --callers first" \
        "report --lines first" "report --by thread" info "diff a.sprof"; do
        # shellcheck disable=SC2086
        plain "$sprofile" $view live.sprof
        expect_status 0
        shows 'two_costs'
    done
    [ $state = killed ] || kill -9 $child
    wait $child 2>/dev/null
done

echo "-- wrong arguments"
# wrong STATUS ARGUMENT...: that status, nothing on stdout, one line that says
# what is wrong (and for wrong usage another one, where help is).
wrong() {
    local expected=$1 lines
    shift
    plain "$sprofile" "$@"
    expect_status "$expected"
    lines=$(grep -c . err)
    [ ! -s out ] && [ "$lines" -eq "$expected" ] ||
        fail "$*: $lines lines, expected $expected: $(cat err)"
    head -n 1 err | grep -q "^sprofile" || fail "$*: $(cat err)"
}
for option in '--by file' '--min x' '--min -1' '--color red' '--label x' \
    '--label =x' '--time 5' '--time 5-4' '--time -' '--time a-b' '--focus (' \
    '--tree --lines f' '--tree --by line' '--min 3' '--lines f -n 3' '-n x' \
    '--thread' '--callers' '--frobnicate'; do
    # shellcheck disable=SC2086
    wrong 2 report $option a.sprof
done 2>&1
for option in '--by line' '--fail-above' '--fail-above x' '--level 0' \
    '--level 100' '-o x.txt' '--cum --by stack' 'a.sprof'; do
    # shellcheck disable=SC2086
    wrong 2 diff a.sprof b.sprof $option
done
for command in report diff info; do
    plain "$sprofile" $command --help
    expect_status 0
    shows "^usage: sprofile $command" '^  --focus REGEX' '^  --color WHEN'
done
wrong 2 diff a.sprof
wrong 2 info --time x a.sprof
echo "no spool" >text
head -c 64 a.sprof >header.sprof
wrong 1 report --callers nobody a.sprof
wrong 1 report --lines '(' a.sprof
wrong 1 report --tree text
wrong 1 report --tree header.sprof
wrong 1 diff a.sprof missing.sprof
wrong 1 diff text a.sprof

echo "-- a terminal"
plain "$sprofile" report --color=always --tree a.sprof
grep -q $'\033' out || fail "no colours when asked"
plain "$sprofile" report a.sprof
! grep -q $'\033' out || fail "colours in a pipe"
# on_terminal COLUMNS COMMAND: what a terminal of that width is sent.
on_terminal() {
    timeout -k 5 "$deadline" script -qec "stty cols $1 rows 24; $2" \
        /dev/null </dev/null >screen 2>&1 || fail "on a terminal: $2"
}
if has script; then
    for columns in 60 100; do
        for view in report "report --tree" "report --callers first" \
            "report --lines first" "report --by line" "diff c.sprof"; do
            on_terminal $columns \
                "SPROF_PAGER= TERM=xterm '$sprofile' $view a.sprof"
            grep -q $'\033' screen || fail "no colours on a terminal: $view"
            sed 's/\x1b\[[0-9]*m//g; s/\r$//' screen |
                awk -v most=$columns 'length > most && !/^note|\/two_costs\.c$|\.[ch]:[0-9]+$/ {
                    print "    " $0; bad = 1 } END { exit bad }' ||
                fail "wider than $columns columns: $view"
        done
    done
    on_terminal 80 "NO_COLOR=1 SPROF_PAGER='sed s/^/paged:/' '$sprofile' \
        report a.sprof"
    ! grep -q $'\033' screen || fail "colours despite NO_COLOR"
    grep -q '^paged:command' screen || fail "no pager"
    on_terminal 80 "SPROF_PAGER='true' '$sprofile' report -n 0 a.sprof"
    ! grep -q 'sprofile:' screen || fail "a pager that ends early is told"
    on_terminal 80 "SPROF_PAGER=no_such_pager '$sprofile' report a.sprof"
    grep -q 'call_both' screen || fail "without a pager nothing is shown"
fi
(trap '' PIPE; "$sprofile" report a.sprof 2>err | true)
[ ! -s err ] || fail "a reader that went away is told: $(cat err)"

echo "-- a program without line numbers"
if has sqlite3; then
    record s sqlite3 :memory: "with recursive n(i) as (select 1 union all
        select i + 1 from n where i < 400000) select sum(i * i % 7) from n;"
    for view in "report" "report --tree" "report --by line" "report --by module" \
        info "diff s.sprof"; do
        # shellcheck disable=SC2086
        plain "$sprofile" $view s.sprof
        expect_status 0
        shows 'sqlite3'
    done
fi

# What diff compares, and that it says so first.
# - the first line has the change of the total and what the rows compare;
# - two runs of one command are compared in seconds, also from another
#   directory; of different commands, or numbers of runs, shares are;
# - --absolute and --shares choose.
section "what diff compares"

mkdir one two
cp "$costs" one/app
cp "$costs" two/app

# record_tree NAME COMMAND...
record_tree() {
    plain "$sprofile" record -q -o "$1" -- "${@:2}"
    expect_status 0
}

# compares WORD OPTION...: the first line says that these are compared.
compares() {
    local word=$1
    shift
    plain "$sprofile" diff "$@"
    expect_status 0
    head -n 1 out | grep -Eq "^total +[-+][0-9.]+ s CPU, [-+][0-9.]+ %; $word " ||
        fail "diff $*: expected $word: $(head -n 1 out)"
}

record_tree a.sprof one/app 40 1000 1000
record_tree b.sprof two/app 40 1000 1000
record_tree c.sprof one/app 200 1000 1000
plain "$sprofile" convert a.sprof a.pb.gz
plain "$sprofile" merge -o twice.sprof a.sprof b.sprof

compares seconds a.sprof b.sprof
if ! grep -Eq '^(slower|faster)$' out; then
    shows '^nothing  a function must change by [0-9.]+ % of all (CPU|wall) time to be seen$' \
        '^         to see [0-9.]+ %, record [0-9.]+ s(, or -F [0-9]+)?$'
fi
! grep -q '^scale' out || fail "seconds are scaled"
compares seconds a.pb.gz b.sprof
compares shares a.sprof c.sprof
grep -q '^scale' out || fail "shares are not scaled"
compares shares a.sprof twice.sprof
compares seconds --absolute a.sprof c.sprof
grep -q '^slower' out || fail "five times the work is not slower"
compares shares --shares a.sprof b.sprof
compares seconds --shares --absolute a.sprof b.sprof
plain "$sprofile" diff a.sprof c.sprof
change=$(sed -n '1s/^total *+\([0-9]*\)\..*/\1/p' out)
[ -n "$change" ] || fail "the total did not grow: $(head -n 1 out)"
if has python3; then
    plain "$sprofile" diff --json a.sprof b.sprof
    python3 -c 'import json, sys
assert json.load(sys.stdin)["absolute"] is True' <out || fail "json: no seconds"
fi

# Names are kept for the next report.
# - the second report says what the first one said, and reads no debug
#   information: the file may even be gone;
# - a damaged file, or one with an answer too few, changes no report;
# - SPROF_CACHE=off keeps nothing, and a directory of others is not used.
section "names that are kept"

kept=$tmp/.cache/sprof
rm -rf "$tmp/.cache"
mkdir "$tmp/.cache"
cp "$work/known_stack.o2" program
profile SPROF_SYMBOLIZE=off SPROF_OUTPUT="$tmp/p.folded" ./program 100
expect_ok
[ -e p.sprof ] || mv ./*.sprof p.sprof
# report NAME [VARIABLE=VALUE]: the report, in NAME.txt.
report() {
    plain env "${@:2}" "$sprofile" report -n 0 p.sprof
    expect_status 0
    mv out "$1.txt"
}
report off SPROF_CACHE=off
! [ -e "$kept" ] || fail "names were kept in spite of SPROF_CACHE=off"
report first
[ -n "$(ls "$kept"/*.names)" ] || fail "no names were kept"
[ "$(stat -c %a "$kept")" = 700 ] || fail "others may read what is kept"
mv program elsewhere
report second
mv elsewhere program
cmp off.txt first.txt || fail "the first report is another one"
cmp first.txt second.txt || fail "the second report is another one"
grep -q work_burn second.txt || fail "the report lacks work_burn"
for file in "$kept"/*.names; do
    truncate -s -1 "$file"
done
report torn
cmp first.txt torn.txt || fail "a torn file changed the report"
report mended
cmp first.txt mended.txt || fail "the report after that is another one"
chmod 777 "$kept"
rm "$kept"/*
report open
[ -z "$(ls "$kept")" ] || fail "names were kept where others may write"
cmp first.txt open.txt || fail "without a directory the report is another one"
mkdir -m 700 mine
report mine SPROF_CACHE=mine
[ -n "$(ls mine)" ] || fail "SPROF_CACHE=mine was not used"

finish
