#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs a test that asserts times. If it fails it is run once more, because the
# machine may have stood still. A pass at the second try is a line in
# build/tests/timed/second-tries, which tests/run.sh prints and empties, and is
# counted in build/tests/timed/counts ("NAME COUNT"). The output of each try stays
# in build/tests/timed/NAME.TRY.log.
#
#   twice.sh NAME SECONDS COMMAND...
#
# A try that takes SECONDS hangs. Ends with the status of the last try.
set -u
name=$1 seconds=$2
shift 2
logs=${SPROF_BUILD:-$(cd "$(dirname "$0")/.." && pwd)/build}/tests/timed
mkdir -p "$logs" || exit 1
rm -f "$logs/$name".[12].log

for try in 1 2; do
    status=0
    timeout -k 10 "$seconds" "$@" >"$logs/$name.$try.log" 2>&1 || status=$?
    echo "try $try, status $status:"
    cat "$logs/$name.$try.log"
    case $status in
    0 | 77) break ;;
    esac
done
if [ "$try" = 2 ] && [ "$status" -eq 0 ]; then
    echo "passed at the second try: $name" >>"$logs/second-tries"
    touch "$logs/counts"
    awk -v name="$name" '{ count[$1] = $2 } END { count[name]++
        for (test in count) print test, count[test] }' "$logs/counts" \
        >"$logs/counts.new" && mv "$logs/counts.new" "$logs/counts"
fi
exit "$status"
