#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the sprofile command, on a spool with known contents.
# - wrong usage ends with 2, failure with 1, and both say why on stderr;
# - every command has --help, and -- ends options;
# - report, info and convert show what is in the spool, from files and from
#   standard input, of one spool and of several;
# - damage is told and what is valid is used;
# - go tool pprof takes the pprof file.
. "$(dirname "$0")/lib.sh"

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
grep -q '^samples  13 of 2 threads' out || fail "no samples"
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
timeout 20 "$sprofile" convert --wall - c.folded <a.sprof || fail "not from stdin"
cmp -s c.folded a.folded || fail "standard input gives another profile"
plain "$sprofile" convert --wall a.sprof a.sprof d.folded
[ "$(total d.folded)" = 26 ] || fail "two spools do not add up"

# A pprof file is an input like a spool, compressed or not.
plain "$sprofile" convert --wall b.pb.gz e.folded
cmp -s e.folded a.folded || fail "pprof gives other stacks: $(cat e.folded)"
gzip -dc b.pb.gz | timeout 20 "$sprofile" convert --wall - e.folded
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
plain sh -c "\"$sprofile\" report a.sprof >/dev/full"
expect_status 1

# Damage: told, and what comes before is used. 4 KiB of a spool of a few
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
expect_failure '--time: pprof files do not tell' report --time 0-1 b.pb.gz
expect_failure '--time: pprof files do not tell' report --time 0-1 f.sprof
timeout 20 "$sprofile" convert --wall - f.sprof <a.sprof || fail "not from stdin"
for window in 0-1 0-0.003 0.003-; do
    plain "$sprofile" convert --wall --time $window a.sprof part.sprof
    plain "$sprofile" convert --wall part.sprof part.folded
    for whole in a.sprof f.sprof; do
        plain "$sprofile" convert --wall --time $window $whole other.folded
        cmp -s part.folded other.folded || fail "$window of $whole differs"
    done
done

# pprof's own reader.
pprof() {
    PPROF_TMPDIR=$tmp go tool pprof "$@" 2>err
}
if ! command -v go >/dev/null || ! pprof -raw b.pb.gz >raw; then
    ! command -v go >/dev/null || ! grep -q pprof err ||
        fail "go tool pprof refuses the profile: $(cat err)"
    finish
fi
grep -q 'cpu/nanoseconds\[dflt\]' raw || fail "pprof: cpu is not default"
grep -q 'state:\[futex\]' raw || fail "pprof: no state"
grep -q 'waits_on:\[thread 4711\]' raw || fail "pprof: no waits_on"
grep -q '0x7f0000000030 M=2 lib.so+0x30' raw || fail "pprof: no location"
pprof -top b.pb.gz >top || fail "pprof -top fails: $(cat err)"
grep -q ' 6ms 66.67% .* lib.so+0x30$' top || fail "pprof -top: $(cat top)"

finish
