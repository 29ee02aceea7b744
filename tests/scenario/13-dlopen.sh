#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - code that is loaded and unloaded while it is sampled does no harm, and what
#   was sampled in it has its name and its way to the root;
# - a library that comes to lie where code without a file was sampled has names.
. "$(dirname "$0")/lib.sh"

profile SPROF_FREQUENCY=5000 "$work/dlopen_loop" 3000 3
expect_ok
expect_stacks 95 ';loader'
expect_share 50 'load_and_compute;plugin_compute' p.folded ';loader'
expect_roots 98 p.folded

profile "$work/late_library" 500
expect_ok
expect_share 40 'main;compute_for;plugin_compute' p.folded ';compute_for'

finish
