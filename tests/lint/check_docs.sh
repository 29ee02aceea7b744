#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every option of the table (base/options.h) is in docs/options.md and in the
# manual page, and docs/options.md names none that does not exist. The values
# and defaults that the docs give are those of the table. The endings of formats
# (base/formats.h) and the lints are in their pages, too.
#
# The pages for all are short, docs/README.md has a line for each page, and the
# files that pages of the design name are there. Each link from page to page leads
# somewhere. docs/measurements.md quotes its pages.
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
    README.md docs/*.md docs/design/*.md | sed -E 's/:`(SPROF_[A-Z_]+)` \(`?([^ `]*)`? .*/ \1 \2/')

# PAGE WORDS: the most words of a page that everybody reads.
while read -r page most; do
    words=$(wc -w <"$source/$page")
    [ "$words" -le "$most" ] ||
        complain "$page: $words words are more than $most; move details to a page"
done <<END
README.md 1200
docs/design.md 8000
docs/measurements.md 3000
END

# The lines of all pages but for blocks of code, each after its page's name.
cd "$source" || exit 1
mapfile -t pages < <(find README.md docs src/page -name '*.md' | sort)
prose=$(awk 'FNR == 1 { is_code = 0 }
    /^ *```/ { is_code = !is_code; next }
    !is_code { print FILENAME ":" $0 }' "${pages[@]}")

# PAGE#ANCHOR of each heading, as GitHub makes them: small letters, no marks, a
# "-" for a space, and a number where a page has the anchor already.
anchors=$(sed -nE 's/^([^:]*):#+ /\1#/p' <<<"$prose" | awk -F'#' '{
    anchor = tolower(substr($0, length($1) + 2))
    gsub(/[^a-z0-9 _-]/, "", anchor)
    gsub(/ /, "-", anchor)
    count = seen[$1 anchor]++
    print $1 "#" anchor (count ? "-" count : "")
}')

# Each link in the pages that is no address: its page, and where it leads to.
while read -r page link; do
    folder=${page%"${page##*/}"}
    target=$(realpath -m --relative-to=. "./$folder${link%%#*}")
    [ "${link%%#*}" ] || target=$page
    if [ ! -e "$target" ]; then
        complain "$page: $link: there is no $target; mend the link"
    elif [[ $link = *.md#* || $link = '#'* ]] &&
        ! grep -qxF "$target#${link#*#}" <<<"$anchors"; then
        complain "$page: $link: $target has no such heading; mend the link"
    fi
done < <(awk '{
    page = substr($0, 1, index($0, ":") - 1)
    gsub(/`[^`]*`/, "`")
    while (match($0, /\]\([^() ]+\)/)) {
        link = substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
        if (link !~ /^[a-z]+:/)
            print page, link
    }
}' <<<"$prose" | sort -u)

# Each page that a comment or a message names is there.
while IFS=: read -r file named; do
    [ -e "$named" ] || complain "$file: $named: there is no such page"
done < <(grep -roE 'docs/[a-z/_-]+\.md' CMakeLists.txt README.md docs examples include \
    src tests | sort -u)

# Each number in a table of docs/measurements.md stands in a section that its row
# links to, or else the text above it. Words with digits (sqlite3, p99) are no
# numbers.
quoted=$(awk '
    # The numbers in TEXT into found[1] and so on; returns how many.
    function numbers(text,    count) {
        gsub(/\[[^]]*\]\([^)]*\)/, " ", text)
        gsub(/[A-Za-z_][A-Za-z0-9_.]*/, " ", text)
        while (match(text, /[0-9]([0-9.,]*[0-9])?/)) {
            found[++count] = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
        }
        return count
    }

    # The links in TEXT to sections, after the first COUNT of links; returns how
    # many there are then.
    function add_links(text, count) {
        while (match(text, /\(measurements\/[^)]*\)/)) {
            links[++count] = substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
        }
        return count
    }

    FILENAME != summary {
        if (/^## /) {
            section = tolower(substr($0, 4))
            gsub(/ /, "-", section)
            section = substr(FILENAME, 6) "#" section
        }
        for (i = numbers($0); i > 0; i--)
            has[section, found[i]] = 1
        next
    }
    /^## / { above = 0 }
    !/^\|/ { row = 0; above = add_links($0, above); next }
    ++row > 2 {
        last = add_links($0, above)
        for (i = numbers($0); i > 0; i--) {
            j = last > above ? above + 1 : 1
            while (j <= last && !((links[j], found[i]) in has))
                j++
            if (j > last)
                print summary ":" FNR ": " found[i] " is in no section that is" \
                    " linked to; quote the figure of today"
        }
    }' summary=docs/measurements.md docs/measurements/*.md docs/measurements.md) ||
    complain "docs/measurements: cannot be read"
[ -z "$quoted" ] || while IFS= read -r line; do
    complain "$line"
done <<<"$quoted"

# The command of one page, and of no other, names each script of the bench: that
# is where its tables go (tests/bench/run.sh).
for name in $(sed -nE 's/^ *(part=([a-z_]+) )?measure ([a-z_]+).*/\2 \3/p' \
    tests/bench/run.sh | awk '{ print $1 }' | sort -u); do
    [ "$(cat docs/measurements/*.md |
        grep -cE -e "--only \"([a-z_]+ )*$name( [a-z_]+)*\"")" -eq 1 ] || complain \
        "tests/bench/run.sh: $name: let one page of docs/measurements name it in --only"
done

cd docs || exit 1
for page in *.md design/*.md; do
    [ "$page" = README.md ] || grep -qF "]($page)" README.md ||
        complain "docs/README.md: no line for $page"
done
for page in design.md design/*.md; do
    head -n 1 "$page" | grep -q '^# .*?$' ||
        complain "docs/$page: does not open with the question that it answers"
    for file in $(grep -ohE '`[a-z_0-9/]+/[A-Za-z_0-9]+\.(c|h|js|sh|py|txt|map)`' \
        "$page" | tr -d '`' | sort -u); do
        [ -e "../src/$file" ] || [ -e "../$file" ] ||
            complain "docs/$page: $file is not there"
    done
done
finish
