#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The options of each command (src/cli, struct command_option) stand in the
# manual page, in docs/sprofile.md and in the shell completion with the same
# names and the same names of arguments, and none stands there that the command
# does not have. The options are read from the help pages, which the tables
# make.
. "$(dirname "$0")/lib.sh"

sprofile=$build/sprofile
man=$source/docs/man/sprofile.1
page=$source/docs/sprofile.md
completion=$source/src/package/sprofile.bash
[ -x "$sprofile" ] || skip "there is no $sprofile"

# Turn "-o, --output FILE", one list a line, into one option a line. The
# argument is after the last name only, and is that of all of them if the
# first is a letter.
split_names() {
    awk '{
        count = split($0, part, /, /)
        split(part[count], last, / /)
        for (i = 1; i <= count; i++)
            print part[i] (part[1] ~ /^-[a-zA-Z]$/ && i < count && \
                last[2] != "" ? " " last[2] : "")
    }'
}

# The options of COMMAND, without --help.
options() {
    "$sprofile" "$1" --help | grep -E '^  (    )?-' |
        sed -e 's/^ *//' -e 's/  .*//' | split_names | grep -vx -- --help |
        sort
}

# The options in the section TITLE of the manual page.
man_options() {
    awk -v title="$1" '
        /^\.S[SH] / { inside = $0 == ".SS " title; next }
        inside && last == ".TP" && /^(\.B |\\fB)-/ {
            gsub(/\\f[BIR]/, "")
            sub(/^\.B /, "")
            print
        }
        { last = $0 }' "$man" | split_names | sort
}

# The options in the tables of the section of docs/sprofile.md whose title names
# COMMAND in front of a colon.
page_options() {
    sed 's/\\|/\a/g' "$page" | awk -F'|' -v word="$1" '
        /^## / {
            title = $0
            sub(/^## /, "", title)
            sub(/:.*/, "", title)
            gsub(/,| and/, "", title)
            inside = index(" " title " ", " " word " ")
        }
        inside && /^\| *`-/ {
            count = split($2, span, "`")
            names = ""
            for (i = 2; i <= count; i += 2)
                if (span[i] ~ /^-/)
                    names = names (names == "" ? "" : ", ") span[i]
            print names
        }' | tr '\a' '|' | split_names | sort
}

# COMMANDS (a list) PLACE OPTIONS FILTERS: complain about differences. Where
# the commands have all filters, one section has them for all.
compare() {
    local have filters=$4 line
    have=$(for command in $1; do options "$command"; done | sort -u)
    [ -z "$(comm -13 <(echo "$have") <(echo "$filters"))" ] || filters=""
    while IFS= read -r line; do
        complain "$2: it lacks $line of sprofile ${1// /, }: add it"
    done < <(comm -23 <(echo "$have") <(sort -u <<<"$3"$'\n'"$filters"))
    while IFS= read -r line; do
        [ -z "$line" ] || complain "$2: sprofile ${1// /, } has no $line:" \
            "delete it, or add it to the table of the command"
    done < <(comm -13 <(echo "$have") <(echo "$3"))
}

# Complete the words after sprofile, of which the last is begun.
complete_words() {
    COMP_WORDS=("$sprofile" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _sprofile "$sprofile"
}

# COMMAND: the completion has its options, and for record knows which of them
# have an argument: a program is not looked for in its place.
check_completion() {
    local have line option value
    complete_words "$1" -
    have=$(printf '%s\n' "${COMPREPLY[@]}" | sort -u)
    while IFS= read -r line; do
        complain "src/package/sprofile.bash: $1: $line"
    done < <(diff <({ options "$1" && echo --help; } | sed 's/[ [].*//' |
        sort -u) <(echo "$have") |
        sed -n -e 's/^< \(.*\)/add \1/p' -e 's/^> \(.*\)/delete \1/p')
    [ "$1" = record ] || return
    while read -r option value; do
        complete_words record "$option" word -
        [ $((${#COMPREPLY[@]} > 0)) = $((${#value} > 0)) ] ||
            complain "src/package/sprofile.bash: record: $option: say whether" \
                "it has an argument"
    done < <(options record)
}

# OPTION COMMAND...: the words that the completion offers are those that the
# commands expect.
check_words() {
    local option=$1 command expected=""
    shift
    for command in "$@"; do
        expected+=" $("$sprofile" $command "$option" '?' x 2>&1 |
            sed -n -e 's/|/ /g' -e 's/,\| or / /g' -e 's/label:KEY/label:/' \
                -e 's/.*: expected\( one of\)\?//p')"
    done
    complete_words "${1%% *}" "$option" ""
    diff <(xargs -n1 <<<"$expected" | sort -u) \
        <(printf '%s\n' "${COMPREPLY[@]}" | sort -u) >/dev/null ||
        complain "src/package/sprofile.bash: $option: offer" $expected
}

commands=$("$sprofile" --help | awk '!NF { part++ } NF && part == 1 { print $1 }')
[ "$(wc -l <<<"$commands")" -ge 11 ] || complain "no commands found"
# shellcheck source=/dev/null
. "$completion"
filters=$(man_options Filters)
for command in $commands; do
    compare "$command" docs/man/sprofile.1 "$(man_options "$command")" \
        "$filters"
    check_completion "$command"
done

# A section of docs/sprofile.md may be about several commands.
filters=$(page_options Filters)
described=""
while read -r first others; do
    grep -qxF -- "$first" <<<"$commands" || continue
    described+=" $first $others "
    compare "$first${others:+ $others}" docs/sprofile.md \
        "$(page_options "$first")" "$filters"
done < <(sed -n -e 's/:.*//' -e 's/,\| and//g' -e 's/^## //p' "$page")
for command in $commands; do
    [[ $described == *" $command "* ]] ||
        complain "docs/sprofile.md: add a section \"## $command: ...\""
done

# The words of the manual page are those of `sprofile help words`, one a line:
# "WORD: meaning".
words() {
    "$sprofile" help words | awk '
        /^  [^ ]/ { if (word != "") print word; word = "" }
        /^  / {
            sub(/^ */, "")
            sub(/  +/, ": ")
            word = word == "" ? $0 : word (word ~ /: / ? " " : ": ") $0
        }
        END { print word }'
}
man_words() {
    awk '/^\.SH / { inside = $2 == "WORDS" }
        inside && last == ".TP" { gsub(/\\f[BR]/, ""); word = $0 }
        inside && before == ".TP" {
            sub(/\.$/, "")
            print word ": " $0
        }
        { before = last; last = $0 }' "$man"
}
while IFS= read -r line; do
    complain "docs/man/sprofile.1: WORDS: $line"
done < <(diff -i <(words) <(man_words) |
    sed -n -e 's/^< /add: /p' -e 's/^> /delete: /p')

complete_words ""
diff <(printf '%s\n' $commands help --help --version | sort) \
    <(printf '%s\n' "${COMPREPLY[@]}" | sort) >/dev/null ||
    complain "src/package/sprofile.bash: the commands to offer are" $commands
check_words --by report diff top
check_words --sort report "top --once" "top --once --by thread"
check_words --mode record
finish
