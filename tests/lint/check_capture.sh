#!/bin/bash
# SPDX-License-Identifier: MIT
#
# src/capture is the code that runs while a thread is suspended. What it may
# call outside itself is a short list with a reason for each name
# (capture_allowed.txt), and each file ends its includes with poison.h.
. "$(dirname "$0")/lib.sh"

# Names that ARCHIVE leaves undefined, or defines ("U" or "D").
names() {
    local kind=$1
    shift
    if [ "$kind" = U ]; then
        nm --undefined-only "$@" 2>/dev/null
    else
        nm --defined-only "$@" 2>/dev/null
    fi | awk 'NF >= 2 && $NF !~ /:$/ { print $NF }' | sort -u
}

archive=$build/libsprof_capture.a
if [ -e "$archive" ]; then
    inside=$(names D "$archive" "$build/libsprof_target.a" \
        "$build/libsprof_base.a")
    patterns=$(list "$here/capture_allowed.txt")
    while read -r name; do
        grep -qxF -- "$name" <<<"$inside" && continue
        for pattern in $patterns; do
            # shellcheck disable=SC2254
            case $name in $pattern) continue 2 ;; esac
        done
        complain "capture: $name is not in capture_allowed.txt"
    done < <(names U "$archive")
else
    complain "$archive: not built"
fi

for path in "$source"/src/capture/*.c; do
    [ -e "$path" ] || continue
    last=$(grep '^[ \t]*#[ \t]*include' "$path" | tail -n 1)
    [[ $last == *'"poison.h"'* ]] ||
        complain "${path#"$source"/}: the last include is not poison.h"
done
finish
