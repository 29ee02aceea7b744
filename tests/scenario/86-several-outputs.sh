#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: one recording, several outputs.
# - -o again and again, and commas between names, each of its format and all
#   with the same samples;
# - one that cannot be written is told, the others are written, the spools are
#   kept, and the status is not 0;
# - without -o there is one spool, with times and names, and the summary names
#   the next commands, which work as they stand there;
# - a wrong name is told before the program runs.
. "$(dirname "$0")/lib.sh"

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
[ "${count:-0}" -gt 20 ] || fail "${count:-no} samples in c.sprof"
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

finish
