# SPDX-License-Identifier: MIT
#
# tcl.sh -- the tests of Tcl: an interpreter with an event loop, processes,
# threads and files. A case is a file of tests.
suite_ready() {
    command -v tclsh >/dev/null || { echo "tclsh is not installed"; return 1; }
    [ ! -e "$sources/tcl8.6/unpacked" ] || return 0
    [ -n "$full" ] || { echo "the source of tcl8.6 is not here"; return 1; }
    get_source tcl8.6
}

suite_cases() {
    if [ -z "$1" ]; then
        printf '%s.test\n' event pid
        return
    fi
    (cd "$sources/tcl8.6/tests" && ls -- *.test) |
        grep -vxE 'http.*\.test|httpold\.test|all\.test'
}

suite_run() {
    local status=0
    under_deadline=600
    cp -r "$sources/tcl8.6/tests" tests
    under tclsh "tests/$1" -verbose 'pass skip error body' -tmpdir "$PWD" ||
        status=$?
    say_status "$1" "$status"
    sed -nE 's/^\+\+\+\+ ([^ ]+) (PASSED|SKIPPED).*/\1 \2/p
        s/^==== ([^ ]+) .*FAILED$/\1 FAILED/p' log
}
