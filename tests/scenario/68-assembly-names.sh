#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: names of assembly that has one symbol, without type and
# size, in front of several functions.
# - the symbol names its own function and no other one;
# - each other function is one row, "module+0xoffset", with the offset of its
#   beginning, and its CPU time is what the program says;
# - `sprofile info` names the nearest symbol before each of them;
# - pprof files say the same, also of a program that is loaded at the addresses
#   of its file;
# - they do not if the file at the path has another build-id by now, and its
#   machine code is not shown for that of the program.
. "$(dirname "$0")/lib.sh"
has nm || finish

# expect_rows FILE: what it says of the program NAME.
expect_rows() {
    local number address seconds row
    echo "-- $1"
    plain "$sprofile" report --csv -n 0 "$1"
    expect_status 0
    mv out rows
    plain "$sprofile" info "$1"
    expect_status 0
    while read -r _ number address seconds _; do
        row=simd_first
        [ "$number" -eq 0 ] || row=$name+$address
        awk -F, -v name="$row" -v truth="$seconds" '
            NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
            $1 == name { is = $column["cpu_flat_ns"] / 1e9; found++ }
            END { printf "    %s: %.3f of %.3f s\n", name, is, truth
                exit !(found == 1 && is > 0.85 * truth && is < 1.15 * truth) }
            ' rows || fail "$row has other time than the program says"
        [ "$number" -eq 0 ] || grep -xE \
            " +$name\+$address is $((address - first)) bytes after simd_first" \
            out || fail "no hint to $row: $(grep after out)"
    done < <(grep '^function' truth)
    [ "$(grep -c "^$name+" rows)" -eq 4 ] ||
        fail "other rows: $(grep "^$name+" rows)"
}

for name in no_size no_size.fixed; do
    # The file has that symbol alone, at this address.
    first=$((16#$(nm "$work/$name" | sed -n 's/ T simd_first$//p')))
    [ "$(nm -S "$work/$name" | grep -c '^[0-9a-f]* T simd_first$')" -eq 1 ] ||
        fail "simd_first has a size"
    cp "$work/$name" "$name"
    profile SPROF_COST=off SPROF_OUTPUT="$tmp/p.sprof,$tmp/p.pb.gz" \
        "./$name" 500
    expect_ok
    mv out truth
    [ "$(sed -n 's/^function 0 \([^ ]*\).*/\1/p' truth)" = \
        "$(printf '%#x' "$first")" ] || fail "nm has another address: $(cat truth)"
    expect_rows p.sprof
    expect_rows p.pb.gz
done

echo "-- another file"
cp "$work/known_stack.o2" "$name"
plain "$sprofile" info p.pb.gz
expect_status 0
! grep 'bytes after' out || fail "symbols of another file"
plain "$sprofile" annotate simd_first p.pb.gz
grep -q 'has another build-id' out err || fail "machine code of another file"
finish
