#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: frames without names are told of where they matter.
# - the summary of record has one line on them, and none where all have names;
# - info says how node names its own builtins, and with that they have names.
. "$(dirname "$0")/lib.sh"

plain "$sprofile" record -o generated.sprof -- "$work/generated_code" 500
expect_status 0
grep -qE '^names [0-9.]+ % of CPU time .* in generated code: sprofile info' err ||
    fail "the summary does not tell of generated code: $(cat err)"
plain "$sprofile" record -o known.sprof -- "$work/known_stack.o2" 300
expect_status 0
! grep '^names' err || fail "the summary tells of names where all are there"

plain "$sprofile" info generated.sprof
expect_status 0
grep -qF -- '--no-short-builtin-calls' out || fail "info has no hint for node"
finish
