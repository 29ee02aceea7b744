#!/bin/bash
# SPDX-License-Identifier: MIT
#
# libsprof.so needs libc alone: whatever else it brought along would stand in
# front of the program's own libraries. libsprof-report.so, which is run at the
# end of each process, loads nothing else either where it was linked to archives,
# and never anything for terminals.
. "$(dirname "$0")/lib.sh"

library=$build/libsprof.so
[ -e "$library" ] || { complain "$library: not built"; finish; }
for needed in $(readelf -d "$library" |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $needed in
    libc.so.6 | ld-linux-*) ;;
    *) complain "libsprof.so needs $needed, only libc.so.6 is allowed: move" \
        "what uses it to the report side" ;;
    esac
done
report=$(readelf -d "$build/libsprof-report.so" | grep '(NEEDED)')
if grep -q 'curses\|libtinfo' <<<"$report"; then
    complain "libsprof-report.so needs the terminal library: move what uses" \
        "it to src/cli"
fi
if ! grep -q libdw <<<"$report" && grep -qv 'libc\.so' <<<"$report"; then
    complain "libsprof-report.so has libdw in it, and needs" "$report:" \
        "add its archive to report_archives"
fi
if readelf -d "$library" | grep -q '(TEXTREL)\|(RPATH)\|(RUNPATH)'; then
    complain "libsprof.so has text relocations or a search path: compile by" \
        "-fPIC, link without -rpath"
fi
finish
