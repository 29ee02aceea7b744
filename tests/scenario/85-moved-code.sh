#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a library whose code was moved by a tool (BOLT) into a last
# segment, behind a hole, is one module.
# - functions that were moved and those that were left alone have names, and
#   stacks go through both to the root, wherever the program headers are;
# - no address of it is taken for generated code;
# - the official Rust tool chain, which is made so: stacks of a build reach their
#   roots.
. "$(dirname "$0")/lib.sh"

for library_of in moved moved_inside moved_outside; do
    echo "-- $library_of"
    profile SPROF_KEEP_SPOOL=1 "$work/chosen_library" 400 \
        "$work/$library_of.so" "$PWD/loaded"
    expect_ok
    expect_share 95 ';main;compute;plugin_compute;moved_compute[ ;]' p.folded \
        ';main'
    expect_roots 98 p.folded
    plain "$sprofile" info p.sprof
    expect_status 0
    ! grep 'generated code' out || fail "code of a file is called generated"
done

# Half a second of a compiler: a few functions, as often as it takes.
official=$(rustc --print sysroot 2>/dev/null)
if readelf -SW "$official"/lib/librustc_driver-*.so 2>/dev/null |
    grep -qF .bolt.org.text; then
    echo "-- rustc"
    for i in {1..60}; do
        echo "pub fn f$i(n: u64) -> String" \
            "{ (0..n).map(|k| format!(\"{}\", k * $i)).collect() }"
    done >lib.rs
    plain "$sprofile" record -o rust.sprof -- \
        rustc -O --crate-type lib --edition 2021 lib.rs
    expect_status 0
    plain "$sprofile" convert rust.sprof rust.folded
    expect_status 0
    expect_share 99 '^([^[]|\[[^t])' rust.folded
    grep -qE '[;:]rustc_[a-z]+::' rust.folded || fail "rustc has no names"
else
    echo "-- no official rustc"
fi
finish
