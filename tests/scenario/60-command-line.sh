#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the command line of sprofile: what it does with each file,
# and what it says of mistakes. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# The sprofile command, on a spool with known contents.
# - wrong usage ends with 2, failure with 1, and both say why on stderr;
# - every command has --help, and -- ends options;
# - report, info and convert show what is in the spool, from files and from
#   standard input, of one spool and of several;
# - damage is named and what is valid is used;
# - go tool pprof takes the pprof file.
section "usage and files"

make_spool=$work/make_spool
[ -x "$make_spool" ] || skip "$make_spool is not built"
"$make_spool" "$tmp/a.sprof" || fail "make_spool failed"

# expect_usage ARGUMENT...: refused, with a hint and nothing on stdout.
expect_usage() {
    plain "$sprofile" "$@"
    expect_status 2
    [ -s err ] || fail "no message: $*"
    [ ! -s out ] || fail "something on stdout: $*"
}

# expect_failure WORD ARGUMENT...: status 1 and a message that has WORD.
expect_failure() {
    local word=$1
    shift
    plain "$sprofile" "$@"
    expect_status 1
    grep -q "^sprofile: .*$word" err || fail "the message lacks $word: $*"
}

expect_usage
expect_usage frobnicate
expect_usage report
expect_usage report --frobnicate a.sprof
expect_usage report -n
expect_usage report -n many a.sprof
expect_usage report -n -1 a.sprof
expect_usage report -n 99999999999 a.sprof
expect_usage convert a.sprof
expect_usage convert a.sprof out.svg
expect_usage info
grep -q -- '--help' err || fail "no hint at --help"

for command in "" report convert info; do
    # shellcheck disable=SC2086
    plain "$sprofile" $command --help
    expect_status 0
    grep -q '^usage: sprofile' out || fail "no usage: $command --help"
done
plain "$sprofile" --version
grep -Eqx 'sprofile [0-9]+\.[0-9]+\.[0-9]+' out || fail "no version"

# Names that look like options.
cp a.sprof -- -n
plain "$sprofile" info -- -n
expect_status 0

# The report.
plain "$sprofile" report a.sprof
expect_status 0
grep -q '^command  app --fast, ' out || fail "no command"
grep -q '^samples  9 of 2 threads, 4 looks at waits: ' out || fail "no samples"
grep -q '^lost     2 of 15 asked: 2 exited; ' out || fail "no losses"
grep -q '; cut 1 of 17 stacks: 1 no rule; ' out || fail "no cut stacks"
grep -A 1 '^ cpu flat' out | grep -q '0.006   66.7 .* lib.so+0x30 (lib.so)$' ||
    fail "lib.so+0x30 is not the first function"
plain "$sprofile" report --wall -n 1 a.sprof
grep -q '^wall flat' out || fail "not sorted by wall time"
grep -q '^(4 more functions' out || fail "more than one function"

# Everything else that is known.
plain "$sprofile" info a.sprof
expect_status 0
for line in 'triggers timer 4, kept 9' 'states   running 9, waiting 4' \
    'peeked   4 stacks of waiting threads, 1 unsure' \
    'skipped  3 points, merged into others' \
    'expired  1 wait of the library, at the deadline' \
    'missed   2 of 13 samples (153.8 of 1000): a rule was not known yet' \
    ' *0.009 *69.2  running' ' *0.004 *30.8  futex *thread 4711' \
    'handler  median 0.50 us, p99 0.50 us.*' '2 modules' '2 threads' \
    '  0000000000400000-0000000000500000  abcdef01 *  /opt/app' \
    ' *4712 *5 *0.001 *0.005  worker' 'end      not seen.*'; do
    grep -qx "$line" out || fail "info lacks: $line"
done

# Of a pprof file nothing is claimed that it does not have.
plain "$sprofile" convert a.sprof a.pb.gz
plain "$sprofile" info a.pb.gz
expect_status 0
grep -q '^source   pprof' out || fail "not said to be pprof: $(cat out)"
grep -qx 'states   running 9, waiting 4' out || fail "other states: $(cat out)"
! grep -E '^(end|triggers|handler|rules) ' out || fail "claims of a pprof file"

# Folded stacks, exactly.
plain "$sprofile" convert --wall a.sprof a.folded
expect_status 0
cat >expected.folded <<END
[truncated];lib.so+0x30 1
app+0x10;app+0x20 3
app+0x10;app+0x20;lib.so+0x30 5
app+0x10;lib.so+0x40;[waiting] 4
END
cmp -s a.folded expected.folded || fail "other stacks: $(cat a.folded)"

# Every ending; standard input; two inputs.
for ending in pb.gz folded collapsed json speedscope.json txt; do
    plain "$sprofile" convert --wall a.sprof "b.$ending"
    expect_status 0
    [ "$(stat -c %a "b.$ending")" = 600 ] || fail "b.$ending: mode is not 600"
done
cmp -s b.collapsed a.folded || fail "collapsed is not folded"
timeout "$deadline" "$sprofile" convert --wall - c.folded <a.sprof || fail "not from stdin"
cmp -s c.folded a.folded || fail "standard input gives another profile"
plain "$sprofile" convert --wall a.sprof a.sprof d.folded
[ "$(total d.folded)" = 26 ] || fail "two spools do not add up"

# A pprof file is an input like a spool, compressed or not.
plain "$sprofile" convert --wall b.pb.gz e.folded
cmp -s e.folded a.folded || fail "pprof gives other stacks: $(cat e.folded)"
gzip -dc b.pb.gz | timeout "$deadline" "$sprofile" convert --wall - e.folded
cmp -s e.folded a.folded || fail "raw pprof gives other stacks"
plain "$sprofile" convert --wall b.pb.gz e.pb.gz
gzip -dc b.pb.gz >b.raw
gzip -dc e.pb.gz | cmp -s - b.raw || fail "pprof does not come back as it was"
for file in a.sprof b.pb.gz; do
    "$sprofile" report -n 0 "$file" 2>err | grep -v "^note: " >"$file.report"
done
cmp -s a.sprof.report b.pb.gz.report ||
    fail "other report: $(diff a.sprof.report b.pb.gz.report)"
plain "$sprofile" convert --wall a.sprof b.pb.gz d.folded
[ "$(total d.folded)" = 26 ] || fail "a spool and a pprof file do not add up"

# What is no spool, and what cannot be written.
expect_failure 'missing.sprof' report missing.sprof
echo "not a spool" >text
expect_failure 'text: neither a pprof file nor a spool (it looks like text)' info text
head -c 100 b.pb.gz >cut.pb.gz
expect_failure 'cut.pb.gz: not a usable pprof profile: .*end is missing' \
    report cut.pb.gz
expect_failure 'standard input: ' report - </dev/null
expect_failure 'nowhere/out.txt: ' convert a.sprof nowhere/out.txt
mkdir full.txt
expect_failure 'full.txt: ' convert a.sprof full.txt
! ls -A | grep -q tmp || fail "temporary files were left behind"
for command in report info; do
    plain sh -c "\"$sprofile\" $command a.sprof >/dev/full"
    expect_status 1
    grep -qE '^sprofile: standard output: (No space|not all)' err ||
        fail "$command: $(cat err)"
done

# Damage: reported, and what comes before is used. 4 KiB of a spool of a few
# stacks hold all of it, so the cut has to be in its last records.
size=$(stat -c %s a.sprof)
head -c $((size - 300)) a.sprof >cut.sprof
plain "$sprofile" report cut.sprof
expect_status 0
grep -q '^sprofile: .*cut.sprof: damaged at byte' err || fail "damage not told"
grep -q 'app+0x20' out || fail "what is valid is not shown"
head -c 64 a.sprof >header.sprof
expect_failure 'header.sprof: there is no valid record' report header.sprof
plain "$sprofile" report text a.sprof
expect_status 1
grep -q 'app+0x20' out || fail "the file that is one is not shown"

# A spool from any input, and of a part of one; times are where they were.
for input in a.sprof b.pb.gz; do
    plain "$sprofile" convert --wall $input f.sprof
    expect_status 0
    plain "$sprofile" convert --wall f.sprof f.folded
    cmp -s f.folded a.folded || fail "$input as a spool has other stacks"
done
expect_failure '--time: pprof files do not say' report --time 0-1 b.pb.gz
expect_failure '--time: pprof files do not say' report --time 0-1 f.sprof
timeout "$deadline" "$sprofile" convert --wall - f.sprof <a.sprof || fail "not from stdin"
for window in 0-1 0-0.003 0.003-; do
    plain "$sprofile" convert --wall --time $window a.sprof part.sprof
    plain "$sprofile" convert --wall part.sprof part.folded
    for whole in a.sprof f.sprof; do
        plain "$sprofile" convert --wall --time $window $whole other.folded
        cmp -s part.folded other.folded || fail "$window of $whole differs"
    done
done

# pprof's own reader. Go builds it once, and keeps it in the caller's cache.
pprof() {
    PPROF_TMPDIR=$tmp go tool pprof "$@" 2>err
}
if has go && pprof -raw b.pb.gz >raw; then
    grep -q 'cpu/nanoseconds\[dflt\]' raw || fail "pprof: cpu is not default"
    grep -q 'state:\[futex\]' raw || fail "pprof: no state"
    grep -q 'waits_on:\[thread 4711\]' raw || fail "pprof: no waits_on"
    grep -q '0x7f0000000030 M=2 lib.so+0x30' raw || fail "pprof: no location"
    pprof -top b.pb.gz >top || fail "pprof -top fails: $(cat err)"
    grep -q ' 6ms 66.67% .* lib.so+0x30$' top || fail "pprof -top: $(cat top)"
elif grep -q pprof err; then
    fail "go tool pprof refuses the profile: $(cat err)"
else
    lacks "go tool pprof" "not there"
fi

# Mistakes are reported in words that help.
# - a file that is no profile: what it is;
# - an unknown SPROF_ variable: one line, with the one that was meant, from the
#   first process of a tree alone;
# - options of perf and commands that do not exist: what exists instead;
# - `sprofile help COMMAND`, and - as an output;
# - status 1 where something that was asked for is missing;
# - a pipe is read like a file.
section "mistakes"

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
grep -qx 'sprofile: no sample is left by --thread nobody' err || fail "$(cat err)"
plain "$sprofile" convert --state nowhere a.sprof m.folded
expect_status 1
[ -e m.folded ] || fail "an empty profile is none"
for options in "" --json; do
    plain "$sprofile" report $options --by label:nobody a.sprof
    expect_status 1
    [ ! -s out ] || fail "a table of a label that nothing has: $(cat out)"
    [ "$(wc -l <err)" -eq 1 ] &&
        grep -q '^sprofile: --by label:nobody: no sample has' err ||
        fail "a label that nothing has: $(cat err)"
done

echo "-- pipes"
"$sprofile" info a.sprof >expected
"$sprofile" info <(cat a.sprof) 2>&1 | cmp - expected || fail "info of a pipe"
"$sprofile" report a.pb.gz >expected
"$sprofile" report <(cat a.pb.gz) 2>&1 | cmp - expected ||
    fail "report of a pipe"
cat a.pb.gz | "$sprofile" report /dev/stdin 2>&1 | cmp - expected ||
    fail "report of /dev/stdin"
for ending in folded json sprof; do
    "$sprofile" convert <(cat a.sprof) d.$ending 2>err || fail "$(cat err)"
done
"$sprofile" convert d.sprof d2.folded
cmp d.folded b.folded && cmp d2.folded b.folded || fail "convert of a pipe"
"$sprofile" merge -o m.folded a.pb.gz <(cat a.sprof) || fail "merge of a pipe"
expect_samples $(($(total b.folded) * 2)) m.folded
"$sprofile" diff <(cat a.sprof) <(cat a.pb.gz) >out || fail "diff of pipes"
plain "$sprofile" report <(echo text)
expect_status 1
grep -q '^sprofile: /.*: neither a pprof file .*like text' err ||
    fail "a pipe of text: $(cat err)"

finish
