#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs tests of the page by node's own test runner.
#
#   run.sh NAME [BROWSER]
#
# NAME.test.mjs is run. With BROWSER (chrome, firefox) it needs that browser and
# the npm packages of src/page, and is skipped with a line without them.
cd "$(dirname "$0")" || exit 1
build=${SPROF_BUILD:-../../build}
node=$build/npm/node_modules/node/bin/node
[ -x "$node" ] || node=$(command -v node) || {
    echo "skipped: there is no node"
    exit 77
}
major=$("$node" -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || {
    echo "skipped: node $major is older than 20"
    exit 77
}
if [ -n "${2:-}" ]; then
    reason=$("$node" -e 'import("./browser.mjs").then(({ missing }) =>
        console.log(missing(process.argv[1]) ?? ""))' "$2")
    [ -z "$reason" ] || {
        echo "skipped: $reason"
        exit 77
    }
    export BROWSER=$2
fi
exec "$node" --test "$1.test.mjs"
