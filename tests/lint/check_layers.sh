#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Holds every #include of src/ against the table in docs/design.md, section 6.
# A header of the same folder is written bare, one of another folder with its
# folder; only the crossings listed here exist.
. "$(dirname "$0")/lib.sh"

# FOLDER: what it may include, as folder or folder/header.
allowed() {
    case $1 in
    base) ;;
    target | store) echo base ;;
    capture) echo base target/modules.h ;;
    symbol) echo base store/layout.h ;;
    profile) echo base store symbol ;;
    write) echo base profile ;;
    agent) echo base target capture store ;;
    cli) echo base store symbol profile write ;;
    *) complain "src/$1: a folder that the table does not know" ;;
    esac
}

# FILE HEADER: whether this one file may include that header besides.
exception() {
    case "$1 $2" in
    "src/agent/output.c write/report.h") return 0 ;;
    esac
    return 1
}

is_allowed() {
    local folder=$1 header=$2 entry
    for entry in $(allowed "$folder"); do
        [ "$header" = "$entry" ] && return 0
        [ "${header%%/*}" = "$entry" ] && return 0
    done
    return 1
}

check_include() {
    local file=$1 header=$2 folder
    folder=${file#src/}
    folder=${folder%%/*}
    case $header in
    sprof.h | pprof.pb-c.h) return ;;
    "$folder"/*)
        complain "$file: \"$header\": own folder, write it bare" ;;
    */*)
        is_allowed "$folder" "$header" || exception "$file" "$header" ||
            complain "$file: \"$header\": $folder/ may not include that" ;;
    *)
        [ -e "$source/${file%/*}/$header" ] ||
            complain "$file: \"$header\": not in this folder" ;;
    esac
}

for path in $(c_sources src); do
    file=${path#"$source"/}
    while read -r header; do
        check_include "$file" "$header"
    done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$path")
done
finish
