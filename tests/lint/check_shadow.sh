#!/bin/bash
# SPDX-License-Identifier: MIT
#
# libsprof.so and each of its objects are marked for shadow stacks (x86-64). A
# program that preloads a library without the mark loses its own.
. "$(dirname "$0")/lib.sh"

[ "$machine" = x86_64 ] || skip "$machine has none"
library=$build/libsprof.so
[ -e "$library" ] || { complain "$library: not built"; finish; }
readelf -nW "$library" | grep -q 'x86 feature:.*SHSTK' ||
    complain "libsprof.so is not marked for shadow stacks: link it by -z shstk"

# The programs of the build may be without it; what libsprof.so is made of may not.
for folder in hooks agent sampling_trigger sampling journal labels capture \
    signals "unwind_$machine" unwind store process libc "base_$machine" base; do
    archive=$build/libsprof_$folder.a
    [ -e "$archive" ] || { complain "$archive: not built"; continue; }
    bare=$(readelf -nW "$archive" | awk '
        /^File: / { if (file != "" && !marked) print file; file = $2; marked = 0 }
        /x86 feature:.*SHSTK/ { marked = 1 }
        END { if (file != "" && !marked) print file }')
    [ -z "$bare" ] || complain "not marked for shadow stacks: $bare: compile by" \
        "-fcf-protection=return"
done
finish
