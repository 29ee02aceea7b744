#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The suspended window: the code that runs while a target thread is suspended is
# in five folders. window_allowed.txt is a short list of what these may call
# outside themselves, with a reason for each name. No name there is superfluous.
# Each file of the window ends its includes with poison.h. The list also names
# the files of these folders that are not in the window: no other file may call
# what they define.
. "$(dirname "$0")/lib.sh"

window="capture signals unwind/$machine unwind process base/$machine base"
outside=" $(list "$here/window_allowed.txt" | grep '/' | tr '\n' ' ')"

is_outside() {
    [[ $outside == *" $1 "* ]]
}

# The objects of the window: what they define ("D NAME"), and what they leave
# undefined ("U NAME").
names() {
    local folder archive kind object name
    for folder in $window; do
        archive=$build/libsprof_${folder//\//_}.a
        while read -r kind object name; do
            is_outside "$folder/${object%%.*}" || echo "$kind $name"
        done < <(nm -A -P -g "$archive" 2>/dev/null |
            sed -n 's/^[^[]*\[\([^]]*\)\]: \([^ ]*\) \([A-Za-z]\).*/\3 \1 \2/p' |
            sed 's/^[^Uw]/D/; s/^w/U/')
    done | sort -u
}

for folder in $window; do
    archive=$build/libsprof_${folder//\//_}.a
    [ -e "$archive" ] || complain "$archive: not built"
done
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
names >"$scratch"
inside=$(sed -n 's/^D //p' "$scratch")
used=$(sed -n 's/^U //p' "$scratch")
patterns=$(list "$here/window_allowed.txt" | grep -v '/')
while read -r name; do
    grep -qxF -- "$name" <<<"$inside" && continue
    for pattern in $patterns; do
        # shellcheck disable=SC2254
        case $name in $pattern) continue 2 ;; esac
    done
    complain "the window calls $name: take another way, or add a row to" \
        "window_allowed.txt with the reason why it is safe"
done <<<"$used"
# Whether the compiler makes a copy of the function is up to the compiler. A
# build may be without libunwind.
for pattern in $(grep -v "the compiler's own\|is there$" "$here/window_allowed.txt" |
    list /dev/stdin | grep -v '/'); do
    [[ $'\n'$used$'\n' == *$'\n'$pattern$'\n'* ]] ||
        complain "window_allowed.txt: $pattern: nothing uses it: delete it"
done

for folder in $window; do
    for path in "$source/src/$folder"/*.c; do
        unit=${path#"$source"/src/}
        is_outside "${unit%.c}" && continue
        last=$(grep '^[ \t]*#[ \t]*include' "$path" | tail -n 1)
        [[ $last == *'"base/poison.h"'* || $last == *'"poison.h"'* ]] ||
            complain "src/$unit: include poison.h last"
    done
done
for unit in $outside; do
    [ -e "$source/src/$unit.c" ] ||
        complain "window_allowed.txt: $unit: there is no such file: delete it"
done
finish
