#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: names of assembly that has one symbol, without type and
# size, in front of several functions.
# - the symbol names its own function and no other one;
# - each other function is one row, "module+0xoffset", with the offset of its
#   beginning, and its CPU time is what the program says;
# - `sprofile info` tells the nearest symbol before each of them;
# - pprof files say the same.
. "$(dirname "$0")/lib.sh"
has nm || finish

# The file has that symbol alone, at this address.
nm "$work/no_size" | grep ' simd_first$'
first=$((16#$(nm "$work/no_size" | sed -n 's/ T simd_first$//p')))
[ "$(nm -S "$work/no_size" | grep -c '^[0-9a-f]* T simd_first$')" -eq 1 ] ||
    fail "simd_first has a size"

profile SPROF_COST=off SPROF_OUTPUT="$tmp/p.sprof,$tmp/p.pb.gz" \
    "$work/no_size" 500
expect_ok
mv out truth
[ "$(sed -n 's/^function 0 \([^ ]*\).*/\1/p' truth)" = \
    "$(printf '%#x' "$first")" ] || fail "nm has another address: $(cat truth)"
for file in p.sprof p.pb.gz; do
    echo "-- $file"
    plain "$sprofile" report --csv -n 0 $file
    expect_status 0
    mv out rows
    plain "$sprofile" info $file
    expect_status 0
    while read -r _ number address seconds _; do
        name=simd_first
        [ "$number" -eq 0 ] || name=no_size+$address
        awk -F, -v name="$name" -v truth="$seconds" '
            NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
            $1 == name { is = $column["cpu_flat_ns"] / 1e9; found++ }
            END { printf "    %s: %.3f of %.3f s\n", name, is, truth
                exit !(found == 1 && is > 0.85 * truth && is < 1.15 * truth) }
            ' rows || fail "$name has other time than the program says"
        [ "$number" -eq 0 ] || grep -xE \
            " +no_size\+$address is $((address - first)) bytes behind simd_first" \
            out || fail "no hint to $name: $(grep behind out)"
    done < <(grep '^function' truth)
    [ "$(grep -c '^no_size+' rows)" -eq 4 ] ||
        fail "other rows: $(grep '^no_size+' rows)"
done
finish
