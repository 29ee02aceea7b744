#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Sizes and shape of the sources: SPDX line first, no file over 700 lines (one
# over 500 is named: does it hold two ideas?), no function over 100, half of
# src/'s functions within 18 lines and 90 % within 50, 18 to 30 % comments, few
# conditionals and none inside a function outside base/, names of functions at
# column 0, nothing left to do.
. "$(dirname "$0")/lib.sh"

todo='TO''DO|FIX''ME|XX''X'

# Every text file of the project opens with its licence, after a #! line.
mapfile -t files < <(find "$source/src" "$source/include" "$source/tests" \
    "$source/examples" "$source/.ci" -type f \( -name '*.[ch]' -o -name '*.cc' \
    -o -name '*.sh' -o -name '*.py' -o -name '*.proto' -o -name CMakeLists.txt \
    -o -name run \) 2>/dev/null | sort)
while read -r path; do
    complain "${path#"$source"/}: open it with the SPDX line"
done < <(awk 'FNR == 1 { seen = 0 }
    !seen && !/^#!/ { seen = 1; if (!/SPDX-License-Identifier: MIT/) print FILENAME }' \
    "${files[@]}")
while read -r hit; do
    complain "${hit#"$source"/}: do it, or delete the line"
done < <(grep -nEH "\\b($todo)\\b" "${files[@]}")

# Functions as the format puts them: name, brace and closing brace at column 0.
measure='
FNR == 1 { inside = 0; named = 0; comment = 0 }
NF { lines++ }
/\/\*/ { comment = 1 }
comment || /^[ \t]*\/\// { comments++ }
/\*\// { comment = 0 }
/^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/ {
    if (!/_H$/) conditionals++ # all but include guards
    if (inside && FILENAME !~ /\/src\/base\//)
        print "FAULT " FILENAME ":" FNR ": a conditional inside a function: make two files of one interface"
}
/^[A-Za-z_]/ { named = /^[A-Za-z_][A-Za-z0-9_]*\(/ ? FNR : named }
/^(struct|union|enum|typedef|extern|#define)/ { named = 0 }
/^[a-z].*[A-Za-z0-9_]+\(.*[^;]$/ && !/^[A-Za-z_][A-Za-z0-9_]*\(/ &&
    !/^(static_assert|_Static_assert)/ && !/=/ { stray = FNR; text = $0 }
/^{/ {
    if (named) { inside = named; start = named }
    else if (stray == FNR - 1)
        print "FAULT " FILENAME ":" stray ": put the name of the function at column 0"
}
/^}/ {
    if (inside) {
        length_ = FNR - start + 1
        print "FUNCTION " length_
        if (length_ > 100)
            print "FAULT " FILENAME ":" start ": a function of " length_ \
                " lines, at most 100: split it"
    }
    inside = 0; named = 0
}
END { print "TOTAL", lines, comments, conditionals + 0 }'

for folder in src include tests examples; do
    mapfile -t files < <(c_sources "$folder")
    [ "${#files[@]}" -gt 0 ] || continue
    while read -r lines path; do
        [ "$path" != total ] && [ "$lines" -gt 500 ] || continue
        echo "advice: ${path#"$source"/}: $lines lines: is that one idea?"
        [ "$lines" -le 700 ] ||
            complain "${path#"$source"/}: $lines lines, at most 700: split it by idea"
    done < <(wc -l "${files[@]}")
    result=$(awk "$measure" "${files[@]}")
    while read -r line; do
        complain "${line#FAULT "$source"/}"
    done < <(grep '^FAULT' <<<"$result")
    [ "$folder" = src ] || continue
    read -r median most < <(awk '$1 == "FUNCTION" { print $2 }' <<<"$result" |
        sort -n | awk '{ v[NR] = $1 }
            END { print v[int((NR + 1) / 2)] + 0, v[int(NR * 0.9 + 0.5)] + 0 }')
    read -r lines share conditionals < <(awk '$1 == "TOTAL" && $2 {
        printf "%d %d %.1f\n", $2, 100 * $3 / $2, 1000 * $4 / $2 }' <<<"$result")
    echo "src: $lines lines, functions: median $median, 90 % within $most;" \
        "comments $share %; $conditionals conditionals in 1000 lines"
    [ "$median" -le 18 ] || complain "src: the median function is over 18 lines: split long ones"
    [ "$most" -le 50 ] || complain "src: over 10 % of functions exceed 50 lines: split them"
    [ "$share" -ge 18 ] && [ "$share" -le 30 ] ||
        complain "src: $share % of the lines are comments, and 18 to 30 should be: say" \
            "reasons where they lack, delete what the code says"
    awk -v c="$conditionals" 'BEGIN { exit !(c <= 3) }' ||
        complain "src: $conditionals conditionals in 1000 lines, at most 3: let the build choose"
done
finish
