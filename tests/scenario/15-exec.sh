#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a chain of images under one pid, each replaced while it is sampled at a high
#   rate, reaches its end;
# - the last image has the plain name, the others .exec1, .exec2, ...
. "$(dirname "$0")/lib.sh"

profile SPROF_FREQUENCY=5000 "$work/exec_chain" 10 40
expect_ok
expect_share 95 'image_work;work_burn' p.folded ';main|;companion'
count=$(find . -name 'p*exec[0-9]*folded' | wc -l)
[ "$count" -eq 10 ] || {
    fail "$count earlier images have a profile, expected 10"
    ls
}
rm -f p*

for round in 1 2 3 4 5; do
    profile SPROF_FREQUENCY=20000 "$work/exec_chain" 30 2
    expect_ok
    [ "$failures" -eq 0 ] || { echo "in round $round"; break; }
done

finish
