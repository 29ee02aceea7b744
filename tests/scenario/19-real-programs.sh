#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: stacks of programs as a distribution ships them. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# Programs as a distribution ships them.
# - python3, xz and sqlite3 compute what they compute without the library;
# - >= 99 % of their stacks reach the root.
section "with the library"

# reaches_root COMMAND...: profiled, compared with a plain run.
reaches_root() {
    has "$1" || return
    rm -f p.folded
    expect_same "$@"
    expect_roots 99 p.folded
    expect_share 99 '^[^[]' p.folded
    expect_samples 200 p.folded
}

cp "$here/job.py" .
seq 1 700000 >numbers
sql="with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 400000) select count(*), sum(i * i % 7), max(s) from
    (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc);"

reaches_root python3 job.py
reaches_root /usr/bin/python3 job.py
reaches_root xz -T2 --block-size=1MiB -4 -k -c numbers
reaches_root sqlite3 :memory: "$sql"

# On live samples of real programs the walk by rules finds what libunwind finds.
# - >= 10,000 stacks of python3, sqlite3, xz, the C compiler and perl, walked
#   both ways at the same instant, are equal frame by frame to their root;
# - so are those of workloads with realigned stacks, procedure linkage stubs,
#   signal handlers, alternate stacks and deep recursion;
# - the few that are not lie in code without an unwind table, where both guess.
section "against libunwind"

compare=$build/tests/sprof_compare.so
[ -e "$compare" ] || { lacks libunwind "$compare is not built"; finish; }
wanted=10000

cp "$here/job.py" .
cat >job.pl <<'P'
my %seen;
for my $i (1 .. 60000) {
    my $text = join ",", map { $_ * $i } 1 .. 5;
    $seen{substr $text, 0, 6} .= "x" if $text =~ /(\d)(?:,\d*)+\1/;
}
print scalar(sort { $seen{$a} cmp $seen{$b} || $a <=> $b } keys %seen), "\n";
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
print fib(18), "\n";
P
for i in $(seq 60); do
    echo "int f$i(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) {" \
        "s += a[i] * $i % 13; if (s > $i * 7) s -= a[n - i - 1];" \
        "switch (s & 7) { case 1: s++; break; case 2: s *= 3; break;" \
        "case 5: s ^= n; } } return s; }"
done >large.c
seq 1 400000 >numbers
sql="with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 250000) select count(*), sum(i * i % 7), max(s) from
    (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc);"

# sum KEY FILE...: of the numbers after KEY.
sum() {
    sed -n "s/.*\\b$1 \\([0-9]*\\).*/\\1/p" "${@:2}" |
        awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# walk_twice COMMAND...: its stacks, and its children's, are added to results.
walk_twice() {
    has "$1" || return
    plain env LD_PRELOAD="$compare" SPROF_COMPARE="$tmp/result" "$@"
    expect_status 0
    cat result.* >>results
    echo "${1##*/}: $(sum compared result.*) compared, $(sum equal result.*) equal," \
        "$(sum frames result.*) frames, $(sum hard result.*) stepped by libunwind"
    rm -f result.*
}

python=/usr/bin/python3
[ -x "$python" ] || python=python3
for round in {1..20}; do
    echo "-- round $round"
    walk_twice "$python" job.py
    walk_twice sqlite3 :memory: "$sql"
    walk_twice xz -T2 --block-size=512KiB -6 -k -c numbers
    walk_twice gcc -O2 -c large.c -o large.o
    walk_twice perl job.pl
    [ "$(sum compared results)" -lt "$wanted" ] || break
done
[ -s results ] || finish
compared=$(sum compared results)
[ "$compared" -ge "$wanted" ] || fail "$compared stacks, expected $wanted"
for name in drap plt_loop signal_handler_frames sigaltstack_work deep_recursion
do
    [ ! -x "$work/$name" ] || walk_twice "$work/$name" 300
done
compared=$(sum compared results) equal=$(sum equal results)

# Explained: "tables no". In code without a table (libgmp's assembly, the
# start-up files' destructors) libunwind tries rbp as a frame pointer, whatever
# it holds, takes a failure for the root, and has lost the stack pointer for the
# next frames; the walker says that it has no rule. Nothing else is explained.
grep '^differ' results | grep -v ' tables no ' >unexplained
explained=$(grep '^differ' results | grep ' tables no ' | sum differ)
echo "$compared compared, $equal equal, $explained without a table"
if [ -s unexplained ]; then
    fail "the walks differ:"
    head -n 20 unexplained | sed 's/^/    /'
fi
[ $((equal + explained)) -eq "$compared" ] ||
    fail "$compared compared are not $equal equal + $explained explained"
[ "$(share "$explained" "$compared")" -lt 100 ] ||
    fail "$explained of $compared go through code without a table, expected < 1 %"

finish
