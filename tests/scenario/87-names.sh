#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what functions are called.
# - without parameters, return types and long template arguments, in every
#   format and every command; with all of them after --full-names;
# - whatever form a file has, the other can be made of it later;
# - pprof has the short name and the one of the symbol table;
# - on a terminal the columns of wall time go before a name is cut, then the
#   name's middle goes; a file's text, and a file with its line, are whole.
. "$(dirname "$0")/lib.sh"

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
    '(anonymous namespace)::hidden' 'call_all')
full=('shop::price(int)' 'void (*shop::choose<short>(short))(int)'
    'shop::Order::operator<(shop::Order const&) const'
    'shop::Order::operator()(char const*) const'
    '(anonymous namespace)::hidden(int)' 'call_all()')

plain "$sprofile" record -q -o a.sprof -- "$program" 40
expect_status 0
plain "$sprofile" convert a.sprof a.pb.gz
expect_status 0
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
profile "$program" 40
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
    on_terminal 100 -n 0 a.sprof
    ! grep -q ' wall flat ' out || fail "100 columns: names have too few"
    shows "${short[@]}"
    on_terminal 70 -n 0 a.sprof
    grep -Eq ' shop::Ind[^ ]*\.\.\.[^ ]*#1}> \(long_names\)$' out ||
        fail "70 columns: no name without its middle"
    [ "$(sed -n '/cpu flat/,$p' out | wc -L)" -le 70 ] ||
        fail "lines of more than 70 columns"
    on_terminal 60 -n 0 --by line a.sprof
    [ "$(grep -c 'long_names\.cc:[0-9]' out)" -ge 9 ] ||
        fail "60 columns: files are cut"
fi

finish
