#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what a report shows, and what it calls things. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# What report shows, and that it explains itself.
# - a head of three lines, whatever the profile and the filter;
# - rows in the order that --sort says; executables and commands as rows;
# - --callees, --depth and --flame agree with the tree that they are parts of;
# - a function that is the only one called is shown apart from its caller's
#   siblings;
# - --module keeps what --by module says of it;
# - one-valued formats have CPU time, and wall time after --wall or .wall;
# - every word of a head and of the causes below it is explained.
section "views"

costs=$work/two_costs
[ -x "$costs" ] || skip "$costs is not built"

plain "$sprofile" record -q -o a.sprof -- \
    sh -c "'$costs' 60 2000 2000; '$costs' 60 2000 2000; '$work/sleepers' 3"
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
    [ "$(head_lines)" -le 4 ] || fail "$options: $(head_lines) lines of head"
done

echo "-- order and rows"
report -n 0
sed -n '/cpu flat/,$p' out | awk 'NR > 1 && $1 > last && NR > 2 { exit 1 }
    { last = $1 }' || fail "not sorted by flat time"
report -n 0 --sort cum
sed -n '/cpu flat/,$p' out | awk 'NR > 2 && $4 > last { exit 1 }
    { last = $4 }' || fail "--sort cum: not sorted by cumulative time"
report -n 3 --sort wall
grep -q '^wall flat' out || fail "--sort wall: wall time is not first"
report --by exe
[ "$(grep -c '/two_costs$' out)" -eq 1 ] || fail "two_costs is not one row"
report --by process
[ "$(grep -c ' two_costs ([0-9]*)$' out)" -eq 2 ] || fail "two processes"
report --by command
[ "$(grep -c 'two_costs 60 2000 2000$' out)" -eq 1 ] || fail "one command"

echo "-- module"
report --by module
expected=$(cell 1 ' two_costs$')
report --module two_costs
grep -Eq "^filter .*: $expected of [0-9.]+ s CPU" out ||
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
plain "$sprofile" record -q --wall -o r.folded,r.sprof -- "$costs" 50 2000 2000
grep -q '\[waiting\]' r.folded || fail "record --wall: no waits"
plain "$sprofile" convert --wall r.sprof r2.folded
cmp -s r.folded r2.folded || fail "record --wall is not convert --wall"
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

# What functions are called.
# - without parameters, return types and long template arguments, in every
#   format and every command; with all of them after --full-names;
# - whatever form a file has, the other can be made of it later;
# - pprof has the short name and the one of the symbol table;
# - on a terminal the columns of wall time go before a name is cut, then the
#   name's middle goes; a file's text, and a file with its line, are whole.
section "names"

program=$work/long_names
[ -x "$program" ] || skip "$program is not built"

# shows WORDS...: the last output has a function of each name, to the end of
# the line or to its module.
shows() {
    local words
    for words in "$@"; do
        grep -Fq -- "$words (long_names)" out || grep -Fq -- "$words;" out ||
            fail "no function is called $words: $(head -n 30 out)"
    done
}

short=('shop::price' 'shop::choose<short>' 'shop::Order::operator<'
    'shop::Order::operator()' 'shop::Order::operator std::vector<int>'
    'shop::Index<int, long>::visit<call_all::{lambda#1}>'
    'shop::Index<...>::visit<call_all::{lambda#1}>'
    '(anonymous namespace)::hidden' 'call_all' '$s4main3fooyyF')
full=('shop::price(int)' 'void (*shop::choose<short>(short))(int)'
    'shop::Order::operator<(shop::Order const&) const'
    'shop::Order::operator()(char const*) const'
    '(anonymous namespace)::hidden(int)' 'call_all()' '$s4main3fooyyF')

plain env SPROF_COST=off "$sprofile" record -q -o a.sprof -- "$program" 200
expect_status 0
plain "$sprofile" convert a.sprof a.pb.gz
expect_status 0
# What ± means for a pprof file is said where it is shown.
plain "$sprofile" report a.pb.gz
grep -q '^note: ± ' out || fail "no note on ±: $(cat out)"
plain "$sprofile" report --flame a.pb.gz
! grep '^note: ± ' out || fail "there is no ±"
plain "$sprofile" convert --full-names a.sprof full.pb.gz
expect_status 0
plain "$sprofile" convert --full-names a.sprof full.sprof
expect_status 0

echo "-- both forms of every input"
for input in a.sprof a.pb.gz full.pb.gz full.sprof; do
    plain "$sprofile" report -n 0 "$input"
    shows "${short[@]}"
    ! grep -Eq 'price\(|void |const ' out || fail "$input: a long name"
    plain "$sprofile" report -n 0 --full-names "$input"
    shows "${full[@]}"
done

echo "-- one row for what has one name"
plain "$sprofile" report -n 0 a.sprof
[ "$(grep -c ' shop::price ' out)" -eq 1 ] || fail "price has several rows"
plain "$sprofile" report -n 0 --full-names a.sprof
[ "$(grep -c ' shop::price(' out)" -eq 2 ] || fail "price is overloaded once"

echo "-- other formats and commands"
for ending in folded speedscope.json json txt; do
    plain "$sprofile" convert a.sprof "p.$ending"
    expect_status 0
    grep -Fq 'shop::Order::operator<' "p.$ending" &&
        ! grep -Fq 'shop::Order const&' "p.$ending" ||
        fail "$ending: a long name"
    plain "$sprofile" convert --full-names a.sprof "p.$ending"
    grep -Fq 'shop::Order::operator<(shop::Order const&) const' "p.$ending" ||
        fail "$ending --full-names: a short name"
done
gzip -dc a.pb.gz >a.pb
grep -aq '_ZN4shop5priceEi' a.pb || fail "pprof has no system_name"
plain "$sprofile" diff -n 0 --all --cum a.sprof full.pb.gz
shows "${short[@]}"
plain "$sprofile" diff -n 0 --all --cum --full-names a.sprof a.pb.gz
shows "${full[@]}"
plain "$sprofile" report --focus '^shop::price$' a.sprof
shows shop::price
plain "$sprofile" report --full-names --focus '^shop::price\(int\)$' a.sprof
shows 'shop::price(int)'
profile SPROF_COST=off "$program" 200
grep -Fq ';shop::price;' p.folded || fail "the library's own names are long"

# on_terminal COLUMNS ARGUMENT...: a report as a terminal shows it, in out.
on_terminal() {
    local columns=$1
    shift
    timeout -k 5 "$deadline" script -qec "stty cols $columns rows 24; \
        SPROF_PAGER= '$sprofile' report --color never $*" /dev/null </dev/null |
        tr -d '\r' >out
}

if has script; then
    on_terminal 140 -n 0 a.sprof
    grep -q ' wall flat ' out || fail "140 columns: no wall time"
    on_terminal 106 -n 0 a.sprof
    ! grep -q ' wall flat ' out || fail "106 columns: names have too few"
    shows "${short[@]}"
    on_terminal 76 -n 0 a.sprof
    grep -Eq ' shop::Ind[^ ]*\.\.\.[^ ]*#1}> \(long_names\)$' out ||
        fail "76 columns: no name without its middle"
    [ "$(sed -n '/cpu flat/,$p' out | wc -L)" -le 76 ] ||
        fail "lines of more than 76 columns"
    on_terminal 60 -n 0 --by line a.sprof
    [ "$(grep -c 'long_names\.cc:[0-9]' out)" -ge 9 ] ||
        fail "60 columns: files are cut"
fi

# Names from a copy of another machine's files.
# - --sysroot takes the program, and its debug file, from there alone;
# - so does annotate, with its source, too;
# - what is not there has no name.
section "another machine's files"

mkdir -p here "there$tmp/here"
cp "$work/known_stack.split" "$work/known_stack.split.debug" here
profile SPROF_KEEP_SPOOL=1 here/known_stack.split 200
expect_status 0
mv here/* "there$tmp/here"
id=$(readelf -n "$work/known_stack.split" | sed -n 's/.*Build ID: //p')
mkdir -p "there/usr/lib/debug/.build-id/${id:0:2}"
mv "there$tmp/here/known_stack.split.debug" \
    "there/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
plain "$sprofile" report -n 0 p.sprof
! grep -q leaf_spin out || fail "a name without a file"
mkdir empty
for root in there there/ "$tmp/there"; do
    plain "$sprofile" report -n 0 --sysroot "$root" p.sprof
    expect_status 0
    grep -q 'leaf_spin.*known_stack' out || fail "$root: no name"
done
file=$("$sprofile" report --sysroot there --by line -n 0 --json p.sprof |
    sed -n 's/.*"file": *"\([^"]*known_stack[^"]*\)".*/\1/p' | head -n 1)
mkdir -p "there$(dirname "$file")"
sed 's/leaf_spin(/& \/* the copy *\/ /' "$file" >"there$file"
plain "$sprofile" annotate --sysroot there leaf_spin p.sprof
grep -q 'the copy' out || fail "annotate: not the source below --sysroot"
plain "$sprofile" annotate --sysroot there work_burn p.sprof
sed '1,/machine code/d' out | grep -qE '^ +[0-9]+\.[0-9]+ +[0-9.]+' ||
    fail "annotate: no machine code: $(cat out)"
rm "there$file"
plain "$sprofile" annotate --sysroot there leaf_spin p.sprof
grep -q 'leaf_spin(' out || fail "annotate: no source of this machine"
plain "$sprofile" report -n 0 --sysroot empty p.sprof
! grep -qE 'leaf_spin|__libc_start_main' out || fail "names from here"
plain "$sprofile" report --sysroot none p.sprof
expect_status 2

# What `sprofile info` says of frames without names.
# - each hint once, however many files need it;
# - no package is advised for a file that no package has brought, as of a wheel.
section "hints"

for tool in cc strip /usr/bin/python3; do
    command -v $tool >/dev/null || { lacks hints "no $tool"; finish; }
done

cat >burn.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) static void
burn(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        sink += i;
}
void
spin(unsigned long count)
{
    burn(count);
    sink++;
}
END
site=venv/lib/python3.11/site-packages
mkdir -p $site/one $site/two
cc -O1 -shared -fPIC -o $site/one/one.so burn.c -Wl,--build-id || fail "cc"
cc -O1 -shared -fPIC -o $site/two/two.so -DOTHER burn.c \
    -Wl,--build-id=0x1234567890abcdef || fail "cc"
strip $site/one/one.so $site/two/two.so
cat >job.py <<'END'
import ctypes, sys, time
spins = [ctypes.CDLL(path).spin for path in sys.argv[1:]]
end = time.thread_time() + 0.4
while time.thread_time() < end:
    for spin in spins:
        spin(ctypes.c_ulong(100000))
END
profile SPROF_OUTPUT="$tmp/p.sprof" /usr/bin/python3 job.py \
    "$tmp/$site/one/one.so" "$tmp/$site/two/two.so"
expect_status 0
plain "$sprofile" info p.sprof
expect_status 0
sed -n '/^frames without names/,$p' out >table
cat table
for name in one two; do
    grep -q "/$name.so \[[0-9]*\]$" table || fail "no row for $name.so"
done
[ "$(grep -E '/(one|two)\.so \[' table | sed 's/.* //' | sort -u |
    wc -l)" -eq 1 ] || fail "two hints for two files of one kind"
number=$(sed -n 's/.*one\.so \[\([0-9]*\)\]$/\1/p' table)
[ "$(grep -cF "  [$number] no package" table)" -eq 1 ] || fail "not that hint"
[ "$(grep -cF 'no package' table)" -eq 1 ] || fail "the hint more than once"
[ "$(grep -cF 'dpkg -S' table)" -le 1 ] || fail "the other hint more than once"

finish
