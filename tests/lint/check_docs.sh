#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every option of the table (base/options.h) is documented, in README.md or
# docs/options.md, and docs/options.md names none that does not exist.
. "$(dirname "$0")/lib.sh"

table=$source/src/base/options.h
[ -e "$table" ] || { complain "src/base/options.h: missing"; finish; }
options=$(grep -o '"SPROF_[A-Z_]*"' "$table" | tr -d '"' | sort -u)
[ -n "$options" ] || complain "src/base/options.h: no options found"
for option in $options; do
    grep -qw "$option" "$source/README.md" "$source/docs/options.md" \
        2>/dev/null || complain "$option: neither in README.md nor in" \
        "docs/options.md"
done
if [ -e "$source/docs/options.md" ]; then
    for named in $(grep -owE 'SPROF_[A-Z_]+' "$source/docs/options.md" |
        sort -u); do
        grep -qxF "$named" <<<"$options" ||
            complain "docs/options.md: $named is not an option"
    done
fi
finish
