#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what report shows, and that it explains itself.
# - a head of three lines, whatever the profile and the filter;
# - rows in the order that --sort says; executables and commands as rows;
# - --callees, --depth and --flame agree with the tree that they are parts of;
# - a function that is the only one called is told from its caller's siblings;
# - --module keeps what --by module says of it;
# - one-valued formats have CPU time, and wall time after --wall or .wall;
# - every word of a head and of the causes below it is explained.
. "$(dirname "$0")/lib.sh"

costs=$work/two_costs
[ -x "$costs" ] || skip "$costs is not built"

plain "$sprofile" record -q -o a.sprof -- \
    sh -c "'$costs' 100 2000 2000; '$costs' 100 2000 2000; '$work/sleepers' 3"
[ -s a.sprof ] || fail "nothing was recorded"

# report ARGUMENT...: of a.sprof, which must succeed without a word.
report() {
    plain "$sprofile" report "$@" a.sprof
    expect_status 0
    [ ! -s err ] || fail "report $*: $(head -n 1 err)"
}

# head_lines: how many lines stand before the first empty one.
head_lines() {
    awk '/^$/ { exit } { count++ } END { print count + 0 }' out
}

# cell COLUMN REGEX: a number in the first row that matches.
cell() {
    awk -v column="$1" -v regex="$2" '$0 ~ regex { print $column; exit }' out
}

echo "-- head"
for options in "" "--tree" "--flame" "--wall --thread nobody --focus x" \
    "--module two_costs --time 0-1"; do
    # shellcheck disable=SC2086
    plain "$sprofile" report $options a.sprof
    [ "$(head_lines)" -le 3 ] || fail "$options: $(head_lines) lines of head"
done

echo "-- order and rows"
report -n 0
sed -n '/cpu flat/,$p' out | awk 'NR > 1 && $1 > last && NR > 2 { exit 1 }
    { last = $1 }' || fail "not sorted by flat time"
report -n 0 --sort cum
sed -n '/cpu flat/,$p' out | awk 'NR > 2 && $3 > last { exit 1 }
    { last = $3 }' || fail "--sort cum: not sorted by cumulative time"
report -n 3 --sort wall
grep -q '^wall flat' out || fail "--sort wall: wall time is not first"
report --by exe
[ "$(grep -c '/two_costs$' out)" -eq 1 ] || fail "two_costs is not one row"
report --by process
[ "$(grep -c ' two_costs ([0-9]*)$' out)" -eq 2 ] || fail "two processes"
report --by command
[ "$(grep -c 'two_costs 100 2000 2000$' out)" -eq 1 ] || fail "one command"

echo "-- module"
report --by module
expected=$(cell 1 ' two_costs$')
report --module two_costs
grep -Eq "^filter .*, $expected of [0-9.]+ s CPU" out ||
    fail "$expected s are in two_costs: $(sed -n 2p out)"

echo "-- tree, callees and depth"
report --tree --focus '^call_both$'
grep -q ' > call_both (two_costs)$' out || fail "the only callee has no mark"
whole=$(cell 1 '[-] first [(]two_costs')
grep -q '[|`]- first (two_costs)$' out || fail "siblings have no rails"
report --callees call_both --min 0
[ "$(cell 1 ' first [(]two_costs')" = "$whole" ] ||
    fail "first has $whole s: $(grep first out)"
! grep -q ' main ' out || fail "main is no callee"
report --callees main --depth 2
[ "$(sed -n '/call tree/,$p' out | grep -c '(two_costs)')" -ge 2 ] &&
    ! grep -q ' first (' out || fail "--depth 2: $(cat out)"
report --callers first --depth 2
! grep -q ' main (' out || fail "--callers --depth 2: $(cat out)"

echo "-- flame"
report --flame
! grep -q $'\033' out || fail "colours in a pipe"
flame=$(sed '1,/^$/d' out)
[ "$(wc -L <<<"$flame")" -le 100 ] || fail "wider than 100 columns"
grep -q '^\[all [0-9.]* s CPU *\]$' <<<"$flame" || fail "no root: $flame"
grep -q '\[first [0-9.]* %' <<<"$flame" || fail "no first: $flame"
if has script; then
    for columns in 60 120; do
        timeout -k 5 "$deadline" script -qec "stty cols $columns rows 24; \
            TERM=xterm SPROF_PAGER= '$sprofile' report --flame a.sprof" \
            /dev/null </dev/null | tr -d '\r' >screen
        grep -q $'\033\\[30;4[13]m' screen || fail "no colours"
        [ "$(sed '1,/^$/d; s/\x1b\[[0-9;]*m//g' screen | wc -L)" -le $columns ] ||
            fail "wider than $columns columns"
    done
fi

echo "-- CPU and wall time"
for ending in folded collapsed speedscope.json; do
    plain "$sprofile" convert a.sprof "c.$ending"
    expect_status 0
    plain "$sprofile" convert --wall a.sprof "w.$ending"
    expect_status 0
    ! grep -q '\[waiting\]' <(grep -v '"frames"' "c.$ending") ||
        [ "$ending" = speedscope.json ] || fail "$ending: waits"
    grep -q '\[waiting\]' "w.$ending" || fail "$ending --wall: no waits"
done
grep -q ': CPU time"' c.speedscope.json || fail "speedscope: not CPU time"
grep -q ': wall time"' w.speedscope.json || fail "speedscope: not wall time"
plain "$sprofile" convert a.sprof e.wall.folded
cmp -s e.wall.folded w.folded || fail ".wall.folded is not --wall"
plain "$sprofile" record -q --wall -o r.folded -- sleep 0.2
grep -q '\[waiting\]' r.folded || fail "record --wall: no waits"
plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/l.folded" "$costs" 50 1000 1000
[ -s l.folded ] && ! grep -q '\[waiting\]' l.folded || fail "SPROF_OUTPUT: waits"

echo "-- words"
plain "$sprofile" help words
expect_status 0
[ "$(wc -L <out)" -le 79 ] || fail "a word is explained in more than 79 columns"
for word in cut lost parked 'not asked' asked cost runnable flat cum peeked \
    '\[not sampled\]' '\[truncated\]' throttled 'no rule' exited timers; do
    grep -Eq "^  $word(  |$)" out || fail "$word is not explained"
done

finish
