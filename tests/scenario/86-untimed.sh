#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: no time axis is invented without a word.
# - a pprof file, and whatever was made of one, becomes no Firefox profile: one
#   line that names spools, status 1, and no file;
# - with --untimed it does, and says that its times are invented;
# - spools do, with the times that they have;
# - speedscope is made, and says that its order is none of time.
. "$(dirname "$0")/lib.sh"

# expect_refused COMMAND...: it makes no p.json.
expect_refused() {
    rm -f p.json
    plain "$sprofile" "$@"
    expect_status 1
    [ "$(wc -l <err)" -eq 1 ] && grep -q '\.sprof' err ||
        fail "not one line that names spools: $(cat err)"
    [ ! -e p.json ] || fail "a file all the same: $*"
}

profile SPROF_OUTPUT="$tmp/a.pb.gz,$tmp/a.sprof" "$work/known_stack.o2" 100
expect_ok
"$sprofile" convert a.pb.gz of_pprof.sprof
expect_refused convert a.pb.gz p.json
expect_refused convert of_pprof.sprof p.json
expect_refused merge -o p.json a.sprof a.pb.gz
expect_refused convert --format json a.pb.gz -

plain "$sprofile" convert --untimed a.pb.gz p.json
expect_status 0
[ ! -s err ] || fail "a word too many: $(cat err)"
grep -q '"product":"known_stack.o2 (untimed: ' p.json || fail "not marked"
grep -q '"value":"invented: ' p.json || fail "not explained"
plain "$sprofile" convert --untimed a.sprof p.json
grep -q '"product":"known_stack.o2"' p.json || fail "marked, but it has times"
plain "$sprofile" convert a.sprof p.json
expect_status 0
! grep -q 'invented' p.json || fail "marked without being asked"

plain "$sprofile" convert a.pb.gz p.speedscope.json
expect_status 0
grep -q 'in no order of time' p.speedscope.json || fail "speedscope: not marked"
plain "$sprofile" convert a.sprof p.speedscope.json
! grep -q 'in no order of time' p.speedscope.json || fail "speedscope: marked"

finish
