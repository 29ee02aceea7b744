#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what users see of threads that only wait for work, and of
# the stacks that they ask for.
. "$(dirname "$0")/lib.sh"

# Goals: of wall time, threads that only wait for work are one row at the end of
# the table, the tree and the flame graph, with their number and their time. No
# time is lost. A thread that waits for a mutex whose owner is known is no such
# thread, nor is one that waits at two places, nor one that is asked for.
section "idle threads"

plain "$sprofile" record -q -o a.sprof -- "$work/idle_pool" 8000
expect_status 0
cat >check.py <<'END'
import json, re, subprocess, sys
sprofile, spool = sys.argv[1:]
row = re.compile(r"^ *([0-9.]+) +[0-9.]+ .*  (\S.*)$")
idle = re.compile(r"^\[9 idle threads; --idle shows them\]$")

def run(*options):
    return subprocess.run([sprofile, "report", *options, spool], check=True,
                          stdout=subprocess.PIPE, text=True).stdout

def rows(*options):
    found = [row.match(line) for line in run("--wall", "-n", "0", *options).split("\n")]
    return [(float(match[1]), match[2]) for match in found if match]

data = json.loads(run("--json", "--by", "thread"))
total = data["totals"]["wall_ns"]
threads = [thread for thread in data["rows"] if thread["idle"]]
assert len(threads) == 9, threads
assert data["idle"]["threads"] == 9, data["idle"]
for key in "cpu_ns", "wall_ns", "samples":
    assert sum(thread[key] for thread in threads) == data["idle"][key], key
names = {thread["thread"] for thread in data["rows"] if not thread["idle"]}
assert names == {"burner", "blocked", "walker"}, names
# Nine threads of twelve lived as long as the program.
assert 0.70 < data["idle"]["wall_ns"] / total < 0.80, (data["idle"], total)

wanted = data["idle"]["wall_ns"] / 1e9
for options in [], ["--sort", "cum"], ["--by", "line"], ["--by", "module"]:
    table = rows(*options)
    assert idle.match(table[-1][1]), (options, table[-1])
    assert 0.95 * wanted < table[-1][0] <= wanted + 0.001, (options, table[-1])
    assert abs(sum(time for time, _ in table) - total / 1e9) < 0.001 * len(table), options
# What is left of them is their time on a CPU, and their places have no row.
shown = [line.split() for line in run("--wall", "-n", "0").split("\n")
         if re.search(r" (pool|loop|server)_waits \(", line)]
assert all(float(line[3]) < 0.01 * wanted for line in shown), shown
table = rows("--by", "thread")
assert idle.match(table[-1][1]) and len(table) == 4, table
assert abs(table[-1][0] - wanted) < 0.001, table
assert re.match(r"^\(\d+ more functions; -n 0 shows all\)\n.*  \[9 idle",
                "\n".join(run("--wall", "-n", "1").strip().split("\n")[-2:])), run("--wall", "-n", "1")
for options in ["--tree", "--min", "3"], ["--flame", "--min", "3"]:
    text = run("--wall", *options)
    assert "pool_waits" not in text, text
    assert "lock_held" in text or options[0] == "--flame", text
tree = [line for line in run("--wall", "--tree", "--min", "0").split("\n")
        if row.match(line)]
assert tree[-1].endswith("[9 idle threads; --idle shows them]"), tree[-1]
assert re.search(r"^\[[^\n]*\]\n\[[^\n]*\[9 idle threads", run("--wall", "--flame"), re.M)

for options in ["--idle"], ["--thread", "idle_pool"], ["--focus", "pool_waits"]:
    text = run("--wall", *options)
    assert "pool_waits (idle_pool)" in text and "idle thread" not in text, (options, text)
for options in ["--cpu"], ["--wall", "--csv"], ["--wall", "--json"], \
        ["--wall", "--callers", "pool_waits"], ["--wall", "--by", "state"]:
    assert "idle threads;" not in run(*options), options
whole = json.loads(run("--wall", "--json"))
assert sum(line["wall_flat_ns"] for line in whole["rows"]) == total
END
plain python3 check.py "$sprofile" a.sprof
expect_status 0
sed 's/^/    /' err | tail -n 5
plain "$sprofile" record -q -o b.sprof -- "$work/idle_pool" 300 alone
plain "$sprofile" report --wall b.sprof
grep -q 'work_sleep (idle_pool)$' out || fail "the only thread: $(cat out)"
! grep -q 'idle thread' out || fail "the only thread of a program is idle"

plain "$sprofile" top --once --wall --since-start -n 0 a.sprof
sed -n '/^functions/,/^$/p' out | sed '/^$/d' >functions
tail -n 1 functions | grep -q '  \[9 idle threads; --idle shows them\]$' ||
    fail "top: the last row: $(tail -n 1 functions)"
awk '/ pool_waits / && $3 > 1 { exit 1 }' functions || fail "top: idle threads: $(cat functions)"
awk '$1 ~ /^[0-9]/ { sum += $1 } END { exit sum < 99 || sum > 101 }' functions ||
    fail "top: the shares are not 100 %: $(cat functions)"
sed -n '/^threads  *by/,$p' out | grep -q '\[idle threads\]  *9  ' ||
    fail "top: threads: $(cat out)"
plain "$sprofile" top --once --wall --idle --since-start -n 0 a.sprof
grep -q ' pool_waits ' out || fail "top --idle: $(cat out)"
! grep -q 'idle thread' out || fail "top --idle has a row for them"

# Goals: every stack that --focus leaves has a function that matches, in every
# view and in every format. So that function's time is all that is left. A note
# about a stack is no function, unless it is asked for by its brackets.
section "focus"

cat >focus.py <<'END'
import json, subprocess, sys
sprofile, spool, function = sys.argv[1:]
only = "^%s$" % function

def run(*words):
    return subprocess.run([sprofile, *words], check=True, stdout=subprocess.PIPE,
                          text=True).stdout

def whole(*words):
    data = json.loads(run("report", "--json", *words))
    row = [row for row in data["rows"] if row["function"] == function]
    assert data["rows"], words
    for key in "cpu", "wall":
        assert sum(its[key + "_cum_ns"] for its in row) == data["totals"][key + "_ns"], \
            (words, key, row, data["totals"])

whole("--focus", only, spool)
whole("--wall", "--focus", only, spool)
tree = json.loads(run("report", "--json", "--tree", "--focus", only, spool))
above = {row["id"]: row for row in tree["rows"]}
top = 0
for row in tree["rows"]:
    up = row
    while up["parent"] and above[up["parent"]]["function"] != function:
        up = above[up["parent"]]
    if row["function"] == function and not up["parent"]:
        top += row["wall_cum_ns"]
assert top == tree["totals"]["wall_ns"], (top, tree["totals"])
for ending in "sprof", "pb.gz":
    run("convert", "--focus", only, spool, "part." + ending)
    whole("part." + ending)
    whole("--focus", only, "part." + ending)
run("convert", "--wall", "--focus", only, spool, "part.folded")
for line in open("part.folded"):
    assert function in line.rsplit(" ", 1)[0].split(";"), line
lines = [line for line in run("top", "--once", "--wall", "--by", "function", "--focus",
                              only, "--since-start", spool).split("\n")
         if line.endswith(" %s (two_costs)" % function)]
assert len(lines) == 1 and float(lines[0].split()[2]) == 100, lines
END
plain "$sprofile" record -q -o a.sprof -- "$work/two_costs" 200 2000 2000
for function in first call_both; do
    plain python3 focus.py "$sprofile" a.sprof $function
    expect_status 0
    sed 's/^/    /' err | tail -n 3
done
plain "$sprofile" record -q -o b.sprof -- "$work/deep_recursion"
plain "$sprofile" report --json --wall b.sprof
grep -q '"\[frames elided\]"' out || fail "no stack is cut: the test proves nothing"
plain "$sprofile" report --focus 'frames' b.sprof
expect_status 1
grep -q 'no sample is left by --focus frames' err || fail "a note is a function: $(head -n 5 out)"
plain "$sprofile" top --once --focus 'frames' b.sprof
! grep -q 'frames elided' out || fail "top: a note is a function: $(cat out)"
plain "$sprofile" report --focus '\[frames elided' b.sprof
expect_status 0
plain "$sprofile" report --ignore 'elided' --json b.sprof
grep -q '"\[frames elided\]"' out || fail "--ignore takes a note for a function"

# Goals: what a pprof file says of the error of a share is what its spool says.
section "the error of a pprof file"

plain "$sprofile" record -q -o a.sprof -- "$work/short_threads" 300 3
plain "$sprofile" convert a.sprof a.pb.gz
for input in a.sprof a.pb.gz; do
    plain "$sprofile" report -n 1 $input
    awk '/function$/ { getline; print $3, $(NF - 1) }' out >$input.error
    grep 'at least as large' out >$input.note
done
[ -s a.sprof.error ] || fail "no error: $(cat out)"
paste -d ' ' a.sprof.error a.pb.gz.error |
    awk '{ exit !($3 > 0.8 * $1 && $3 < 1.25 * $1) }' ||
    fail "of a spool and of its pprof file: $(cat a.sprof.error a.pb.gz.error)"
[ ! -s a.pb.gz.note ] || fail "a note: $(cat a.pb.gz.note)"

finish
