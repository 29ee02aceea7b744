#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The loader maps what libsprof.so writes to before anything of ours can run: a
# program under a small RLIMIT_DATA would not start. So that is bounded; what is
# large is reserved at run time (sys_reserve).
. "$(dirname "$0")/lib.sh"

most=$((192 << 10))

library=$build/libsprof.so
[ -e "$library" ] || { complain "$library: not built"; finish; }
bytes=0
while read -r size; do
    bytes=$((bytes + size))
done < <(readelf -lW "$library" | awk '$1 == "LOAD" && $7 == "RW" { print $6 }')
[ "$bytes" -gt 0 ] || complain "libsprof.so: no segment that can be written"
[ "$bytes" -le "$most" ] ||
    complain "libsprof.so: $bytes bytes can be written, at most $most may:" \
        "reserve what is large by sys_reserve"
finish
