#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The scenarios: each has a number of its own, opens with its goals, ends by
# finish, which says whether anything was run, and has at most 500 lines. What
# the documentation names is there.
. "$(dirname "$0")/lib.sh"

folder=$source/tests/scenario
for path in "$folder"/[0-9]*.sh "$source"/tests/timed/[0-9]*.sh; do
    [ -e "$path" ] || continue
    name=${path##*/}
    grep -q '^# Goals of this test' "$path" || complain "$name: begin with \"# Goals of this test\""
    tail -n 1 "$path" | grep -qE '^(finish|exec) ?' ||
        complain "$name: end by finish"
    [ "$(wc -l <"$path")" -le 500 ] || complain "$name: over 500 lines: split it by goals"
    [ "$(ls "${path%/*}/${name%%-*}"-*.sh | wc -l)" -eq 1 ] ||
        complain "$name: another one has its number: take a free one"
done
for named in $(grep -ohE 'scenario[./][0-9]{2}-[a-z-]+' \
    "$source"/README.md "$source"/docs/*.md "$source"/docs/design/*.md |
    sed 's/.*[./]//'); do
    [ -e "$folder/$named.sh" ] || complain "$named: README.md or docs/ names it, and it is not there: mend the name"
done
finish
