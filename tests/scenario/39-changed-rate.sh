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
# files ("sampled": in each file that has 275 samples); each function of the workload has the CPU time that its clock said, and
# all of them together have it within what lies around them. Were the samples of
# both rates worth the same, the short functions would have several times their
# time. What was not sampled may be of any of them: a sampler without a CPU
# begins late.
check() {
    local changes=$1
    shift
    "$sprofile" report --json -n 0 "$@" >json 2>message ||
        fail "report: $(cat message)"
    if [ "$changes" = sampled ]; then
        changes=$(for file in "$@"; do "$sprofile" info "$file"; done |
            awk '$1 == "samples" { n += $2 >= 275 } END { print n + 0 }')
    fi
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
missing = found.get("[not sampled]", 0)
near = sum(found.get(name, 0) for name in truth)
periods = [epoch["period_ns"] for epoch in report["epochs"]]
changes = sum(after > before for before, after in zip(periods, periods[1:]))
print(f"periods {periods}, {sys.argv[2]} changes expected, "
      f"not sampled {missing / 1e6:.0f} ms")
for name, cpu in truth.items():
    share = 100 * found.get(name, 0) / cpu
    print(f"{name}: {cpu / 1e6:.0f} ms, {share:.1f} % of it found")
    least, most = (40, 250) if "first" in name else (50, 170)
    assert share <= most, name
    assert share + 100 * missing / cpu >= least, name
assert changes >= int(sys.argv[2]), periods
assert 0.98 * whole <= near + missing, (near, missing, whole)
assert near <= 1.001 * whole + 2e6, (near, whole)
total = report["totals"]["cpu_ns"]
assert 0.99 * whole <= total <= 1.05 * whole + 5e7, (total, whole)
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
# the first 250 samples, after which there is a limit, take a second. Where the
# machine's own host lets it wait, a timer gives 12 to 60 signals a CPU second
# instead of 250, and a process may end before it has them.
run sampled fork 1300 2000 SPROF_TRIGGER=timer SPROF_COST=0.1

profile SPROF_TRIGGER=perf "$work/known_stack.o2" 100
if [ ! -e p.folded ]; then
    lacks perf "no other trigger costs so much"
    finish
fi
run 2 fork 300 1000
run 2 exec 300 1000
run 1 stops 300 1000
run 1 registers 300 1000 SPROF_THREADS=registered

# A run in which the recorder turns once: after a second turn the first file is
# gone. How long that run takes is known from the one before.
echo "-- a flight recorder"
keep=1000
for attempt in {1..20}; do
    rm -f p*
    start=$(now_ms)
    # shellcheck disable=SC2086
    profile SPROF_SYMBOLIZE=off SPROF_MODE=cpu $settings \
        SPROF_KEEP=$(printf '%d.%03d' $((keep / 1000)) $((keep % 1000))) \
        "$work/changed_rate" plain 300 1300
    expect_status 0
    took=$(($(now_ms) - start))
    echo "   kept $keep ms of $took"
    [ ! -e p.past.sprof ] || "$sprofile" info p.sprof p.past.sprof |
        grep -q '^kept' || break
    keep=$((took * 2 / 3))
done
check 1 p.past.sprof p.sprof

echo "-- a dump"
rm -f p*
# shellcheck disable=SC2086
profile_begin p SPROF_MODE=cpu SPROF_OUTPUT="$tmp/p.sprof" $settings \
    SPROF_KEEP=1s "$work/changed_rate" plain 300 600000
# It has the last second. By the program's clock, read all the time, that is
# between the least and the most of any second that ended while it was made.
python3 - "$sprofile" "$(pgrep -P "$running")" <<'END' >dump.out 2>&1 ||
import os, subprocess, sys, time
sprofile, pid = sys.argv[1:]
clocks = []
def watch():
    with open(f"/proc/{pid}/schedstat") as stream:
        clocks.append((time.monotonic(), int(stream.read().split()[0])))
    time.sleep(0.02)
def at(moment):
    return max(clock for when, clock in clocks if when <= moment)
# The recorder has turned since the first function ended.
while "truth first" not in open("out").read():
    watch()
turned = os.path.exists("p.past.sprof") and os.stat("p.past.sprof").st_ino
while not os.path.exists("p.past.sprof") or \
        os.stat("p.past.sprof").st_ino == turned:
    watch()
until = time.monotonic() + 1.2
while time.monotonic() < until:
    watch()
begin = time.monotonic()
dump = subprocess.Popen([sprofile, "dump", pid])
while dump.poll() is None:
    watch()
watch()
assert dump.returncode == 0
ran = [clock - at(when - 1) for when, clock in clocks if when >= begin]
print(min(ran), max(ran))
END
    fail "no dump: $(cat dump.out)"
kill -TERM "$(pgrep -P "$running")"
wait "$running" 2>/dev/null
"$sprofile" report --json -n 0 p.dump1.sprof >json || fail "no report"
# Intervals between samples are random, so how many samples are in a second is,
# too: it differs by a third of its root.
python3 - json $(tail -n 1 dump.out) <<'END' || fail "the dump: $(ls)"
import json, sys
report = json.load(open(sys.argv[1]))
cpu, samples = report["totals"]["cpu_ns"], report["totals"]["samples"]
least, most = int(sys.argv[2]), int(sys.argv[3])
found = {row["function"]: row["cpu_cum_ns"] for row in report["rows"]}
print(f"{cpu / 1e6:.0f} ms of CPU time, {least / 1e6:.0f} to {most / 1e6:.0f} "
      f"by the clock, {samples} samples")
assert "first" not in found, found
seen = found.get("second", 0) + found.get("[not sampled]", 0)
assert seen >= 0.95 * cpu, found
chance = 4 / 3 * cpu / max(samples, 1) ** 0.5 + 1e8
assert least - chance <= cpu <= most + chance, (cpu, least, most, samples)
END

finish
