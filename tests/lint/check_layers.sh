#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Holds every #include of src/ against the table of folders in docs/design.md: a
# folder includes only folders below it. A header of the same folder is written
# bare, one of another folder with its path.
. "$(dirname "$0")/lib.sh"

# FOLDER: what it may include, as folder or folder/header. A folder within a
# folder may include what that one may, and the other way round.
allowed() {
    local program="base libc process store unwind signals capture labels journal"
    local outside="base util symbol model read view live show write store"
    case $1 in
    base) ;;
    libc | process | store) echo base ;;
    unwind) echo base process ;;
    signals) echo base ;;
    capture) echo base process unwind signals ;;
    labels) echo base process/threads.h ;;
    journal) echo base process store labels unwind ;;
    sampling) echo "$program" ;;
    agent) echo "$program" sampling ;;
    hooks) echo "$program" sampling agent ;;
    util) echo base ;;
    symbol) echo base util store/layout.h ;;
    model) echo base util symbol store/layout.h ;;
    read) echo base util symbol model store ;;
    view) echo base util symbol model ;;
    live) echo base util symbol model read view store ;;
    show) echo base util symbol model view live ;;
    write) echo base util symbol model read view live show store ;;
    cli) echo "$outside" ;;
    *) complain "src/$1: add a row for this folder to check_layers.sh and" \
        "docs/design.md" ;;
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
        is_allowed "$folder" "$header" || exception "$file" "$header" ||
            complain "$file: \"$header\": $folder/ may not include that: move" \
                "it to a folder below, or hand in a function" ;;
    *)
        [ -e "$source/${file%/*}/$header" ] ||
            complain "$file: \"$header\": not in this folder: write its path" ;;
    esac
}

includes() {
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"
}

for path in $(c_sources src); do
    file=${path#"$source"/}
    while read -r header; do
        check_include "$file" "$header"
    done < <(includes "$path")
done
finish
