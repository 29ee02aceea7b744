#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the checks that all scenarios share (lib.sh) can fail, and
# so can the lints.
# - each check fails on what it must not accept;
# - a scenario in which nothing was run is skipped, not passed;
# - each lint finds a fault that is put into a copy of the sources, and says what
#   to do.
. "$(dirname "$0")/lib.sh"

# must_fail CHECK...: it finds a fault.
must_fail() {
    local before=$failures
    "$@" >said
    if [ "$failures" -gt "$before" ]; then
        failures=$before
    else
        fail "found no fault: $*"
    fi
}

# The output of a workload that expects nothing, and of one whose stacks are
# not there.
printf 'main;work 7\nmain;other 3\n' >p.folded
echo ok >out
: >err
status=0
expect_ok
must_fail expect_stacks 99
must_fail expect_share 50 "$(expected)" p.folded
echo 'expect: main;nothing' >>out
must_fail expect_stacks 10
echo 'expect: main;work' >>out
expect_stacks 70
must_fail expect_stacks 71
must_fail expect_share 50 main p.folded nothing
must_fail expect_share 50 main nowhere.folded
must_fail expect_roots 99 p.folded
must_fail expect_samples 11 p.folded
must_fail expect_samples 1 nowhere.folded

status=3
must_fail expect_status 0
must_fail expect_ok
status=0
echo 'sprof: a word' >err
must_fail expect_ok
must_fail expect_note another
expect_note word
echo 'sprof: two words' >>err
must_fail expect_note word

printf 'due: 10 points in 1 s: 7 taken, 1 lost, 2 not asked: 2 merged\n' >due
expect_due due >/dev/null
printf 'due: 10 points in 1 s: 7 taken, 1 lost, 2 not asked: 1 merged\n' >due
must_fail expect_due due

# Programs that notice the library: by their output, messages and status.
# shellcheck disable=SC2016
for command in 'echo $LD_PRELOAD' 'echo $LD_PRELOAD >&2' \
    'exit ${LD_PRELOAD:+1}'; do
    must_fail expect_same sh -c "$command"
done
# A wait of the library that expired: this program leaves such a spool.
must_fail expect_same "$work/make_spool" "$tmp/same.1.sprof"
deadline=1
must_fail plain sleep 10

# ends_with STATUS LINE...: a scenario of these lines.
ends_with() {
    local expected=$1
    shift
    printf '%s\n' ". '$here/lib.sh'" "$@" finish >scenario
    SPROF_BUILD=$build bash scenario >said 2>&1
    status=$?
    [ "$status" -eq "$expected" ] || fail "status $status, expected $expected: $*"
}
ends_with 77
ends_with 77 'has no_such_program && plain true'
ends_with 0 'plain true' 'has no_such_program && plain true'
ends_with 0 'has no_such_program && plain true' 'has sh && plain true'
ends_with 1 'has no_such_program && plain true' 'fail "a fault"'

section "lints"

tar -C "$here/../.." --exclude=tests/fuzz --exclude=src/page -c README.md \
    include src docs tests | tar -x

# finds NAME FILE EXPRESSION WORDS: with the fault that sed's EXPRESSION makes in
# FILE, the lint NAME fails, and one line of it has WORDS.
finds() {
    cp "$2" kept
    sed -i "$3" "$2"
    ! cmp -s kept "$2" || fail "lint.$1: no fault was made in $2"
    SPROF_SOURCE=$PWD SPROF_BUILD=$build bash "tests/lint/check_$1.sh" >said 2>&1
    status=$?
    [ "$status" -eq 77 ] || [ "$status" -eq 1 ] ||
        fail "lint.$1: status $status with a fault in $2"
    [ "$status" -eq 77 ] || grep -qF -- "$4" said ||
        fail "lint.$1: says $(head -n 1 said)"
    cp kept "$2"
}
lists=tests/lint
finds agent_symbols $lists/check_agent_symbols.sh 's/|perror/|memcpy/' \
    'use base/note.h'
finds arch src/agent/api.c '$a static int REG_RAX;' 'a folder of its name'
finds commands docs/sprofile.md 's/--untimed`/--untamed`/' 'it lacks --untimed'
finds context src/capture/slot.h 's/Context: any\./Context: all./' \
    'a word of contexts.txt'
finds dialect src/agent/api.c 's/^    return \(.*\);/    return (\1);/' \
    'without parentheses'
finds docs docs/options.md '/^| .`SPROF_EXIT_MS/d' 'has no row for it: add it'
finds docs docs/man/libsprof.7 's/SPROF_EXIT_MS/SPROF_END/' 'has no paragraph'
finds docs docs/outputs.md 's/`\.otlp\.json`//' 'docs/outputs.md does not: add'
finds docs docs/STYLE.md '/^| `window`/d' 'add a row for window'
finds exports $lists/exports.txt '/^sigwait$/d' 'sigwait is exported: make it'
finds layers src/base/text.c 's/"text.h"/"store\/layout.h"/' 'a folder below'
finds memory $lists/check_memory.sh 's/192 << 10/1/' 'by sys_reserve'
finds prefix $lists/prefix_exceptions.txt '/cut_/d' 'rename it'
finds scenarios "tests/scenario/10-known-stack.sh" '$d' 'end by finish'
finds sizes src/agent/api.c 1d 'open it with the SPDX line'
finds state $lists/state_kept.txt '/^agent\/brief/d' 'mark it OF_PROFILE'
finds undefined $lists/undefined_allowed.txt '/^dlsym /d' 'define it in src/libc'
finds window $lists/window_allowed.txt '/^memcmp /d' 'calls memcmp'

finish
