#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: outputs: of the library, of a recording, and without
# times. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - a list writes several files, mode 0600, and no spool is left;
# - %p %e %t %h %% are filled in;
# - a relative name means the directory in which the program started;
# - each format says the same.
section "SPROF_OUTPUT"

mkdir sub
profile SPROF_OUTPUT="a.folded,$tmp/b.pb.gz,sub/c.txt" \
    "$work/known_stack.o2" 1000
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
echo old >there.folded
profile SPROF_OUTPUT="$tmp/there.folded" "$work/known_stack.o2" 100
expect_ok
expect_samples 30 there.folded
! grep -q old there.folded || fail "the old file is still there"

# One recording, several outputs.
# - -o again and again, and commas between names, each of its format and all
#   with the same samples;
# - one that cannot be written is named, the others are written, the spools are
#   kept, and the status is not 0;
# - without -o there is one spool, with times and names, and the summary names
#   the next commands, which work as they stand there;
# - a wrong name is refused before the program runs.
section "several outputs of record"

program=$work/known_stack.o2

# record ARGUMENT...: in the directory run, which was empty.
record() {
    rm -rf run
    mkdir run
    plain sh -c 'cd run && exec "$@"' sh "$sprofile" record "$@"
}

# samples FILE: how many it has.
samples() {
    plain "$sprofile" info "$1"
    samples_of out
}

echo "-- several"
record -o a.pb.gz,b.folded -o c.sprof --output=d.json,e.speedscope.json \
    -o f.txt -- "$program" 200
expect_status 0
grep -q '^sprof: wrote a.pb.gz, b.folded, c.sprof, d.json, ' err ||
    fail "the summary: $(cat err)"
[ "$(cd run && echo *)" = \
    "a.pb.gz b.folded c.sprof d.json e.speedscope.json f.txt" ] ||
    fail "there is: $(ls run)"
count=$(samples run/c.sprof)
[ "${count:-0}" -gt 0 ] || fail "${count:-no} samples in c.sprof"
[ "$(samples run/a.pb.gz)" = "$count" ] || fail "a.pb.gz has other samples"
grep -q "^samples  $count of" run/f.txt || fail "f.txt has other samples"
expect_share 90 ';leaf_spin' run/b.folded
for file in run/*.json; do
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" ||
        fail "$file is no JSON"
done

echo "-- one of several cannot be written"
rm -rf run
mkdir -p run/x.folded
plain sh -c 'cd run && exec "$@"' sh "$sprofile" record \
    -o a.pb.gz,x.folded,z.txt -- "$program" 100
expect_status 1
grep -q '^sprofile: x.folded: cannot be written: ' err || fail "$(cat err)"
grep -q '^sprof: wrote a.pb.gz, z.txt: ' err || fail "the summary: $(cat err)"
[ -s run/a.pb.gz ] && [ -s run/z.txt ] || fail "the others are not there"
ls run/sprof.record.*/*.sprof >/dev/null || fail "the spools are gone"

echo "-- the default"
record -- "$program" 200
expect_status 0
file=$(cd run && echo *)
case $file in
sprof.known_stack.o2.[0-9]*.sprof) ;;
*) fail "there is: $file" ;;
esac
"$sprofile" convert "run/$file" p.json 2>message || fail "$(cat message)"
"$sprofile" convert "run/$file" p.folded
expect_share 90 ';with_locals;leaf_spin' p.folded
sed -n 's/^next  //p; s/^      //p' err >next
sed 's/^/   /' next
for word in " report $file" " convert $file " "go tool pprof sprof."; do
    grep -qF -- "$word" next || fail "no next command:$word"
done
grep -v '^go ' next >commands
(cd run && sh -e ../commands >/dev/null) || fail "the commands do not work"
if has go; then
    grep '^go ' next | sed 's/pprof /pprof -top /' >commands
    (cd run && PPROF_TMPDIR=$tmp sh -e ../commands >../top 2>&1) ||
        fail "go tool pprof: $(cat top)"
fi

echo "-- names that a shell must not see"
record -o "it's  \$HOME.sprof" -- "$program" 50
sed -n 's/^next  //p' err >commands
(cd run && sh -e ../commands >/dev/null) || fail "$(cat commands)"

echo "-- what is wrong is told, and nothing runs"
for wrong in a.pb.gz,b.svg a.pb.gz, ,a.pb.gz a.pb.gz,,b.txt; do
    record -o "$wrong" sh -c 'echo ran'
    expect_status 2
    [ ! -s out ] || fail "ran all the same: $wrong"
done
record -o a.pb.gz,nowhere/b.txt sh -c 'echo ran'
expect_status 1
[ ! -s out ] || fail "ran without a place for b.txt"
grep -q 'nowhere/b.txt' err || fail "$(cat err)"

# No time axis is invented without a word.
# - a pprof file, and whatever was made of one, becomes no Firefox profile: one
#   line that names spools, status 1, and no file;
# - with --untimed it does, and says that its times are invented;
# - spools do, with the times that they have;
# - speedscope is made, and says that its order is none of time.
section "no invented times"

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
