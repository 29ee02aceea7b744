#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The page (src/page) has the types it says, passes its lint and its format, and
# dist/page.html is what its modules make. Skipped where there is no npm or
# its registry cannot be reached.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../packages.sh"

work=$build/page
install_page "$source" "$work"
[ -x "$work/node_modules/.bin/esbuild" ] ||
    skip "the npm packages of src/page cannot be had"
cd "$work" || exit 1
rm -rf src dist
(cd "$source/src/page" && tar -c --exclude=./node_modules --exclude=./dist .) |
    tar -x || complain "$work: cannot be written"

npx tsc -p . || complain "src/page: mend the types above"
npx eslint . || complain "src/page: mend what eslint names above"
npx prettier --check --log-level warn . || complain "src/page: format it by npx prettier --write (src/page/README.md)"
npx prettier --check --log-level warn --config .prettierrc.json \
    "$source/tests/page/*.mjs" || complain "tests/page: format it by npx prettier --write (src/page/README.md)"
npm run --silent build -- "$work/page.html" || complain "src/page: build"
cmp "$work/page.html" "$source/src/page/dist/page.html" ||
    complain "src/page/dist/page.html: is not what its modules make: copy $work/page.html there"
size=$(wc -c <"$work/page.html")
[ "$size" -le 63488 ] ||
    complain "src/page/dist/page.html: $size bytes are more than 62 KiB: make the modules smaller"
finish
