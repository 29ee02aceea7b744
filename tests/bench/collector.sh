#!/bin/bash
# SPDX-License-Identifier: MIT
#
# collector.sh [SECONDS] -- pushes two programs to a real OpenTelemetry collector,
# which its own builder makes of Go modules (about two minutes, once, in
# build/collector). The collector is ended and started again twice, and push is
# killed once. The sum over all profiles that the collector wrote must be that of
# the programs' own profiles, to the nanosecond. A collector that is killed with
# SIGKILL loses what it has answered and not yet written; so it gets SIGTERM.
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SPROF_BUILD:-$source/build}
seconds=${1:-14}
version=v0.159.0
port=14319
tools=$build/collector
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command -v go >/dev/null || { echo "no go"; exit 77; }

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
    GOBIN=$tools go install "go.opentelemetry.io/collector/cmd/builder@$version" &&
        "$tools/builder" --config "$tools/builder.yaml" || exit 77
fi
cd "$tmp" || exit 1
cat >collector.yaml <<END
receivers: {otlp: {protocols: {http: {endpoint: 127.0.0.1:$port}}}}
exporters: {file: {path: ./profiles.json, append: true}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {profiles: {receivers: [otlp], exporters: [file]}}
END

collector() {
    "$tools/out/otelcol" --config collector.yaml \
        --feature-gates=+service.profilesSupport >>collector.log 2>&1 &
    collector=$!
}

end_collector() {
    kill "$collector"
    wait "$collector" 2>/dev/null
}

push() {
    "$build/sprofile" push --interval 1 --state state --spools "$tmp" \
        --otlp "http://127.0.0.1:$port" &
    push=$!
}

program=collected_$$
cp "$build/tests/workload/busy_and_waiting" "$program"
collector
sleep 2
push
LD_PRELOAD=$build/libsprof.so SPROF_OUTPUT=long.otlp.json \
    "./$program" $((seconds * 1000)) >/dev/null &
long=$!
LD_PRELOAD=$build/libsprof.so SPROF_OUTPUT=short.otlp.json "./$program" 300 \
    >/dev/null
sleep 3
end_collector
sleep 1.5
collector
sleep 3
kill -9 "$push"
wait "$push" 2>/dev/null
push
sleep 2
end_collector
sleep 1
collector
wait "$long"
sleep 4
kill "$push"
wait "$push"
end_collector

python3 - "$program" <<'END'
import glob
import json
import sys

seen, got, expected = set(), {}, {}


def text(item, texts, name):
    return item.get(name) or texts[item[name + "Strindex"]]


def add(data, sums):
    texts = data["dictionary"]["stringTable"]
    for resource in data["resourceProfiles"]:
        names = [text(pair["value"], texts, "stringValue")
                 for pair in resource["resource"]["attributes"]
                 if text(pair, texts, "key") == "service.name"]
        if names != [sys.argv[1]]:
            continue
        for profile in resource["scopeProfiles"][0]["profiles"]:
            if profile["profileId"] in seen and sums is got:
                continue
            seen.add(profile["profileId"])
            kind = texts[profile["sampleType"]["typeStrindex"]]
            sums[kind] = sums.get(kind, 0) + sum(
                int(sample["values"][0])
                for sample in profile.get("samples", []))


for line in open("profiles.json"):
    add(json.loads(line), got)
for path in glob.glob("*.otlp.json"):
    add(json.load(open(path)), expected)
print("collector", got, "programs", expected)
sys.exit(got != expected)
END
