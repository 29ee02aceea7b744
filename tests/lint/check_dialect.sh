#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One dialect of C, as far as clang-format does not see it: `return x;` and not
# `return (x);`, `sizeof(*x)` and not `sizeof *x`, `x == NULL` and not `!x` where
# x is a pointer by its declaration in the same function, a file's own header
# last among those of the project (poison.h alone comes after it).
. "$(dirname "$0")/lib.sh"

check='
# Whether the parentheses that TEXT opens with enclose all of it.
function encloses(text, i, depth, c) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        depth += (c == "(") - (c == ")")
        if (depth == 0)
            return i == length(text)
    }
    return 0
}
FNR == 1 {
    own = FILENAME
    sub(/.*\//, "", own)
    sub(/\.c$/, ".h", own)
    last = 0
    seen = 0
    delete declared
}
/^[ \t]*\/?\*/ { next }
/^{/ { delete declared; first = 1; delete bare }
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    name = part[2]
    sub(/.*\//, "", name)
    if (name == own)
        seen = FNR
    else if (seen && name != "poison.h")
        fault(seen, "put the own header last (poison.h alone follows it)")
    next
}
function fault(line, text) { print FILENAME ":" line ": " text }
/^[ \t]*return \(.*\);$/ {
    text = $0
    sub(/^[ \t]*return /, "", text)
    sub(/;$/, "", text)
    if (encloses(text))
        fault(FNR, "write return x; without parentheses")
}
/[^_A-Za-z0-9]sizeof [^(]/ { fault(FNR, "write sizeof(x), with parentheses") }
# "    const struct x *a, *b = 0;" declares pointers.
/^ +(const |static |unsigned |struct |enum )*[a-z_0-9]+ \*+[a-z_0-9]+/ {
    text = $0
    while (match(text, /\*+(const )?[a-z_0-9]+/)) {
        name = substr(text, RSTART, RLENGTH)
        gsub(/^\*+(const )?/, "", name)
        declared[name] = 1
        text = substr(text, RSTART + RLENGTH)
    }
}
{
    text = $0
    while (match(text, /(^|[ (&|])![a-z_0-9]+([ );&|]|$)/)) {
        name = substr(text, RSTART, RLENGTH)
        gsub(/[^a-z_0-9]/, "", name)
        if (name in declared)
            fault(FNR, "write x == NULL and not !x: " name)
        text = substr(text, RSTART + RLENGTH)
    }
}
'
while read -r line; do
    complain "${line#"$source"/}"
done < <(c_sources src | xargs awk "$check")
finish
