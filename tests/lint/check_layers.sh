#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Holds every #include of src/ against the table of folders in docs/design.md: a
# folder includes only folders below it. A header of the same folder is written
# bare, one of another folder with its path.
. "$(dirname "$0")/lib.sh"

# The rows of the table: a folder, and in the last column what it may include, as
# `folder` or `folder/header`. After a semicolon "`FILE` also `folder/header`"
# stands for one file. A folder within a folder may include what that one may,
# and the other way round.
declare -A allowed also
while IFS='|' read -r _ name _ entries _; do
    name=$(tr -d '` ' <<<"$name")
    allowed[$name]=$(grep -o '`[^`]*`' <<<"${entries%%;*}" | tr -d '`')
    also[$name]=$(sed -n 's/.*; `\(.*\)` also `\(.*\)` *$/\1 \2/p' <<<"$entries")
done < <(sed -n '/^| folder | what it is | may include |$/,/^$/p' \
    "$source/docs/design.md" | sed '1,2d;$d')
[ "${#allowed[@]}" -gt 0 ] || complain "docs/design.md: no table of folders"

# Whether FILE may include HEADER by the row of FOLDER.
is_allowed() {
    local folder=$1 file=$2 header=$3 entry
    for entry in ${allowed[$folder]-}; do
        [ "$header" = "$entry" ] && return 0
        [ "${header%%/*}" = "$entry" ] && return 0
    done
    [ "${file#src/"$folder"/} $header" = "${also[$folder]-}" ]
}

check_include() {
    local file=$1 header=$2 folder inner
    inner=${file#src/}
    inner=${inner%/*}
    folder=${inner%%/*}
    case $header in
    sprof.h | otlp.pb-c.h | pprof.pb-c.h) return ;;
    "$inner"/*.h)
        [[ ${header#"$inner"/} == */* ]] ||
            complain "$file: \"$header\": own folder, write it bare" ;;
    "$folder"/*) ;;
    */*)
        is_allowed "$folder" "$file" "$header" ||
            complain "$file: \"$header\": the row of $folder in docs/design.md" \
                "has no $header: move it to a folder below, or hand in a" \
                "function" ;;
    *)
        [ -e "$source/${file%/*}/$header" ] ||
            complain "$file: \"$header\": not in this folder" ;;
    esac
}

includes() {
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"
}

for path in "$source"/src/*/; do
    folder=$(basename "$path")
    [[ -v allowed[$folder] ]] ||
        complain "docs/design.md: src/$folder has no row in the table of folders"
done
for path in $(c_sources src); do
    file=${path#"$source"/}
    while read -r header; do
        check_include "$file" "$header"
    done < <(includes "$path")
done
finish
