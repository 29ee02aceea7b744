#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs the test suites of real programs without the library and with it, at
# 1,000 and at 10,000 points a second: the same tests must pass, fail and be
# skipped. Each difference is printed.
#
#   tests/suites/run.sh [--full] [SUITE[:CASE]...]
#
# Without --full: a few quick cases of each suite that is here already, and a
# difference counts if one of three more runs has it, too. With it all cases, and
# what is missing is fetched and built. Where results differ, the case is run
# again without the library, twenty times at most and for no more than ten minutes:
# a test whose results are not always the same then is said to be flaky, and not
# counted.
#
# Ends with 0, 1 (differences) or 77 (nothing could be run).
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
build=${SPROF_BUILD:-$(cd "$here/../.." && pwd)/build}
for variable in $(compgen -e SPROF_); do unset "$variable"; done
. "$here/lib.sh"

full=
if [ "${1:-}" = --full ]; then
    full=1
    shift
fi
[ -e "$build/libsprof.so" ] || {
    echo "skipped: $build/libsprof.so is not built"
    exit 77
}
rates='1000 10000'
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
# A copy: a suite takes long, and the library may be built anew meanwhile.
cp "$build/libsprof.so" "$build/libsprof-report.so" "$tmp" || exit 1
library=$tmp/libsprof.so
cases=0 different=0

# run_case CASE RATE FILE: its sorted results; RATE "plain" is without the
# library.
run_case() {
    local directory=$tmp/run
    mkdir -p -m 777 "$directory" "$tmp/profiles"
    preload=()
    [ "$2" = plain ] || preload=(LD_PRELOAD="$library" SPROF_FREQUENCY="$2"
        SPROF_OUTPUT="$tmp/profiles/%e.%p.folded")
    (cd "$directory" && suite_run "$1") | sort -u >"$3"
    grep -hs '^sprof:' "$directory/messages" | head -n 3 | sed 's/^/    /'
    cat "$directory/log" "$directory/messages" >"$3.log" 2>/dev/null
    rm -rf "$directory" "$tmp/profiles"
}

# changes A B: the lines that are in one file only, "-" and "+" before them.
changes() {
    diff "$1" "$2" | sed -n 's/^< /-/p; s/^> /+/p'
}

# name_changes: from changes to what has changed, one a line.
name_changes() {
    sed 's/^.//; s/ [^ ]*$//'
}

# flaky_tests CASE: into the file flaky, one a line, what changes without us;
# until that is all of the file changes, or enough has been tried.
flaky_tests() {
    local again begun=$SECONDS
    touch "$tmp/flaky"
    for ((again = 0; again < 20 && SECONDS - begun < 600; again++)); do
        name_changes <"$tmp/changes" | grep -qvxFf "$tmp/flaky" || break
        run_case "$1" plain "$tmp/again"
        changes "$tmp/plain" "$tmp/again" | name_changes >>"$tmp/flaky"
    done
}

# confirm CASE RATE: leaves of the changes what one of three more runs shows, too.
confirm() {
    local again
    mv "$tmp/changes" "$tmp/first"
    for again in 1 2 3; do
        run_case "$1" "$2" "$tmp/again"
        changes "$tmp/plain" "$tmp/again" |
            grep -xFf - "$tmp/first" >"$tmp/changes" && return 0
    done
    sed "s/^/not again: $1 at $2 Hz: /" "$tmp/first"
    return 1
}

# judge SUITE CASE RATE: compare what this rate gave with what plain runs gave.
judge() {
    local line
    changes "$tmp/plain" "$tmp/$3" >"$tmp/changes"
    [ -s "$tmp/changes" ] || return 0
    [ -n "$full" ] || confirm "$2" "$3" || return 0
    flaky_tests "$2"
    while read -r line; do
        if name_changes <<<"$line" | grep -qxFf "$tmp/flaky"; then
            echo "flaky: $1 $2: $line"
        else
            echo "DIFFERENT at $3 Hz: $1 $2: $line"
            different=$((different + 1))
            tail -n 15 "$tmp/$3.log" | sed 's/^/    /' | cut -c 1-200
        fi
    done <"$tmp/changes"
}

# compare SUITE CASE
compare() {
    local rate
    rm -f "$tmp/flaky"
    run_case "$2" plain "$tmp/plain"
    for rate in $rates; do
        run_case "$2" "$rate" "$tmp/$rate"
    done
    for rate in $rates; do
        judge "$1" "$2" "$rate"
    done
    cases=$((cases + 1))
    echo "$1 $2: $(wc -l <"$tmp/plain") tests, $(($(date +%s) - started)) s"
}

# run_suite NAME[:CASE]
run_suite() {
    local name=${1%%:*} one
    as_user=()
    . "$here/$name.sh"
    suite_ready || { echo "$name: not run"; return; }
    while read -r one <&3; do
        compare "$name" "$one"
    done 3< <(if [ "$name" = "$1" ]; then suite_cases "$full"; else
        echo "${1#*:}"
    fi)
}

started=$(date +%s)
if [ $# -eq 0 ]; then
    set -- cpython libuv libevent tcl
fi
for suite in "$@"; do
    run_suite "$suite"
done
echo "$cases cases, $different differences, $(($(date +%s) - started)) s"
[ "$cases" -gt 0 ] || exit 77
[ "$different" -eq 0 ]
