#!/bin/bash
# SPDX-License-Identifier: MIT
#
# No circle of files and no circle of folders. A file uses another if its
# object names a symbol that the other one defines (nm). A call through a
# function pointer is no use, nor is one of a name of the C library that
# src/libc/ defines. A folder uses another if one of its files does, or includes
# a header of it. A folder within a folder counts as part of the
# outer one.
. "$(dirname "$0")/lib.sh"

# The newest object of each existing source: OBJECT UNIT, where a unit is
# the path below src/, without its ending. Tests compile sources again, elsewhere.
objects() {
    find "$build/CMakeFiles" -name '*.c.o' -path '*.dir/src/*' \
        -printf '%T@ %p\n' 2>/dev/null | sort -rn | cut -d' ' -f2 |
        awk '{ unit = $0; sub(/.*\.dir\/src\//, "", unit)
               sub(/\.c\.o$/, "", unit)
               if (!(unit in seen)) { seen[unit] = 1; print $0, unit } }' |
        while read -r object unit; do
            [ -e "$source/src/$unit.c" ] && echo "$object $unit"
        done
}

# The symbols: "defines UNIT NAME", "uses UNIT NAME".
symbols() {
    objects >"$scratch/objects"
    cut -d' ' -f1 "$scratch/objects" | xargs -r nm -A -P -g |
        awk 'NR == FNR { unit[$1 ":"] = $2; next }
             $2 != "main" && ($1 in unit) {
                 print ($3 ~ /^[Uw]$/ ? "uses" : "defines"), unit[$1], $2
             }' "$scratch/objects" -
}

# The names of the C library: a use of one is bound to the hook of that name, if
# there is one (-Bsymbolic-functions).
libc_names() {
    nm -D --defined-only "$(cc -print-file-name=libc.so.6)" |
        awk '{ sub(/@.*/, "", $NF); print "libc", $NF }' | sort -u
}

# The include table: "includes UNIT UNIT".
includes() {
    (cd "$source/src" && grep -rE '^[ \t]*#[ \t]*include[ \t]*"' \
        --include='*.[ch]' .) | sed 's/^\.\///' |
        awk -F'"' '{ file = $1; sub(/:.*/, "", file); folder = file
                     sub(/\/[^\/]*$/, "", folder); sub(/\.[ch]$/, "", file)
                     header = $2; sub(/\.h$/, "", header)
                     if (header !~ /\//) header = folder "/" header
                     print "includes", file, header }' |
        while read -r word file header; do
            [ -e "$source/src/$header.h" ] && echo "$word $file $header"
        done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# is_left_out UNIT: another file stands for it in this build.
is_left_out() {
    grep -q " ${1}_none$" "$scratch/objects"
}
{
    libc_names
    includes
    symbols
} >"$scratch/facts"
[ -s "$scratch/objects" ] || { complain "$build: not built"; finish; }
while read -r path; do
    unit=${path#"$source"/src/}
    # One interface, two files: the build chooses.
    grep -q " ${unit%.c}$" "$scratch/objects" ||
        [[ ${unit%.c} =~ _none$|symbol/unpack_|libunwind ]] ||
        is_left_out "${unit%.c}" ||
        complain "src/$unit: not built: build, or delete it"
done < <(c_sources src | grep '\.c$' | grep -vE '/(x86_64|aarch64)/' &&
    c_sources src | grep "/$machine/.*\.c\$")

awk -f "$here/circles.awk" "$scratch/facts" \
    >"$scratch/circles" || complain "circles.awk failed"
while IFS= read -r line; do
    case $line in
    "! "*) complain "${line#! }: move what both need down, or hand in a function" ;;
    *) echo "$line" ;;
    esac
done <"$scratch/circles"
finish
