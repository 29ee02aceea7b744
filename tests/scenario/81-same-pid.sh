#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: processes with one pid, as containers have them, write
# into one directory.
# - each of those that live at one time has a profile: names with %p get .2, .3,
#   others .PID, .PID.2;
# - with %p in the name, no later process replaces a profile, or the spool of a
#   killed one; without it, the next run has the name again;
# - an image that was replaced unseen leaves its spool as .exec1.
. "$(dirname "$0")/lib.sh"

unshare --pid --fork true 2>/dev/null || skip "no right to PID namespaces"

# Processes that are number 1 in a PID namespace of their own, at one time.
start_three() {
    local i
    running=()
    for i in 1 2 3; do
        timeout -k 5 "$deadline" unshare --pid --fork env \
            LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/d/$1" \
            "$work/known_stack.o2" 600 >/dev/null 2>>err </dev/null &
        running+=($!)
    done
    wait "${running[@]}"
}

# expect_names NAME...: these files and no others are there.
expect_names() {
    local is
    is=$(ls d)
    [ "$is" = "$(printf '%s\n' "$@" | sort)" ] ||
        fail "files: $(echo $is), expected $*"
    ! [ -s err ] || fail "messages: $(head -n 3 err)"
}

mkdir d
: >err
echo "-- at one time, with %p"
start_three p.%p.folded
expect_names p.1.folded p.1.2.folded p.1.3.folded
for name in d/p.*; do
    expect_share 99 'main;through_pointer;pointed_to;with_arguments' "$name"
done

echo "-- later, with %p"
cp d/p.1.folded kept
start_three p.%p.folded
expect_names p.1.folded p.1.{2,3,4,5,6}.folded
cmp -s kept d/p.1.folded || fail "a profile was replaced"
rm -f d/p.*

echo "-- without %p"
start_three f.folded
expect_names f.folded f.1.folded f.1.2.folded
touch -d '1 hour ago' d/f.folded
timeout 60 unshare --pid --fork env LD_PRELOAD="$library" \
    SPROF_OUTPUT="$tmp/d/f.folded" "$work/known_stack.o2" 100 >/dev/null 2>err
expect_names f.folded f.1.folded f.1.2.folded
[ -n "$(find d/f.folded -mmin -30)" ] || fail "the plain name was not used again"
rm -f d/f.*

echo "-- after a kill"
# The shell is the first process of the namespace, its child the second.
for name in k.2 k.2.2; do
    unshare --pid --fork bash -c 'env LD_PRELOAD="$1" SPROF_OUTPUT="$2" \
        "$3" 20000 & for i in {1..100}; do [ -s "$4" ] && break; sleep 0.05
        done; sleep 0.5; kill -KILL $!; wait' bash "$library" \
        "$tmp/d/k.%p.folded" "$work/known_stack.o2" "$tmp/d/$name.sprof" \
        >/dev/null 2>/dev/null
done
expect_names k.2.sprof k.2.2.sprof
for name in d/k.*; do
    plain "$sprofile" report "$name"
    expect_status 0
done
rm -f d/k.*

echo "-- an exec that is not seen"
# What is on its way kills the new image unless that ignores it.
profile SPROF_TRIGGER=ask SPROF_SIGNAL=SIGURG SPROF_OUTPUT="$tmp/d/x.folded" \
    "$work/exec_unseen"
expect_ok
expect_names x.exec1.sprof x.folded
finish
