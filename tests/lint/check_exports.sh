#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The names that the products export are exactly those listed: of libsprof.so the
# hooks and the public API (exports.txt), of libsprof-report.so, a program, none
# but libc's data, of which a program has the copy (stdout@GLIBC_2.2.5). A hidden
# name is none: the loader passes it by. GNU ld leaves such names of its own.
. "$(dirname "$0")/lib.sh"

# LIBRARY EXPECTED-NAMES
compare() {
    local found hidden line
    [ -e "$1" ] || { complain "$1: not built"; return; }
    found=$(nm -D --defined-only "$1" |
        awk '$2 != "A" && !($2 == "B" && /@GLIBC_/) { print $NF }' |
        sed 's/@.*//' | sort -u)
    hidden=$(readelf --dyn-syms -W "$1" | awk '$6 == "HIDDEN" { print $8 }')
    [ -n "$hidden" ] && found=$(grep -vxF -- "$hidden" <<<"$found")
    while read -r line; do
        complain "${1##*/}: $line (exports.txt)"
    done < <(diff <(sort -u <<<"${2:-}") <(echo "$found") |
        sed -n -e 's/^< \(..*\)/\1 is not exported: export it, or delete its row/p' \
            -e 's/^> \(..*\)/\1 is exported: make it static or hidden, or add a row/p')
}

compare "$build/libsprof.so" "$(list "$here/exports.txt")"
compare "$build/libsprof-report.so"
finish
