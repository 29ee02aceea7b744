#!/bin/bash
# SPDX-License-Identifier: MIT
#
# symbols.sh -- the symbolizer against eu-addr2line (package elfutils) on random
# addresses of libc and of the Python interpreter, both with the debug packages
# that are installed: time, memory, and how often names and lines agree.
#
#   symbols.sh [BUILD-DIRECTORY [COUNT]]
#
# Expected differences: of several symbols at one address we take the global one
# (eu-addr2line the DWARF name); ".cold" and other clones keep their suffix;
# padding between functions has no name, and no line if no unit claims it;
# eu-addr2line does not see inlined calls whose origin is in another unit (LTO).
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build}
count=${2:-3000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

iberty=$(find /usr/lib -name 'libiberty_pic.a' -o -name 'libiberty.a' | sort |
    tail -n 1)
cc -O2 -D_GNU_SOURCE -I"$source/src" -o "$work/symbols" \
    "$source/tests/bench/symbols.c" "$build/libsprof_symbol.a" -ldw -lelf \
    "$iberty"

for file in /lib/*-linux-gnu/libc.so.6 /usr/bin/python3.[0-9]*; do
    case $file in *-config | *d | *dbg | *\**) continue ;; esac
    "$work/symbols" "$file" "$count" 1 >"$work/ours"
    cut -d'|' -f1 "$work/ours" |
        eu-addr2line -a -f -e "$file" >"$work/theirs"
    # Three lines an address: address, function, file:line (discriminator).
    paste -d'|' - - - <"$work/theirs" >"$work/joined"
    paste -d'#' "$work/ours" "$work/joined" | awk -F'#' '
        function place(text) {
            sub(/ \(discriminator.*/, "", text)
            if (text ~ /:[0-9]+:[0-9]+$/)
                sub(/:[0-9]+$/, "", text)   # the column
            sub(/^.*\//, "", text)
            return text == "??:0" ? ":0" : text
        }
        {
            n = split($1, ours, "|"); split($2, theirs, "|")
            sub(/ inlined at .*/, "", theirs[2])
            owner = ours[n - 1]
            bare = owner; sub(/\..*/, "", bare)
            total++
            if (place(ours[3]) == place(theirs[3])) lines++
            if (owner ~ /\+0x/) {
                if (theirs[2] == "??") neither++; else missing++
            } else if (owner == theirs[2] || ours[2] == theirs[2]) same++
            else if (bare == theirs[2]) suffix++
            else other++
        }
        END {
            printf "  lines: %d of %d the same\n", lines, total
            printf "  names: %d the same, %d but for a clone suffix, ", same,
                suffix
            printf "%d others, %d named by neither, %d only by eu-addr2line\n",
                other, neither, missing
        }'
done
