#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a signal whose default action ends the process does so at
# once, though a thread waits for it (sigtimedwait, sigwait, sigwaitinfo,
# signalfd), if the main thread does not block it; and who waits gets it if all
# threads block it.
. "$(dirname "$0")/lib.sh"

count=12
[ -z "${SPROF_TEST_FULL:-}" ] || count=300 deadline=1000

# The end of a process takes long where its profile is written; that is another
# test's business.
for way in $("$work/waits_for_end"); do
    profile SPROF_SYMBOLIZE=off SPROF_OUTPUT="$tmp/%p.folded" \
        "$work/waits_for_end" "$way" "$count"
    grep -qx ok out || fail "$way: $(cat out)"
    expect_status 0
    rm -f ./*.folded.sprof
done

# Such an end writes the profile.
profile "$work/waits_for_end" signalfd 1
expect_status 0
compgen -G "$tmp/p*.folded" >/dev/null || fail 'no profile'

finish
