#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every option of the table (base/options.h) is in docs/options.md and in the
# manual page, and docs/options.md names none that does not exist. The values
# and defaults that the docs give are those of the table. The endings of formats
# (base/formats.h) and the lints are in their pages, too.
. "$(dirname "$0")/lib.sh"

table=$source/src/base/options.h
[ -e "$table" ] || { complain "src/base/options.h: missing"; finish; }
options=$(grep -o '"SPROF_[A-Z_]*"' "$table" | tr -d '"' | sort -u)
[ -n "$options" ] || complain "src/base/options.h: no options found"
for option in $options; do
    grep -qw "$option" "$source/docs/man/libsprof.7" ||
        complain "src/base/options.h has $option, docs/man/libsprof.7 has no" \
            "paragraph for it: add it"
done
if [ -e "$source/docs/options.md" ]; then
    for named in $(grep -owE 'SPROF_[A-Z_]+' "$source/docs/options.md" |
        sort -u); do
        grep -qxF "$named" <<<"$options" ||
            complain "docs/options.md: $named is not an option: delete it, or" \
                "add it to src/base/options.h"
    done
fi

# The endings, wherever users look for them.
endings=$(grep -o '"\.[a-z.]*"' "$source/src/base/formats.h" | tr -d '"')
[ -n "$endings" ] || complain "src/base/formats.h: no endings found"
for page in docs/options.md docs/outputs.md docs/man/sprofile.1; do
    for ending in $endings; do
        grep -qE -- "(\`|\\\\fB)${ending//./\\.}(\`|\\\\fR)" "$source/$page" ||
            complain "src/base/formats.h has $ending, $page does not: add it"
    done
done

# The lints and the table of docs/STYLE.md.
while read -r line; do
    complain "docs/STYLE.md: the lints: $line"
done < <(diff <(ls "$here" | sed -n 's/^check_\(.*\)\.sh$/\1/p') \
    <(sed -n 's/^| `\([a-z_]*\)` |.*/\1/p' "$source/docs/STYLE.md") |
    sed -n -e 's/^< \(.*\)/add a row for \1/p' -e 's/^> \(.*\)/delete the row of \1/p')

# The values and the default of each option are in its row of the table of
# docs/options.md: the same numbers or words in the second column, and the
# default first in the third.
wrong=$(awk -F'|' '
    # The table of options.h, one option a record of joined lines.
    FNR == NR {
        gsub(/\\$/, "")
        table = table $0
        if ($0 ~ /^$/ && table !~ /OPTION_TABLE/)
            table = ""
        next
    }
    /^\| \[?`SPROF_/ {
        match($2, /SPROF_[A-Z_]+/)
        name = substr($2, RSTART, RLENGTH)
        values[name] = $3
        standard[name] = $4
    }

    # The numbers in TEXT, "1M" as 1048576, with a space before each.
    function numbers(text,    all, word, unit) {
        all = ""
        while (match(text, /[0-9]+(\.[0-9]+)?[KMG]?/)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            unit = substr(word, length(word))
            if (word ~ /\./)
                all = all " " word
            else
                all = all sprintf(" %.0f", word * 1024 ^ index("KMG", unit))
        }
        return all
    }

    # The words in backquotes in TEXT, likewise.
    function words(text,    all) {
        all = ""
        while (match(text, /`[^`]*`/)) {
            all = all " " substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
        }
        return all
    }

    function range(kind, min, max,    all, i) {
        if (kind == "SIGNALS")
            return ""
        if (kind ~ /^(DURATION|SPAN)$/) {
            min /= 1000000000
            max /= 1000000000
        }
        if (kind == "PERCENT")
            return sprintf(" %.2f %.0f", min / 10000000, max / 10000000)
        if (kind == "INTEGER" && max - min <= 2) {
            for (i = min; i <= max; i++)
                all = all " " i
            return all
        }
        if (kind ~ /^(DURATION|STRING)$/ && min == 0)
            return sprintf(" %.0f", max)
        return sprintf(" %.0f %.0f", min, max)
    }

    function check(name, kind, min, max, given, text,    want, have) {
        if (!(name in values)) {
            print "src/base/options.h has " name \
                ", docs/options.md has no row for it: add it"
            return
        }
        if (kind == "CHOICE") {
            sub(/:.*/, "", text)
            gsub(/\|/, " ", text)
            want = " " text
            have = words(values[name])
        } else {
            want = range(kind, min, max)
            have = numbers(values[name])
        }
        if (want != have)
            print "docs/options.md: " name ": write the values" want ", not" have
        have = words(standard[name])
        if (have != "" && have != " " given || have == "" && given != "")
            print "docs/options.md: " name ": write the default \"" given "\""
    }

    END {
        count = split(table, option, /OPTION\(/)
        for (i = 2; i <= count; i++)
            if (match(option[i], /"SPROF_[A-Z_]+"/)) {
                split(option[i], quoted, "\"")
                split(quoted[3], field, /, */)
                check(quoted[2], field[2], field[3], field[4], quoted[4],
                    quoted[6])
            }
    }' "$table" "$source/docs/options.md") ||
    complain "docs/options.md: cannot be read"
[ -z "$wrong" ] || while IFS= read -r line; do
    complain "$line"
done <<<"$wrong"

# "`SPROF_NAME` (VALUE by default)", wherever that stands.
while IFS=' ' read -r file named value; do
    grep -A1 "\"$named\"" "$table" | grep -qF ", \"${value//,/}\"," ||
        complain "$file: $named: $value is not the default of" \
            "src/base/options.h: mend it"
done < <(cd "$source" && grep -oE '`SPROF_[A-Z_]+` \([^ ()]+ by default\)' \
    README.md docs/*.md | sed -E 's/:`(SPROF_[A-Z_]+)` \(`?([^ `]*)`? .*/ \1 \2/')
finish
