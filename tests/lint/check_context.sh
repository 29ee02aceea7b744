#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Which threads may call a function is the last sentence of its comment in a
# header: "Context: ", a word of contexts.txt, and a full stop. A sentence that
# says the same in other words is a fault.
. "$(dirname "$0")/lib.sh"

words=$(sed -e '/^#/d' -e 's/   *.*//' "$here/contexts.txt" | paste -sd'|')
[ -n "$words" ] || complain "contexts.txt: no words"

# Each comment of a header in one line: PATH:LINE, a tab, its text.
comments() {
    awk '
        FNR == 1 { inside = 0 }
        !inside && /\/\*/ {
            inside = 1
            where = FILENAME ":" FNR
            text = ""
            sub(/.*\/\*/, "")
        }
        inside {
            last = /\*\//
            sub(/\*\/.*/, "")
            sub(/^[ \t]*\*?[ \t]*/, "")
            sub(/[ \t]*$/, "")
            if ($0 != "")
                text = text " " $0
            if (last) {
                inside = 0
                print where "\t" text
            }
        }' "$@"
}

mapfile -t headers < <(c_sources src | grep '\.h$')
while IFS= read -r line; do
    complain "${line#"$source"/}: end the comment by \"Context: \", a word of" \
        "contexts.txt and a full stop"
done < <(comments "${headers[@]}" | grep -E '[[:space:]]Context\b[^.]*:' |
    grep -vE " Context: ($words)\.\$" |
    sed -E 's/\t.*(Context\b.*)/: \1/')
while IFS= read -r line; do
    complain "${line#"$source"/}: write \"Context: \" and a word of contexts.txt"
done < <(comments "${headers[@]}" | sed -nE \
    's/\t.*[ .](((Any (thread|context)|Sampler|Sampler thread|In (a )?handler)[^.]{0,20})\.)$/: \1/p')
finish
