#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: code without unwind tables.
# - generated machine code in anonymous memory is crossed by its frame pointers,
#   from the inside and from a function that it called;
# - hand-written assembly with and without tables is crossed.
. "$(dirname "$0")/lib.sh"

profile "$work/generated_code" 700
expect_ok
expect_stacks 98
expect_roots 98 p.folded

profile "$work/hand_asm" 700
expect_ok
expect_stacks 98
expect_roots 98 p.folded

finish
