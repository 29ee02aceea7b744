#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The sources are as clang-format 14 (Debian 12) leaves them. Other versions
# disagree with it about details, so this is skipped where it is another.
. "$(dirname "$0")/lib.sh"

command -v clang-format >/dev/null || skip "clang-format is not installed"
clang-format --version | grep -q 'version 14\.' ||
    skip "clang-format is not version 14"
mapfile -t files < <(c_sources src include tests examples)
# All at once: starting the program takes most of the time.
clang-format --style=file --dry-run -Werror "${files[@]}" >/dev/null 2>&1 &&
    finish
for path in "${files[@]}"; do
    clang-format --style=file --dry-run -Werror "$path" >/dev/null 2>&1 ||
        complain "${path#"$source"/}: not formatted (clang-format -i)"
done
finish
