#!/bin/bash
# SPDX-License-Identifier: MIT
#
# otlp_decoder.sh FUZZER COUNT SEED... -- what fuzz_otlp makes of COUNT changed
# seeds is read by OpenTelemetry's own decoder (otlp_decoder.py). The decoder is
# that of PyPI, installed once beside the fuzzer. Ends with 0, 1 or 77 (skipped).
set -u
here=$(cd "$(dirname "$0")" && pwd)
venv=$(dirname "$1")/otlp_decoder
python=$venv/bin/python3
module=opentelemetry.proto.profiles.v1development.profiles_pb2
if ! "$python" -c "import $module" 2>/dev/null; then
    { python3 -m venv "$venv" &&
        timeout 100 "$venv/bin/pip" -q install 'opentelemetry-proto>=1.40'; } \
        >"$venv.log" 2>&1
    "$python" -c "import $module" 2>/dev/null || {
        echo "skipped: opentelemetry-proto cannot be installed: $venv.log"
        exit 77
    }
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
SPROF_TEST_OTLP=$tmp/requests "$@" || exit 1
"$python" "$here/otlp_decoder.py" "$tmp/requests" || {
    cp "$tmp/requests.bad" "$venv.bad" 2>/dev/null
    exit 1
}
