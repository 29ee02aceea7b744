#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a list writes several files, mode 0600, and no spool stays behind;
# - %p %e %t %h %% are filled in;
# - a relative name means the directory in which the program started;
# - each format says the same.
. "$(dirname "$0")/lib.sh"

mkdir sub
profile SPROF_OUTPUT="a.folded,$tmp/b.pb.gz,sub/c.txt" \
    "$work/known_stack.o2" 500
expect_ok
for file in a.folded b.pb.gz sub/c.txt; do
    [ -s "$file" ] || { fail "$file is missing"; continue; }
    [ "$(stat -c %a "$file")" = 600 ] || fail "$file: mode is not 600"
done
! find . -name '*.sprof' | grep . || fail "a spool was left behind"
expect_share 99 'through_pointer' a.folded 'known_stack|;main;'
grep -q work_burn sub/c.txt || fail "the text report lacks work_burn"
gzip -t b.pb.gz || fail "b.pb.gz is not gzip"
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q top; then
    PPROF_TMPDIR=$tmp go tool pprof -top b.pb.gz >top 2>err ||
        fail "go tool pprof does not open b.pb.gz: $(cat err)"
    grep -q work_burn top || fail "pprof does not show work_burn"
fi

profile SPROF_OUTPUT='x-%e-%p-%h-%%-%t.folded' "$work/known_stack.o2" 100
expect_ok
name=$(ls x-*.folded)
[[ $name =~ ^x-known_stack.o2-[0-9]+-$(uname -n)-%-[0-9]{10}\.folded$ ]] ||
    fail "the template became $name"
rm -f x-*

# The spool with its symbols takes the place of the spool, and is read where the
# program is not.
cp "$work/known_stack.o2" copied
profile SPROF_OUTPUT=named.sprof,named.folded "$tmp/copied" 100
expect_ok
mv copied elsewhere
plain "$sprofile" convert named.sprof again.folded
expect_status 0
cmp -s again.folded named.folded || fail "a spool lost its names"
mv elsewhere copied
plain "$sprofile" convert named.sprof named.sprof several.sprof
expect_status 0
plain "$sprofile" info several.sprof
[ "$(grep -c '^process ' out)" = 2 ] || fail "two spools in one are not two"
rm named.sprof

# A program that goes elsewhere.
profile SPROF_OUTPUT=here.folded python3 -c 'import os
os.chdir("/"); print(sum(i * i for i in range(2000000)) > 0)'
expect_status 0
expect_samples 50 here.folded

# The default name.
mkdir default
plain env -C default LD_PRELOAD="$library" "$work/known_stack.o2" 100
ls default/sprof.known_stack.o2.*.pb.gz >/dev/null ||
    fail "the default file is missing"

# A file that is already there is replaced.
echo old >p.folded
profile "$work/known_stack.o2" 100
expect_ok
expect_samples 30 p.folded
! grep -q old p.folded || fail "the old file is still there"

finish
