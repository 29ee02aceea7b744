#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What begins anew does so as a whole (src/base/state.h). Each variable of the
# folders that sample has a mark, or is in state_kept.txt with a reason. No row
# there is superfluous. A variable with a mark begins as 0, because that is what
# it is renewed to.
. "$(dirname "$0")/lib.sh"
set -f

kept=$here/state_kept.txt
library=$build/libsprof.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The variables of a folder that can be written and have no mark: "FILE NAME".
# For a variable in a function gcc adds a number to its name, and clang puts the
# function's name before it.
variables() {
    objdump -t "$build/libsprof_${1//\//_}.a" | awk -v folder="$1" '
        / file format / { file = $1; sub(/\..*/, "", file) }
        $3 == "O" && $4 ~ /^\.(bss|data)/ && $4 !~ /\.rel\.ro/ {
            sub(/\.[0-9]+$/, "", $NF)
            sub(/^[a-z_0-9]+\./, "", $NF)
            print folder "/" file, $NF
        }' | sort -u
}

for folder in sampling sampling/trigger journal labels agent; do
    [ -e "$build/libsprof_${folder//\//_}.a" ] || complain "$folder: not built"
    variables "$folder"
done >"$scratch/all"
sed -e '/^#/d' -e '/^$/d' "$kept" >"$scratch/rows"
touch "$scratch/used"
while read -r file name; do
    while read -r at patterns _; do
        # shellcheck disable=SC2254
        [ "$at" = "$file" ] && for pattern in ${patterns//|/ }; do
            case $name in $pattern)
                echo "$at $pattern" >>"$scratch/used"
                continue 3
                ;;
            esac
        done
    done <"$scratch/rows"
    complain "src/$file.c: $name: mark it OF_PROFILE or OF_PROCESS (base/state.h), or add a row to state_kept.txt"
done <"$scratch/all"
while read -r at patterns _; do
    for pattern in ${patterns//|/ }; do
        grep -qxF -- "$at $pattern" "$scratch/used" ||
            complain "state_kept.txt: $at: $pattern: there is no such variable: delete it"
    done
done <"$scratch/rows"

for section in state_of_profile state_of_process; do
    objcopy -O binary --only-section=$section --set-section-flags \
        $section=alloc,contents "$library" "$scratch/$section" 2>/dev/null ||
        complain "libsprof.so: cannot be read"
    [ -s "$scratch/$section" ] || complain "libsprof.so: $section is empty"
    [ "$(tr -d '\0' <"$scratch/$section" | wc -c)" = 0 ] ||
        complain "libsprof.so: a variable of $section does not begin as 0: set it where a profile begins"
done
finish
