#!/bin/bash
# SPDX-License-Identifier: MIT
#
# collector.sh [--full] -- pushes five real programs to a real OpenTelemetry
# collector for 30 seconds, or for 10 minutes with --full (SPROF_TEST_FULL). Its
# own builder makes the collector of Go modules, once, in build/collector. The
# sum over all profiles that the collector wrote must be that of the spools, to
# the nanosecond. Meanwhile:
#
# - push is killed twice, at any moment, and started again;
# - the collector is ended twice and started again: once by SIGTERM, while
#   requests are on their way, and once by SIGKILL, when it has written what it
#   got and push is stopped. One that is killed before loses what it has
#   answered, and nothing can be done about that from outside;
# - processes live for less than an interval, but longer than one that is not
#   sampled yet (0.1 s).
#
# A profile that was sent again counts once: it has the same profile_id. Ends
# with 0, 1 or 77 (skipped).
set -u
export LC_ALL=C
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SPROF_BUILD:-$source/build}
for variable in $(compgen -e SPROF_); do
    [ "$variable" = SPROF_TEST_FULL ] || unset "$variable"
done
seconds=30
[ "${1:-}" != --full ] && [ -z "${SPROF_TEST_FULL:-}" ] || seconds=600
unset SPROF_TEST_FULL
version=v0.159.0
interval=4
tools=$build/collector

skip() {
    echo "skipped: $*"
    exit 77
}

for program in go python3 perl sqlite3 xz awk; do
    command -v "$program" >/dev/null || skip "no $program"
done
[ -e "$build/libsprof.so" ] || skip "$build/libsprof.so is not built"

if ! [ -x "$tools/out/otelcol" ]; then
    mkdir -p "$tools"
    cat >"$tools/builder.yaml" <<END
dist: {name: otelcol, output_path: $tools/out}
conf_resolver: {default_uri_scheme: file}
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver $version
exporters:
  - gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter $version
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v1.65.0
END
    { GOBIN=$tools timeout 600 go install \
        "go.opentelemetry.io/collector/cmd/builder@$version" &&
        timeout 900 "$tools/builder" --config "$tools/builder.yaml"; } \
        >"$tools/log" 2>&1 ||
        skip "the collector cannot be built of Go modules: $tools/log"
fi

tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
mkdir spools
port=$(python3 -c "
import socket
place = socket.socket()
place.bind(('127.0.0.1', 0))
print(place.getsockname()[1])")
cat >collector.yaml <<END
receivers: {otlp: {protocols: {http: {endpoint: 127.0.0.1:$port}}}}
exporters: {file: {path: ./profiles.json, append: true, flush_interval: 100ms}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {profiles: {receivers: [otlp], exporters: [file]}}
END

collector() {
    "$tools/out/otelcol" --config collector.yaml \
        --feature-gates=+service.profilesSupport >>collector.log 2>&1 &
    collector=$!
    for _ in $(seq 600); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
        sleep 0.1
    done
}

push() {
    "$build/sprofile" push --interval "$interval" --state state --only spools \
        --otlp "http://127.0.0.1:$port" >/dev/null 2>>push.log &
    push=$!
}

# end SIGNAL PID
end() {
    kill -"$1" "$2"
    wait "$2" 2>/dev/null
}

# run COMMAND...: with the library, in the background; its spool stays.
programs=()
run() {
    env LD_PRELOAD="$build/libsprof.so" SPROF_SYMBOLIZE=off \
        SPROF_KEEP_SPOOL=1 SPROF_OUTPUT="$tmp/spools/%e.%p.pb.gz" "$@" \
        <&0 >/dev/null 2>>programs.log &
    programs+=($!)
}

# quiet: stops push, and waits until the collector is done with what it got.
quiet() {
    local size=
    kill -STOP "$push"
    until [ "$(stat -c %s profiles.json)" = "$size" ]; do
        size=$(stat -c %s profiles.json)
        sleep 2
    done
}

# drip: something to do, ten times a second.
drip() {
    local end=$((SECONDS + seconds))
    while [ "$SECONDS" -lt "$end" ]; do
        echo "$1"
        sleep 0.1
    done
}

collector
push
# Itself, and not a script that starts it.
run "$(python3 -c "import sys; print(sys.executable)")" -c "
import threading, time
def work():
    end = time.time() + $seconds
    while time.time() < end:
        sum(i * i for i in range(50000))
        time.sleep(0.05)
threads = [threading.Thread(target=work) for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()"
run perl -e '
    my $end = time + shift;
    while (time < $end) {
        my %seen; $seen{$_ % 977}++ for 1 .. 20000;
        select(undef, undef, undef, 0.1);
    }' "$seconds"
run sqlite3 :memory: < <(drip "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
    SELECT i + 1 FROM n LIMIT 20000) SELECT count(*), sum(i * i) FROM n;")
run xz -T2 -c < <(drip "$(head -c 90000 /dev/urandom | od -A n -t x1)")
run awk '{ for (i = 0; i < 50000; i++) n[i % 99] += i }' < <(drip x)

# Five parts, with something that ends between them.
part=$((seconds / 5))
sleep "$part"
end KILL "$push"
run awk 'BEGIN { for (i = 0; i < 30000000; i++) n += i }'
sleep 1
push
sleep "$part"
end TERM "$collector"
run perl -e '$n += $_ for 1 .. 30000000'
sleep 3
collector
sleep "$part"
end KILL "$push"
push
sleep $((part / 2))
quiet
end KILL "$collector"
run awk 'BEGIN { for (i = 0; i < 20000000; i++) n += i }'
collector
kill -CONT "$push"
wait "${programs[@]}"
sleep $((2 * interval))
end TERM "$push"
end TERM "$collector"
grep -E 'lost|gone|refused' push.log && exit 1

for spool in spools/*.sprof; do
    "$build/sprofile" report --json "$spool" >"$spool.json" || exit 1
done
python3 - <<'END'
import glob
import json
import os
import sys

seen, got, expected = set(), {}, {}
repeated = 0


def text(item, texts, name):
    return item.get(name) or texts[item[name + "Strindex"]]


for line in open("profiles.json"):
    data = json.loads(line)
    texts = data["dictionary"]["stringTable"]
    for resource in data["resourceProfiles"]:
        pid = [pair["value"]["intValue"]
               for pair in resource["resource"]["attributes"]
               if text(pair, texts, "key") == "process.pid"][0]
        for profile in resource["scopeProfiles"][0]["profiles"]:
            if profile["profileId"] in seen:
                repeated += 1
                continue
            seen.add(profile["profileId"])
            kind = texts[profile["sampleType"]["typeStrindex"]]
            key = int(pid), kind
            got[key] = got.get(key, 0) + sum(
                int(value) for sample in profile.get("samples", [])
                for value in sample["values"])
for path in glob.glob("spools/*.sprof.json"):
    report = json.load(open(path))
    pid = report["processes"][0]["pid"]
    for kind in ("cpu", "wall"):
        # A process that replaced its image has several spools.
        expected[pid, kind] = (expected.get((pid, kind), 0) +
                               report["totals"][kind + "_ns"])
wrong = 0
for key in sorted(expected):
    if got.get(key, 0) != expected[key]:
        wrong += 1
        print("pid", *key, "sent", got.get(key, 0), "spool", expected[key])
assert len(expected) == 2 * 8, expected
print(f"{len(expected) // 2} processes, {len(seen)} profiles, "
      f"{repeated} repeated:",
      *(f"{kind} {sum(v for k, v in got.items() if k[1] == kind)} of "
        f"{sum(v for k, v in expected.items() if k[1] == kind)} ns"
        for kind in ("cpu", "wall")), f"{os.path.getsize('profiles.json')} bytes")
sys.exit(wrong > 0 or not expected)
END
