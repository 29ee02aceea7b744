#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: no stack has a frame of libsprof, in a program that forks,
# sends and handles signals, starts programs, makes threads, or calls the
# profiler; not in the spool, and in nothing that is made from it.
. "$(dirname "$0")/lib.sh"

# check PROGRAM ARGUMENT...: profiled often, because hooks are short.
check() {
    local name=${1##*/}
    echo "-- $name"
    rm -f ./*.sprof ./*.folded
    profile SPROF_FREQUENCY=10000 SPROF_SYMBOLIZE=off \
        SPROF_OUTPUT="$tmp/$name.%p.pb.gz" "$@"
    expect_status 0
    set -- "$name".*.sprof
    [ -e "$1" ] || { fail "$name left no spool"; return; }
    plain "$sprofile" merge -o all.sprof "$@"
    expect_status 0
    plain "$sprofile" report --by module -n 1000 all.sprof
    expect_status 0
    ! grep -F 'libsprof.so' out || fail "$name has frames of the library"
    plain "$sprofile" convert all.sprof all.folded
    expect_status 0
    ! grep -E ';(begin|lifecycle_[a-z]+|hook_[a-z_]+|handler_run)[; ]' \
        all.folded || fail "$name has functions of the library"
}

check bash -c 'for i in {1..300}; do ( : ); done'
check "$work/fork_children" 3 50
check "$work/short_threads" 300
check "$work/starts_and_stops" 200
check bash -c 'trap : USR1; for i in {1..2000}; do kill -USR1 $$; done'
check bash -c 'for i in {1..60}; do env true; done'
finish
