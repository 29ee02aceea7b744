#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the end of a process waits for its profile for 1 s, or as
# long as SPROF_EXIT_MS says. Then the spool stays, and a line has the command
# that makes the profile.
# - a writer that is slow, or stopped, at each way to end;
# - a sampler that never runs again;
# - a program that is recorded does not wait.
. "$(dirname "$0")/lib.sh"

# What another limit would take: the next larger one was 8 s.
short=5000

# report_is LINE...: a shell script in place of the report program.
report_is() {
    [ -d beside ] || mkdir beside
    rm -f beside/libsprof-report.so p.*
    cp "$build/libsprof.so" beside/
    printf '%s\n' '#!/bin/sh' "$@" >beside/libsprof-report.so
    chmod +x beside/libsprof-report.so
    library=$tmp/beside/libsprof.so
}

# ends_in MOST STATUS [NAME=VALUE...] COMMAND...: run it, and leave out what it
# does before its end, which it prints.
ends_in() {
    local most=$1 expected=$2
    shift 2
    took=$(now_ms)
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" "$@"
    took=$(($(now_ms) - took))
    echo "   $* took $took ms"
    expect_status "$expected"
    [ "$took" -lt "$most" ] || fail "the end took $took ms: $*"
}

# makes_profile FUNCTION: the command in the line makes a profile with it.
makes_profile() {
    local line
    expect_note 'sprofile convert' p.sprof
    line=$(sed -n 's/.*to make it: sprofile //p' err)
    eval "\"$sprofile\" $line" || fail "sprofile $line"
    grep -q "$1" p.folded || fail "sprofile $line: no $1"
}

section "a slow writer"
unset SPROF_EXIT_MS
report_is 'exec sleep 100'
for end in term:143 int:130 exit:21 return:26 _exit:22 handler:23; do
    rm -f p.*
    ends_in $short "${end#*:}" "$work/exits" "${end%:*}" 60
    expect_note 'SPROF_EXIT_MS=1000'
    makes_profile before_the_end
done

section "a stopped writer"
unset SPROF_EXIT_MS
report_is 'kill -STOP $$'
ends_in $short 143 "$work/exits" term 60
makes_profile before_the_end

section "as long as it is told"
report_is 'exec sleep 100'
ends_in 60000 21 SPROF_EXIT_MS=3000 "$work/exits" exit 60
[ "$took" -ge 3000 ] || fail "it waited for $took of 3000 ms"
expect_note 'SPROF_EXIT_MS=3000'
report_is 'sleep 2' 'echo ok'
ends_in 60000 143 SPROF_EXIT_MS=60000 "$work/exits" term 60
[ "$took" -ge 2000 ] || fail "it did not wait for the writer"
! [ -s err ] || fail "$(cat err)"
for value in 0 1.5 120001 1s; do
    plain env LD_PRELOAD="$library" SPROF_EXIT_MS=$value true
    expect_note "SPROF_EXIT_MS=$value" 'integer from 1 to 120000'
done

section "a sampler that never runs again"
unset SPROF_EXIT_MS
ends_in $short 21 "$work/stuck_sampler"
if grep -q '^ok' out; then
    expect_note 'sampler thread did not stop' p.sprof
fi

section "a recorded program"
unset SPROF_EXIT_MS
report_is "touch '$tmp/written'" 'exec sleep 100'
cp "$sprofile" beside/
plain beside/sprofile record -q -o p.folded -- "$work/exits" term 60
expect_status 143
! [ -e written ] || fail "the program itself wrote a profile"
grep -q before_the_end p.folded || fail "no profile"

finish
