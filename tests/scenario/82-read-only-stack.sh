#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program that makes an alternate signal stack read-only,
# while signals come to it, goes on as without a profiler: nothing of ours comes
# to that stack. Its handlers' masks read as it set them, and samples go on.
. "$(dirname "$0")/lib.sh"

ulimit -c 0
for trigger in auto timer ask; do
    for way in thread process call closed open; do
        expect_same SPROF_TRIGGER="$trigger" "$work/read_only_stack" "$way"
        [ "$(cat out)" = ok ] || fail "$trigger, $way: $(cat out)"
        expect_samples 20 p.folded
    done
done

finish
