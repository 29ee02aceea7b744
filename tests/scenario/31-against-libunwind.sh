#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: on live samples of real programs the walk by rules finds
# what libunwind finds.
# - >= 10,000 stacks of python3, sqlite3, xz, the C compiler and perl, walked
#   both ways at the same instant, are equal frame by frame to their root;
# - so are those of workloads with realigned stacks, procedure linkage stubs,
#   signal handlers, alternate stacks and deep recursion;
# - the few that are not lie in code without an unwind table, where both guess.
. "$(dirname "$0")/lib.sh"
compare=$build/tests/sprof_compare.so
[ -e "$compare" ] || skip "$compare is not built"
wanted=10000

cat >job.py <<'P'
import json, re
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(collatz(n) for n in range(1, 40000)))
text = json.dumps([{"key": i, "text": "x" * (i % 50)} for i in range(30000)])
print(len(json.loads(text)), len(re.findall(r"x+", text)))
print(sum(sorted(hash(str(i)) % 1000 for i in range(300000))) > 0)
P
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

# sum KEY FILE...: of what the numbers behind KEY say.
sum() {
    sed -n "s/.*\\b$1 \\([0-9]*\\).*/\\1/p" "${@:2}" |
        awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# walk_twice COMMAND...: its stacks, and its children's, are added to results.
walk_twice() {
    command -v "$1" >/dev/null || { echo "$1 is not installed"; return; }
    plain env LD_PRELOAD="$compare" SPROF_COMPARE="$tmp/result" "$@"
    expect_status 0
    cat result.* >>results
    echo "${1##*/}: $(sum compared result.*) compared, $(sum equal result.*) equal," \
        "$(sum frames result.*) frames, $(sum hard result.*) stepped by libunwind"
    rm -f result.*
}

python=/usr/bin/python3
[ -x "$python" ] || python=python3
for round in 1 2 3 4 5 6 7 8; do
    [ "$round" -eq 1 ] || echo "-- round $round"
    walk_twice "$python" job.py
    walk_twice sqlite3 :memory: "$sql"
    walk_twice xz -T2 --block-size=512KiB -6 -k -c numbers
    walk_twice gcc -O2 -c large.c -o large.o
    walk_twice perl job.pl
    [ "$(sum compared results)" -lt "$wanted" ] || break
done
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
# frames behind; the walker says that it has no rule. Nothing else is explained.
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
