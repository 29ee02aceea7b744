#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: whole test suites of real programs (tests/suites) pass,
# fail and skip with the library what they do without. A few quick cases here,
# all of them with SPROF_TEST_FULL=1.
. "$(dirname "$0")/lib.sh"

full=()
[ -z "${SPROF_TEST_FULL:-}" ] || full=(--full)
exec env SPROF_BUILD="$build" bash "$here/../suites/run.sh" "${full[@]}"
