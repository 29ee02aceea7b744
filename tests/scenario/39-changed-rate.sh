#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: where the rate went down because of SPROF_COST, CPU time
# is that of the clocks, for each thing that a program did:
# - in a child that was forked after the change, and in its parent;
# - in a new image, and in the one before it;
# - in a session after a stop, and in the one before it;
# - in a thread that registered itself after the change;
# - if a flight recorder turned after the change, in both files and in a dump.
. "$(dirname "$0")/lib.sh"

# These settings bring the rate down whatever the machine: the asked samples of
# a fifth of a second cost more than may be spent at once.
settings='SPROF_FREQUENCY=5000 SPROF_COST=0.5'

# check CHANGES FILE...: the rate went down at least CHANGES times in all of the
# files; each function of the workload has the CPU time that its clock said, and
# all of them together have it within what lies around them. Were the samples of
# both rates worth the same, the short functions would have several times their
# time.
check() {
    local changes=$1
    shift
    "$sprofile" report --json -n 0 "$@" >json 2>message ||
        fail "report: $(cat message)"
    python3 - json "$changes" out <<'END' || fail "CPU time: $(cat out)"
import json, sys
report = json.load(open(sys.argv[1]))
truth = {}
for line in open(sys.argv[3]):
    words = line.split()
    if words[:1] == ["truth"]:
        truth[words[1]] = int(words[2])
found = {row["function"]: row["cpu_cum_ns"] for row in report["rows"]}
assert not found.get("hidden"), found
truth.pop("hidden", None)
whole = sum(truth.values())
near = sum(found.get(name, 0) for name in truth)
periods = [epoch["period_ns"] for epoch in report["epochs"]]
changes = sum(after > before for before, after in zip(periods, periods[1:]))
print("periods", periods)
for name, cpu in truth.items():
    share = 100 * found.get(name, 0) / cpu
    print(f"{name}: {cpu / 1e6:.0f} ms, {share:.1f} % of it found")
    least, most = (50, 200) if "first" in name else (75, 125)
    assert least <= share <= most, name
assert changes >= int(sys.argv[2]), periods
assert 0.98 * whole <= near <= 1.001 * whole + 2e6, (near, whole)
total = report["totals"]["cpu_ns"]
assert 0.99 * whole <= total <= 1.02 * whole + 5e7, (total, whole)
END
}

# run CHANGES WAY FIRST SECOND [NAME=VALUE...]
run() {
    local changes=$1 way=$2 first=$3 second=$4
    shift 4
    echo "-- $way $first $second $*"
    rm -f p*
    # shellcheck disable=SC2086
    profile SPROF_SYMBOLIZE=off SPROF_MODE=cpu $settings "$@" \
        "$work/changed_rate" "$way" "$first" "$second"
    expect_status 0
    ! grep -H '^sprof:' err || fail "the profiler complained"
    check "$changes" p*.sprof
}

# Ticks of the kernel are so few that they are dear only at a lower limit, and
# the first 250 samples take a second.
run 2 fork 1300 2000 SPROF_TRIGGER=timer SPROF_COST=0.1

profile SPROF_TRIGGER=perf "$work/known_stack.o2" 100
if [ ! -e p.folded ]; then
    lacks perf "no other trigger costs so much"
    finish
fi
run 2 fork 300 2000
run 2 exec 300 2000
run 1 stops 300 2000
run 1 registers 300 2000 SPROF_THREADS=registered

# run_one_turn: a run in which the recorder turns once. On a machine that stands
# still it may turn twice, and then the first file is gone.
run_one_turn() {
    rm -f p*
    # shellcheck disable=SC2086
    profile SPROF_SYMBOLIZE=off SPROF_MODE=cpu $settings SPROF_KEEP=3s \
        "$work/changed_rate" plain 300 3500
    expect_status 0
    [ -e p.past.sprof ] && ! "$sprofile" info p.sprof p.past.sprof |
        grep '^kept'
}

echo "-- a flight recorder"
run_one_turn || run_one_turn || run_one_turn || fail "no single turn: $(ls)"
check 1 p.past.sprof p.sprof

# The CPU time of the program, in ns.
clock_of() {
    cut -d' ' -f1 "/proc/$pid/schedstat"
}

echo "-- a dump"
rm -f p*
# shellcheck disable=SC2086
profile_begin p SPROF_MODE=cpu SPROF_OUTPUT="$tmp/p.sprof" $settings \
    SPROF_KEEP=2s "$work/changed_rate" plain 300 60000
sleep 5
pid=$(pgrep -P "$running")
before=$(clock_of) begin=$(date +%s%N)
sleep 2
timeout 30 "$sprofile" dump "$pid" >dump.out 2>message || fail "$(cat message)"
after=$(clock_of) end=$(date +%s%N)
kill -TERM "$pid"
wait "$running" 2>/dev/null
"$sprofile" report --json -n 0 p.dump1.sprof >json || fail "no report"
# It has the last 2 s. Intervals between samples are random, so how many samples
# are in 2 s is, too: it differs by a third of its root.
python3 - json $((after - before)) $((end - begin)) <<'END' || fail "the dump: $(ls)"
import json, sys
report = json.load(open(sys.argv[1]))
cpu, clock = report["totals"]["cpu_ns"], int(sys.argv[2])
ran = 2e9 * clock / int(sys.argv[3])
samples = report["totals"]["samples"]
found = {row["function"]: row["cpu_cum_ns"] for row in report["rows"]}
print(f"{cpu / 1e6:.0f} ms of CPU time, {ran / 1e6:.0f} by the clock, "
      f"{samples} samples")
assert "first" not in found, found
assert found["second"] >= 0.95 * cpu, found
assert abs(cpu - ran) <= 4 * cpu / 3 / samples ** 0.5, (cpu, ran, samples)
END

finish
