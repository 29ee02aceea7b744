#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test:
# - a stack that passes through two signal frames reaches main, and the
#   interrupted function is named right although its pc is no return address.
. "$(dirname "$0")/lib.sh"

profile "$work/signal_handler_frames" 700
expect_ok
expect_stacks 98
expect_roots 99 p.folded

finish
