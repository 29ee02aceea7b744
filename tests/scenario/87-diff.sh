#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what diff compares, and that it says so first.
# - the first line has the change of the total and what the rows compare;
# - two runs of one command are compared in seconds, also from another
#   directory; of different commands, or numbers of runs, shares are;
# - --absolute and --shares choose.
. "$(dirname "$0")/lib.sh"

costs=$work/two_costs
[ -x "$costs" ] || skip "$costs is not built"
mkdir one two
cp "$costs" one/app
cp "$costs" two/app

# record NAME COMMAND...
record() {
    plain "$sprofile" record -q -o "$1" -- "${@:2}"
    expect_status 0
}

# compares WORD OPTION...: the first line says that these are compared.
compares() {
    local word=$1
    shift
    plain "$sprofile" diff "$@"
    expect_status 0
    head -n 1 out | grep -Eq "^total +[-+][0-9.]+ s CPU, [-+][0-9.]+ %; $word " ||
        fail "diff $*: expected $word: $(head -n 1 out)"
}

record a.sprof one/app 40 1000 1000
record b.sprof two/app 40 1000 1000
record c.sprof one/app 120 1000 1000
plain "$sprofile" convert a.sprof a.pb.gz
plain "$sprofile" merge -o twice.sprof a.sprof b.sprof

compares seconds a.sprof b.sprof
! grep -q '^scale' out || fail "seconds are scaled"
compares seconds a.pb.gz b.sprof
compares shares a.sprof c.sprof
grep -q '^scale' out || fail "shares are not scaled"
compares shares a.sprof twice.sprof
compares seconds --absolute a.sprof c.sprof
grep -q '^slower' out || fail "three times the work is not slower"
compares shares --shares a.sprof b.sprof
compares seconds --shares --absolute a.sprof b.sprof
plain "$sprofile" diff a.sprof c.sprof
change=$(sed -n '1s/^total *+\([0-9]*\)\..*/\1/p' out)
[ -n "$change" ] || fail "the total did not grow: $(head -n 1 out)"
if has python3; then
    plain "$sprofile" diff --json a.sprof b.sprof
    python3 -c 'import json, sys
assert json.load(sys.stdin)["absolute"] is True' <out || fail "json: no seconds"
fi

finish
