#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: threads: each is in the profile under its name, or those
# that registered. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - every thread is seen, with its own stack;
# - a thread has the name that it had last, whenever it chose it.
section "all threads"

profile SPROF_COST=off "$work/many_threads" 20 100
expect_ok
expect_stacks 98 ';worker'
for parity in even odd; do
    expect_share 30 "${parity}_work" p.folded ';worker.*work_burn'
done
expect_samples 500 p.folded

profile SPROF_COST=off SPROF_KEEP_SPOOL=1 "$work/many_threads" 300 10
expect_ok
expect_stacks 95 ';worker'
expect_samples 2000 p.folded
plain "$sprofile" report --by thread -n 0 p.sprof
# One that comes and goes between two looks is in [short-lived].
count=$(grep -oE ' worker-[0-9]+ \([0-9]+\)$' out | sort -u | wc -l)
[ "$count" -ge 260 ] && [ "$count" -le 300 ] ||
    fail "$count of 300 threads are in the profile"
rm -f p.sprof

# Goal:
# - a thread has no more wall time than it lived, and begins before its samples,
#   though most of these have ended when the sampler hears of them. The first one
#   waits, and two others run.
profile SPROF_KEEP_SPOOL=1 "$work/short_threads" 1000 3
expect_ok
plain "$sprofile" convert p.sprof p.json
expect_status 0
plain "$sprofile" report --json p.sprof
/usr/bin/python3 - <<'END' || fail "times of short threads"
import json
for thread in json.load(open("p.json"))["threads"]:
    assert all(thread["registerTime"] <= time + 0.001
               for time in thread["samples"]["time"])
made = json.load(open("out"))
wall, length = made["totals"]["wall_ns"], made["duration_ns"]
print(f"{wall / 1e9:.3f} s of wall time in {length / 1e9:.3f} s")
assert 0.95 * length < wall < 3.1 * length
END
rm -f p.sprof p.json

for rate in $rates; do
    for how in ends waits 'waits 1500'; do
        # shellcheck disable=SC2086
        profile SPROF_COST=off SPROF_FREQUENCY="$rate" SPROF_OUTPUT="$tmp/n.sprof" \
            "$work/late_names" $how
        expect_ok
        "$sprofile" report --wall --idle --by thread -n 0 n.sprof >threads
        count=$(grep -cE ' named-[0-9]+ \([0-9]+\)$' threads)
        # One that ends may have come and gone between two looks.
        least=20
        [ "$how" != ends ] || least=15
        [ "$count" -ge $least ] || fail "$how: $count threads have their names"
        rm -f n.sprof
    done
done

# SPROF_THREADS=registered.
# - only threads that registered are in the profile, under each trigger;
# - with all threads, registering gives a thread its name;
# - without the library the calls do nothing.
section "registered threads"

for trigger in auto timer ask; do
    echo "-- $trigger"
    profile SPROF_TRIGGER=$trigger SPROF_THREADS=registered \
        "$work/registered_threads" 400
    expect_ok
    expect_share 95 'listed_work' p.folded
    ! grep unlisted_work p.folded || fail "a thread that did not register"
    expect_samples 100 p.folded
done

profile SPROF_KEEP_SPOOL=1 "$work/registered_threads" 200
expect_ok
grep -q ';unlisted_work' p.folded || fail "the other thread is not there"
plain "$sprofile" info p.sprof
grep -q ' listed$' out || fail "the thread has not its name"

# Goal:
# - of threads that register, compute for a moment and end, all CPU time since
#   they registered is in the profile, and nothing of before.
for count in 4 60; do
    for trigger in perf timer; do
        echo "-- $count threads, $trigger"
        profile SPROF_TRIGGER=$trigger SPROF_THREADS=registered \
            SPROF_MODE=cpu SPROF_COST=off SPROF_KEEP_SPOOL=1 \
            "$work/registered_threads" $((300 / count)) "$count"
        expect_ok
        true_ns=$(awk '$1 == "truth" { print $3 }' out)
        "$sprofile" report --json -n 0 p.sprof >json
        python3 - json "$true_ns" <<'END' || fail "of $true_ns ns: $(head -c 300 json)"
import json, sys
report = json.load(open(sys.argv[1]))
found, true = report["totals"]["cpu_ns"], int(sys.argv[2])
print(f"{found / 1e6:.1f} ms of CPU time, {true / 1e6:.1f} by the clocks")
assert 0.97 * true <= found <= 1.03 * true + 10e6
assert not [row for row in report["rows"] if "unlisted" in row["function"]]
END
        rm -f p.sprof
    done
done

plain "$work/registered_threads" 10
expect_ok

profile SPROF_THREADS=some "$work/registered_threads" 10
expect_note SPROF_THREADS=some "all|registered"

finish
