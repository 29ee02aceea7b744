#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: libsprof-report.so is missing, or has an odd mode. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# Libsprof.so without its other half.
# - the spool is kept, one line says so, and sprofile reads it;
# - SPROF_SYMBOLIZE=off asks for just that, without a complaint.
section "missing"

mkdir alone
cp "$library" alone/
library=$tmp/alone/libsprof.so
profile "$work/known_stack.o2" 1000
expect_status 0
grep -qx ok out || fail "the program did not run"
expect_note libsprof-report.so .sprof
! [ -e p.folded ] || fail "a profile came from nowhere"
spool=$(ls ./*.sprof) || fail "no spool was kept"
plain "$sprofile" convert "$spool" q.folded
expect_status 0
expect_share 99 'main;through_pointer;pointed_to' q.folded
rm -f ./*.sprof

library=$build/libsprof.so
profile SPROF_SYMBOLIZE=off "$work/known_stack.o2" 300
expect_status 0
! grep '^sprof:' err || fail "the profiler complained"
! [ -e p.folded ] || fail "SPROF_SYMBOLIZE=off wrote a profile"
plain "$sprofile" report ./*.sprof
expect_status 0
grep -q work_burn out || fail "the report lacks work_burn"

# Libsprof-report.so is run whatever its mode. Tools that make packages take the
# execute permission from libraries.
# - a library that may not be executed writes the profile all the same;
# - so do an exec, a fork and `sprofile stacks` by signal;
# - a library that may not be read is one line that says so.
section "its mode"

mkdir moved
cp "$library" "$build/libsprof-report.so" moved/
library=$tmp/moved/libsprof.so
report=$tmp/moved/libsprof-report.so

for mode in 0644 0444; do
    echo "-- $mode"
    chmod "$mode" "$report"
    profile "$work/known_stack.o2" 200
    expect_ok
    grep -q 'main;through_pointer;pointed_to' p.folded ||
        fail "other stacks: $(head -n 5 p.folded)"
    # Names come from the same files as otherwise.
    rm -f p.folded ./*.sprof
    profile SPROF_OUTPUT="$tmp/%p.folded" SPROF_KEEP_SPOOL=1 \
        "$work/known_stack.o2" 200
    for spool in ./*.sprof; do
        plain "$sprofile" convert "$spool" q.folded
        # Below libc, convert may know inlined functions besides.
        grep -o '^.*;pointed_to' "${spool%.sprof}.folded" | sort >with_mode
        grep -o '^.*;pointed_to' q.folded | sort >as_ever
        [ -s with_mode ] || fail "no stacks"
        cmp with_mode as_ever || fail "other stacks"
    done
    rm -f ./*.folded ./*.sprof
done

echo "-- stacks by signal"
chmod 0644 "$report"
LD_PRELOAD=$library SPROF_OUTPUT=$tmp/asleep.folded sleep 10000 2>stacks &
asleep=$! end=$((SECONDS + deadline))
# It answers as soon as it can be sent the signal.
until "$sprofile" stacks "$asleep" >answer 2>&1 || [ "$SECONDS" -ge "$end" ]; do
    sleep 0.05
done
kill -35 "$asleep"
until grep -q nanosleep stacks || [ "$SECONDS" -ge "$end" ]; do
    sleep 0.05
done
grep -q nanosleep stacks || fail "no stacks: $(cat stacks)"
kill "$asleep"
wait "$asleep" 2>/dev/null

if [ "$(id -u)" -eq 0 ] && has setpriv; then
    chmod 0755 "$tmp" moved
    chmod 0600 "$report"
    mkdir -m 0777 free
    plain setpriv --reuid 65534 --regid 65534 --clear-groups \
        env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/free/p.folded" \
        "$work/known_stack.o2" 200
    expect_status 0
    expect_note "Permission denied" libsprof-report.so
fi

finish
