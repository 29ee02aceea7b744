#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The names that the two shared libraries export are exactly those listed: the
# hooks and the public API (exports.txt), and the report side's one door.
. "$(dirname "$0")/lib.sh"

# LIBRARY EXPECTED-NAMES
compare() {
    local found line
    [ -e "$1" ] || { complain "$1: not built"; return; }
    found=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $NF }' |
        sed 's/@.*//' | sort -u)
    while read -r line; do
        complain "${1##*/}: $line"
    done < <(diff <(sort -u <<<"${2:-}") <(echo "$found") |
        sed -n 's/^< \(..*\)/\1 is missing/p; s/^> \(..*\)/\1 is not in the list/p')
}

compare "$build/libsprof.so" "$(list "$here/exports.txt")"
compare "$build/libsprof-report.so"
finish
