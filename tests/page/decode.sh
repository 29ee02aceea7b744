#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs decode.test.mjs by node's own test runner.
cd "$(dirname "$0")" || exit 1
command -v node >/dev/null || {
    echo "skipped: there is no node"
    exit 77
}
exec node --test decode.test.mjs
