#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: names of files: no result is replaced, and no process goes
# without. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# A profile has the name that a process would give its spool.
# - whatever made it (record, convert, merge, an output of the library, a spool
#   that was to stay), no later process takes, changes or removes it;
# - neither does one whose spool is replaced by it while the process runs;
# - the process has its own profile under the name that it was given;
# - two of them at one time have two profiles;
# - the spool of a killed process makes room, as does one that was to stay for
#   the next that is to stay;
# - a profile that was asked for under that very name is replaced when the new
#   one is whole, and not before;
# - `sprofile record` without -o replaces nothing.
section "results stay"

known=$work/known_stack.o2
mkdir d

# run [NAME=VALUE...]: a process with its profile in d/p.folded, unless that is
# said. It is long enough to have samples where others have the processors.
run() {
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/d/p.folded" "$@" \
        "$known" 500
    expect_ok
}
expect_names() {
    local is
    is=$(ls d)
    [ "$is" = "$(printf '%s\n' "$@" | sort)" ] ||
        fail "$what: files: $(echo $is), expected $*"
}
# start MILLISECONDS: a process in the background.
start() {
    SPROF_COST=off LD_PRELOAD=$library SPROF_OUTPUT=$tmp/d/p.folded \
        "$known" "$1" >/dev/null &
}
# sampled PID: until a spool in d has samples of it.
sampled() {
    local spool end=$((SECONDS + deadline))
    while [ "$SECONDS" -lt "$end" ]; do
        for spool in d/*.sprof; do
            "$sprofile" info "$spool" >info 2>/dev/null
            grep -q "^process  *$1 " info &&
                grep -q '^states .*running [1-9]' info && return
        done
        sleep 0.05
    done
    fail "$what: no samples of $1 within $deadline s: $(ls d)"
}
# beside_result NAME: what follows is NAME, with a result where a spool would be.
beside_result() {
    what=$1
    rm -f d/*
    cp one.sprof d/p.sprof
}
expect_kept() {
    cmp -s "$1" "$2" || fail "$what: $2 is not what it was"
}

plain "$sprofile" record -q -o one.sprof -- "$known" 100
expect_ok
plain "$sprofile" record -q -o two.sprof -- "$known" 100
expect_ok
plain "$sprofile" convert one.sprof converted.sprof
plain "$sprofile" merge -o merged.sprof one.sprof two.sprof
plain "$sprofile" convert one.sprof one.pb.gz
plain "$sprofile" convert one.pb.gz remade.sprof
# What versions without a purpose in the header wrote.
cp one.sprof older.sprof
printf '\0\0\0\0' | dd of=older.sprof bs=1 seek=60 conv=notrunc status=none
run SPROF_OUTPUT="$tmp/output.sprof"
run SPROF_OUTPUT="$tmp/kept.folded" SPROF_KEEP_SPOOL=1
run SPROF_OUTPUT="$tmp/off.folded" SPROF_SYMBOLIZE=off
run SPROF_OUTPUT="$tmp/off.sprof" SPROF_SYMBOLIZE=off

for what in one converted merged remade older output kept off; do
    echo "-- $what.sprof"
    rm -f d/*
    cp "$what.sprof" d/p.sprof
    run SPROF_INLINES=1
    expect_names p.folded p.sprof
    expect_kept "$what.sprof" d/p.sprof
    expect_samples 60 d/p.folded
done

echo "-- of a flight recorder"
for name in p.sprof p.past.sprof; do
    what=$name
    rm -f d/*
    cp one.sprof "d/$name"
    run SPROF_KEEP=60
    expect_names "$name"
    expect_kept one.sprof "d/$name"
done

echo "-- two at one time"
beside_result two
for name in 1 2; do
    start 500
done
wait
[ "$(find d -name 'p*.folded' | wc -l)" -eq 2 ] || fail "profiles: $(ls d)"
for name in d/*.folded; do
    expect_samples 300 "$name"
done
expect_kept one.sprof d/p.sprof

echo "-- spools that make room"
beside_result killed
for number in 1 2; do
    start 200000
    sampled $!
    kill -KILL $!
    wait $! 2>/dev/null
    expect_names p.sprof p.spool1.sprof
done
run SPROF_INLINES=1
expect_names p.folded p.sprof
expect_kept one.sprof d/p.sprof
what="to stay"
rm -f d/*
run SPROF_KEEP_SPOOL=1
cp d/p.sprof before.sprof
run SPROF_KEEP_SPOOL=1
expect_names p.folded p.sprof
! cmp -s before.sprof d/p.sprof || fail "an old spool was left"
cp one.sprof d/p.sprof
plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/d/p.folded" \
    SPROF_KEEP_SPOOL=1 "$known" 100
expect_note p.spool1.sprof
expect_names p.folded p.sprof p.spool1.sprof
expect_kept one.sprof d/p.sprof

echo "-- by that very name"
for setting in SPROF_SYMBOLIZE=exit SPROF_SYMBOLIZE=off; do
    beside_result "$setting"
    LD_PRELOAD=$library SPROF_OUTPUT=$tmp/d/p.sprof env "$setting" \
        "$known" 200000 >/dev/null &
    sampled $!
    kill -KILL $!
    wait $! 2>/dev/null
    expect_kept one.sprof d/p.sprof
    run SPROF_OUTPUT="$tmp/d/p.sprof" "$setting"
    expect_names p.sprof
    ! cmp -s one.sprof d/p.sprof || fail "$what: the profile is not replaced"
    plain "$sprofile" report d/p.sprof
    expect_status 0
done

echo "-- while the process runs"
for setting in SPROF_SYMBOLIZE=exit SPROF_SYMBOLIZE=off SPROF_KEEP=60; do
    what=$setting
    rm -f d/*
    LD_PRELOAD=$library SPROF_OUTPUT=$tmp/d/p.folded env "$setting" \
        "$known" 1000 >out 2>err &
    sampled $!
    cp one.sprof d/new
    mv d/new d/p.sprof
    wait $!
    grep -qx ok out || fail "the workload did not print ok"
    expect_kept one.sprof d/p.sprof
done

echo "-- record without -o"
mkdir r
cd r || exit 1
for _ in 1 2 3; do
    plain unshare --pid --fork --mount-proc "$sprofile" record -- \
        sh -c '"$1" 100' sh "$known"
done
if [ "$status" -eq 0 ]; then
    [ "$(find . -name '*.sprof' | wc -l)" -eq 3 ] || fail "recordings: $(ls)"
fi

# Processes with one pid, as containers have them, write into one directory.
# - each of those that live at one time has a profile: names with %p get .2, .3,
#   others .PID, .PID.2;
# - with %p in the name, no later process replaces a profile, or the spool of a
#   killed one; without it, the next run has the name again;
# - an image that was replaced unseen leaves its spool as .exec1.
section "processes with one pid"

unshare --pid --fork true 2>/dev/null || {
    lacks "one pid" "no right to PID namespaces"
    finish
}

# Processes that are number 1 in a PID namespace of their own, at one time.
start_three() {
    local i
    running=()
    rm -f go ready.*
    for i in 1 2 3; do
        timeout -k 5 "$deadline" unshare --pid --fork sh -c ': >"ready.$0"
            until [ -e go ]; do sleep 0.01; done
            exec env LD_PRELOAD="$1" SPROF_OUTPUT="$2" "$3" 1000' $i \
            "$library" "$tmp/d/$1" "$work/known_stack.o2" \
            >/dev/null 2>>err </dev/null &
        running+=($!)
    done
    until [ -e ready.1 ] && [ -e ready.2 ] && [ -e ready.3 ]; do
        kill -0 "${running[@]}" || break
        sleep 0.02
    done
    : >go
    wait "${running[@]}"
}

# expect_quiet_names NAME...: these files and no others are there.
expect_quiet_names() {
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
expect_quiet_names p.1.folded p.1.2.folded p.1.3.folded
for name in d/p.*; do
    expect_share 99 'main;through_pointer;pointed_to;with_arguments' "$name"
done

echo "-- later, with %p"
cp d/p.1.folded kept
start_three p.%p.folded
expect_quiet_names p.1.folded p.1.{2,3,4,5,6}.folded
cmp -s kept d/p.1.folded || fail "a profile was replaced"
rm -f d/p.*

echo "-- without %p"
start_three f.folded
expect_quiet_names f.folded f.1.folded f.1.2.folded
touch -d '1 hour ago' d/f.folded
timeout "$deadline" unshare --pid --fork env LD_PRELOAD="$library" \
    SPROF_OUTPUT="$tmp/d/f.folded" "$work/known_stack.o2" 100 >/dev/null 2>err
expect_quiet_names f.folded f.1.folded f.1.2.folded
[ -n "$(find d/f.folded -mmin -30)" ] || fail "the plain name was not used again"
rm -f d/f.*

echo "-- after a kill"
# The shell is the first process of the namespace, its child the second.
for name in k.2 k.2.2; do
    timeout "$deadline" unshare --pid --fork bash -c '
        env LD_PRELOAD="$1" SPROF_OUTPUT="$2" "$3" 200000 &
        until "$5" info "$4" | grep -q "^states .*running [1-9]"; do
            sleep 0.05
        done
        kill -KILL $!; wait' bash "$library" "$tmp/d/k.%p.folded" \
        "$work/known_stack.o2" "$tmp/d/$name.sprof" "$sprofile" \
        >/dev/null 2>/dev/null
done
expect_quiet_names k.2.sprof k.2.2.sprof
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
expect_quiet_names x.exec1.sprof x.folded

finish
