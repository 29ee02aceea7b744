#!/bin/bash
# SPDX-License-Identifier: MIT
#
# libsprof.so leaves no name undefined that a program may define itself, but for
# those in undefined_allowed.txt: the loader would give us the program's
# function. src/libc/system_calls.c and forward.c define the others for us.
. "$(dirname "$0")/lib.sh"

library=$build/libsprof.so
[ -e "$library" ] || { complain "$library: not built"; finish; }
patterns=$(list "$here/undefined_allowed.txt")
while read -r name; do
    for pattern in $patterns; do
        # shellcheck disable=SC2254
        case $name in $pattern) continue 2 ;; esac
    done
    complain "libsprof.so: $name may be the program's: define it in src/libc," \
        "or add a row to undefined_allowed.txt"
done < <(nm -D --undefined-only "$library" | awk '{ print $NF }' |
    sed 's/@.*//' | sort -u)
finish
