#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the files of a program are gone when its profile is made.
# - an executable and a library that were deleted or replaced after they had
#   been loaded are read while the process lives: their functions have names;
# - who may not read a library that way (no CAP_SYS_ADMIN) has those of the
#   executable;
# - later, the new file is not taken for the old one: the report says so.
. "$(dirname "$0")/lib.sh"

# profile_while COMMAND...: run one when the workload has loaded its files.
profile_while() {
    cp "$work/chosen_library" victim
    cp "$work/plugin.so" library.so
    rm -f loaded p.folded p.sprof
    { for i in {1..200}; do [ -e loaded ] || sleep 0.05; done
      [ -e loaded ] && "$@"; } &
    profile SPROF_KEEP_SPOOL=1 "${run_by[@]}" ./victim 700 "$PWD/library.so" \
        "$PWD/loaded"
    wait $!
    expect_ok
}
replace() {
    cp "$work/known_stack.o0" new
    mv new victim
    cp "$build/libsprof-report.so" new
    mv new library.so
}
run_by=()

if [ "$(id -u)" -eq 0 ]; then
    for way in "rm victim library.so" replace "mv library.so moved.so"; do
        echo "-- $way"
        profile_while $way
        expect_share 95 ';main;compute;plugin_compute[ ;]' p.folded ';main'
    done
    profile_while replace
    plain "$sprofile" report p.sprof
    expect_status 0
    grep -q '^note: .*/library.so is not the file that was profiled' out ||
        fail "no note on the library: $(cat out)"
    grep -Eq 'library.so\+0x[0-9a-f]+ ' out || fail "no bare address"
    # Without the capability, which the file system is not asked about.
    has setpriv && run_by=(setpriv --bounding-set=-all --inh-caps=-all)
fi

profile_while rm victim library.so
expect_share 95 ';main;compute;library.so\+0x' p.folded ';main'
finish
