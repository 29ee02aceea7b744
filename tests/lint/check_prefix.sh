#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One file, one noun, one prefix: slot.c defines slot_* and slots_* (or slot)
# and no other global name. Hooks and the public
# API have the names of others. prefix_exceptions.txt lists the rest.
. "$(dirname "$0")/lib.sh"

# OBJECT (folder/file) NAME
is_fine() {
    local file=${1##*/} noun object pattern
    for noun in "$file" "${file%s}" "${file}s"; do
        case $2 in "$noun" | "$noun"_*) return 0 ;; esac
    done
    while read -r object pattern; do
        # shellcheck disable=SC2254
        case "$1 $2" in $object\ $pattern) return 0 ;; esac
    done < <(sed -e 's/#.*//' "$here/prefix_exceptions.txt" |
        awk 'NF { print $1, $2 }')
    return 1
}

for archive in "$build"/libsprof_*.a; do
    folder=${archive##*/libsprof_}
    folder=${folder%.a}
    [ "$folder" != proto ] || continue # generated
    while read -r object name; do
        is_fine "$folder/${object%%.*}" "$name" ||
            complain "$folder/${object%.o}: $name lacks the file's prefix:" \
                "rename it, make it static, or add a row to prefix_exceptions.txt"
    done < <(nm -A -g --defined-only "$archive" |
        sed -n 's/^[^:]*:\([^:]*\):.* [A-Z] \(.*\)$/\1 \2/p' | sort -u)
done
finish
