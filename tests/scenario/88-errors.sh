#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: mistakes are told in words that help.
# - a file that is no profile: what it is;
# - an unknown SPROF_ variable: one line, with the one that was meant, from the
#   first process of a tree alone;
# - options of perf and commands that there are not: what there is instead;
# - `sprofile help COMMAND`, and - as an output;
# - status 1 where something that was asked for is missing.
. "$(dirname "$0")/lib.sh"

"$work/make_spool" "$tmp/a.sprof" || fail "make_spool failed"
"$sprofile" convert a.sprof a.pb.gz || fail "convert"

# looks_like WORDS FILE: the message, of a file and of standard input.
looks_like() {
    plain "$sprofile" report "$2"
    expect_status 1
    grep -q "^sprofile: $2: neither a pprof file nor a spool (it looks like.*$1" err ||
        fail "$2: the message lacks $1: $(cat err)"
    "$sprofile" info - <"$2" >out 2>err
    grep -q "^sprofile: standard input: neither.*$1" err ||
        fail "$2: the message on standard input lacks $1: $(cat err)"
}

echo "-- other files"
printf 'PERFILE2\150\0\0\0\0\0\0\0' >perf.data
looks_like perf.data perf.data
printf 'gmon\1\0\0\0' >gmon.out
looks_like gmon.out gmon.out
echo '<!DOCTYPE html><html><title>404</title>' >page.pb.gz
looks_like 'an HTML page' page.pb.gz
gzip -c page.pb.gz >page2.pb.gz
looks_like 'gzip of an HTML page' page2.pb.gz
: >empty
looks_like 'an empty file' empty
cp "$sprofile" program
looks_like 'a program' program
for ending in json speedscope.json folded; do
    "$sprofile" convert a.sprof "a.$ending" || fail "convert $ending"
    looks_like 'written and not read' "a.$ending"
done
head -c 300 a.pb.gz >cut.pb.gz
plain "$sprofile" report cut.pb.gz
grep -q 'damaged' err || fail "a cut pprof file: $(cat err)"

echo "-- variables"
# lines: how many lines of err name a variable that is none.
lines() { grep -c '^sprof: .* is not a setting' err; }
profile SPROF_FREQ=100 "$work/exits" exit 20
expect_status 21
expect_note SPROF_FREQ 'did you mean SPROF_FREQUENCY?'
[ -e p.folded ] || [ "$(lines)" -eq 1 ] || fail "not profiled"
profile SPROF_FREQ=100 SPROF_LOG=quiet "$work/exits" exit 20
! grep sprof: err || fail "not quiet"
profile SPROF_FREQ=100 SPROF_KIN=1 "$work/exits" exit 20
[ "$(lines)" -eq 2 ] || fail "two variables: $(cat err)"
profile SPROF_FREQ=100 sh -c 'for i in 1 2 3 4 5; do
        /bin/true; sh -c "/bin/true; /bin/true"; done; exit 3'
expect_status 3
[ "$(lines)" -eq 1 ] || fail "a tree of processes: $(lines) lines"
plain env SPROF_FREQ=100 "$sprofile" record -q -o r.folded sh -c \
    'for i in 1 2 3; do /bin/true; sh -c "/bin/true; /bin/true"; done; exit 3'
expect_status 3
[ "$(lines)" -eq 1 ] || fail "record: $(lines) lines"
profile SPROF_FREQ=100 SPROF_ONLY=exits sh -c "$work/exits exit 20; exit 3"
[ "$(lines)" -eq 1 ] || fail "SPROF_ONLY: $(lines) lines"
profile SPROF_FREQUENCY=0 sh -c '/bin/true; sh -c "/bin/true; /bin/true"; exit 3'
expect_status 3
expect_note SPROF_FREQUENCY=0 20000
# A child's own mistake is its own.
profile SPROF_FREQUENCY=100 sh -c 'SPROF_FREQUENCY=fast /bin/true; exit 3'
expect_note SPROF_FREQUENCY=fast 20000
profile SPROF_FREQUENCY=0 sh -c 'SPROF_FREQUENCY=00 /bin/true; exit 3'
[ "$(grep -c '^sprof:' err)" -eq 2 ] || fail "two mistakes: $(cat err)"
# Two programs that a shell starts are two trees.
for i in 1 2; do
    profile SPROF_FREQ=100 "$work/exits" exit 20
    [ "$(lines)" -eq 1 ] || fail "program $i of a shell: $(lines) lines"
done

echo "-- usage"
# usage WORDS ARGUMENT...
usage() {
    local words=$1
    shift
    plain "$sprofile" "$@"
    expect_status 2
    grep -q -- "$words" err || fail "$*: the message lacks $words: $(cat err)"
}
usage 'cannot be attached to' record -p 1234
usage 'cannot be attached to' record --pid=1234
usage 'only COMMAND' record -a
usage 'whole stack' record -g true
usage 'whole stack' record --call-graph dwarf true
usage 'CPU time and wall time' record -e cycles true
usage 'did you mean record' recrod true
usage 'did you mean report' help reprot
usage 'is not a command' frobnicate
! grep -q 'did you mean' err || fail "frobnicate is near to something"
usage 'expected --format' convert a.sprof -
usage 'expected one of .pb.gz' convert --format svg a.sprof -
usage 'expected a file' record -o - true

for command in record report convert merge diff info stacks top; do
    plain "$sprofile" help "$command"
    expect_status 0
    mv out page
    plain "$sprofile" "$command" --help
    cmp -s out page || fail "help $command is another page"
done

echo "-- outputs"
for ending in folded .folded pb.gz json speedscope.json txt sprof; do
    name=b.${ending#.}
    "$sprofile" convert --format "$ending" a.sprof - >"$name" 2>err ||
        fail "convert --format $ending: $(cat err)"
    "$sprofile" merge --format "$ending" -o - a.sprof 2>err | cmp - "$name" ||
        fail "merge --format $ending"
    "$sprofile" convert a.sprof "c.${ending#.}" || fail "convert $ending"
    [ "$ending" = sprof ] || cmp "$name" "c.${ending#.}" || fail "$ending"
done
"$sprofile" info b.sprof >out || fail "the spool cannot be read"
"$sprofile" convert --format folded a.sprof any.name && cmp any.name b.folded ||
    fail "--format with a name"
"$sprofile" convert --format pb.gz a.sprof - | "$sprofile" report - >out 2>err ||
    fail "in a pipe: $(cat err)"
"$sprofile" convert --format txt a.sprof - 2>err >/dev/full
[ $? -eq 1 ] || fail "a full disk: status $?"

echo "-- what is missing"
# partly ARGUMENT...: status 1, the missing file is named, and there is output.
partly() {
    rm -f m.folded
    plain "$sprofile" "$@"
    expect_status 1
    grep -q '^sprofile: missing.pb.gz: No such file' err || fail "$*: $(cat err)"
    [ -s out ] || [ -s m.folded ] || fail "$*: what is there was not used"
}
partly merge -o m.folded a.sprof missing.pb.gz
partly convert a.sprof missing.pb.gz m.folded
partly report missing.pb.gz a.sprof
partly info a.sprof missing.pb.gz
plain "$sprofile" report --thread nobody a.sprof
expect_status 1
grep -qx 'sprofile: nothing is left by --thread nobody' err || fail "$(cat err)"
plain "$sprofile" convert --state nowhere a.sprof m.folded
expect_status 1
[ -e m.folded ] || fail "an empty profile is none"

finish
