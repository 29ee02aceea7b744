#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The suspended window: the code that runs while a target thread is suspended is
# in four folders. What these may call outside themselves, process/ and base/ is
# a short list with a reason for each name (window_allowed.txt), none of which is
# superfluous, and each file ends its includes with poison.h.
. "$(dirname "$0")/lib.sh"

window="capture signals unwind_$machine unwind"

# Names that ARCHIVES leave undefined, or define ("U" or "D").
names() {
    local kind=$1
    shift
    if [ "$kind" = U ]; then
        nm -A --undefined-only "$@" 2>/dev/null
    else
        nm -A --defined-only "$@" 2>/dev/null
    fi | awk 'NF >= 2 { print $NF }' | sort -u
}

archives=()
for folder in $window; do
    archive=$build/libsprof_$folder.a
    [ -e "$archive" ] || complain "$archive: not built"
    archives+=("$archive")
done
inside=$(names D "${archives[@]}" "$build"/libsprof_{process,base,base_"$machine"}.a)
patterns=$(list "$here/window_allowed.txt")
used=$(names U "${archives[@]}")
while read -r name; do
    grep -qxF -- "$name" <<<"$inside" && continue
    for pattern in $patterns; do
        # shellcheck disable=SC2254
        case $name in $pattern) continue 2 ;; esac
    done
    complain "the window: $name is not in window_allowed.txt"
done <<<"$used"
# Whether the compiler makes a copy of the function is up to the compiler.
for pattern in $(grep -v "the compiler's own" "$here/window_allowed.txt" |
    list /dev/stdin); do
    [[ $'\n'$used$'\n' == *$'\n'$pattern$'\n'* ]] ||
        complain "window_allowed.txt: $pattern: nothing uses it"
done

for path in "$source"/src/{capture,signals,unwind,unwind/*}/*.c; do
    last=$(grep '^[ \t]*#[ \t]*include' "$path" | tail -n 1)
    [[ $last == *'"base/poison.h"'* ]] ||
        complain "${path#"$source"/}: the last include is not poison.h"
done
finish
