#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pyroscope.sh -- pushes to a server made of Pyroscope's own generated stubs
# (tests/fleet/pyroscope), which enforces the limits of its documentation. What
# a program with many, deep stacks and many labels did must come as several
# profiles, none of which is refused. Their sums must be those of the spool, and
# samples must have their span. Ends with 0, 1 or 77 (skipped).
set -u
export LC_ALL=C
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SPROF_BUILD:-$source/build}
for variable in $(compgen -e SPROF_); do unset "$variable"; done
tools=$build/pyroscope

skip() {
    echo "skipped: $*"
    exit 77
}

for program in go gcc python3; do
    command -v "$program" >/dev/null || skip "no $program"
done
mkdir -p "$tools"
cp "$source"/tests/fleet/pyroscope/{go.mod,go.sum,main.go} "$tools" || exit 1
(cd "$tools" &&
    timeout 1200 go build -o server .) >"$tools/log" 2>&1 ||
    skip "the server cannot be built of Go modules: $tools/log"

tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
mkdir spools
gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls \
    -I "$source/include" "$source/tests/fleet/stacks.c" -o stacks || exit 1

"$tools/server" 127.0.0.1:0 >server.log 2>&1 &
server=$!
for _ in $(seq 600); do
    [ ! -s server.log ] || break
    sleep 0.1
done
labels=()
for i in $(seq 12); do
    labels+=(--label "extra_$i=x")
done
# One interval has all.
"$build/sprofile" push --interval 600 --state state --only spools \
    --pyroscope "$(head -n 1 server.log)" "${labels[@]}" >/dev/null \
    2>push.log &
push=$!
LD_PRELOAD=$build/libsprof.so SPROF_SYMBOLIZE=off SPROF_KEEP_SPOOL=1 \
    SPROF_FREQUENCY=8000 SPROF_COST=off SPROF_OUTPUT="$tmp/spools/s.pb.gz" \
    ./stacks 6
sleep 1
kill "$push"
wait "$push" || exit 1
kill "$server"
cat push.log
! grep refused server.log push.log || exit 1
"$build/sprofile" report --json spools/s.sprof >report.json || exit 1
python3 - <<'END'
import json
import sys

totals = json.load(open("report.json"))["totals"]
sums, counts = {}, {}
most = [0, 0, 0]
spans = 0
for line in open("server.log"):
    words = line.split()
    if words[0] != "profile":
        continue
    counts[words[2]] = counts.get(words[2], 0) + 1
    most = [max(a, int(b)) for a, b in zip(most, words[4:10:2])]
    spans += int(words[10])
    values = dict(zip(words[12::2], map(int, words[13::2])))
    kind = "wall" if words[2] == "wall" else "cpu"
    sums[kind] = sums.get(kind, 0) + values[kind]
print("profiles", counts, "at most", *most, "samples, bytes, names;", spans,
      "samples with a span; sums", sums, "of", totals["cpu_ns"],
      totals["wall_ns"])
sys.exit(sums != {"cpu": totals["cpu_ns"], "wall": totals["wall_ns"]} or
         counts["process_cpu"] < 2 or spans < 1000)
END
