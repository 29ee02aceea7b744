#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: only the user of the library gains anything from it.
# - files are the user's alone, whatever the umask; what others put at their
#   names is neither followed nor waited for;
# - of many processes that meet a dead one's spool, none loses its own;
# - names of files, threads and programs bring no control characters to a
#   terminal or into a line format, and the environment stays as it was given;
# - where the loader says "secure" (set-user-ID, capabilities), nothing happens;
# - no siginfo whatever makes the program fail.
. "$(dirname "$0")/lib.sh"

burn="$work/exits exit 60"
mkdir -m 755 files
out_path="$tmp/files/p.folded"

# expect_profiled: the program ran and its profile is there, alone, mode 600.
expect_profiled() {
    local file
    expect_status 21
    grep -qx ok out || fail "$1: the program did not run"
    ! [ -s err ] || fail "$1: messages: $(head -n 1 err)"
    for file in files/p*.folded; do
        [ -L "$file" ] && continue
        [ -f "$file" ] && [ "$(stat -c %a "$file")" = 600 ] ||
            fail "$1: $(ls -l "$file")"
    done
    expect_samples 10 "$(ls files/p*.folded | tail -n 1)"
}

for mask in 000 777; do
    (umask $mask && profile SPROF_OUTPUT="$out_path" SPROF_KEEP_SPOOL=1 $burn
        echo "$status" >"$tmp/status")
    status=$(cat status)
    expect_profiled "umask $mask"
    [ "$(stat -c %a files/p.sprof)" = 600 ] || fail "umask $mask: spool"
    rm -f files/*
done

# trap NAME COMMAND...: what COMMAND makes at NAME changes nothing.
trap_at() {
    local name=$1
    shift
    echo precious >files/victim
    chmod 644 files/victim
    (cd files && "$@" "$name")
    profile SPROF_OUTPUT="$out_path" $burn
    expect_profiled "$* $name"
    [ "$(cat files/victim)" = precious ] || fail "$* $name: was followed"
    [ "$(stat -c %a files/victim)" = 644 ] || fail "$* $name: mode changed"
    ! [ -e files/nowhere ] || fail "$* $name: a file was made elsewhere"
    rm -rf files/*
}
for name in p.folded p.sprof; do
    trap_at $name ln -s victim
    trap_at $name ln -s nowhere
    trap_at $name ln victim
    trap_at $name mkfifo
done
trap_at p.sprof mkdir

# A dead process's spool, and eight that find it at once.
{ env LD_PRELOAD="$library" SPROF_OUTPUT="$out_path" \
    "$work/exits" exit 60000 >/dev/null 2>&1 & } 2>/dev/null
dying=$!
for ((i = 0; i < 1200; i++)); do
    [ -s files/p.sprof ] && break
    sleep 0.05
done
kill -9 $dying
wait $dying 2>/dev/null
[ -s files/p.sprof ] || fail "no spool was left"
running=()
for ((i = 0; i < 8; i++)); do
    timeout "$deadline" env LD_PRELOAD="$library" SPROF_OUTPUT="$out_path" \
        "$work/exits" exit 1000 >/dev/null 2>>many &
    running+=($!)
done
wait "${running[@]}"
! [ -s many ] || fail "of many: $(head -n 1 many)"
[ "$(ls files/*.folded | wc -l)" -eq 8 ] ||
    fail "of many: $(ls files | tr '\n' ' ')"
! ls files/*.sprof 2>/dev/null || fail "spools were left"
rm -f files/*

# Names of threads, a title over the environment, a child after it. A name with
# the process's number: two processes write.
profile SPROF_OUTPUT="$tmp/files/t.%p.folded,$tmp/files/t.%p.txt" \
    SPROF_KEEP_SPOOL=1 "$work/odd_names" 200
expect_ok
[ "$(ls files/t.*.folded | wc -l)" -eq 2 ] ||
    fail "a child's files: $(ls files | tr '\n' ' ')"
for spool in files/t.*.sprof; do
    plain "$sprofile" info "$spool"
    expect_status 0
    cp out "$spool.txt"
done
! LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' files/*.txt \
    files/*.folded || fail "control characters in an output"
rm -f files/*

# A template with control characters, and one that is not a directory's.
profile SPROF_OUTPUT=$'/nowhere\n\e[31m\x7f%n%s/p.folded' $burn
expect_status 21
expect_note /nowhere
! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' err ||
    fail "control characters in a message"
profile SPROF_OUTPUT="$(printf '%03000d' 0).folded" $burn
expect_status 21
expect_note SPROF_OUTPUT

# A working directory that is gone: no guess where the file should be.
mkdir gone
(cd gone && rmdir "$tmp/gone" &&
    timeout "$deadline" env LD_PRELOAD="$library" SPROF_OUTPUT=sprof-gone.folded $burn \
        >"$tmp/out" 2>"$tmp/err" </dev/null
    echo $? >"$tmp/status")
status=$(cat status)
expect_status 21
expect_note SPROF_OUTPUT
! ls /sprof-gone* 2>/dev/null || fail "a file was written into /"

plain env -i A=b LD_PRELOAD="$library" SPROF_OUTPUT="$out_path" "$(command -v env)"
printf '%s\n' A=b LD_PRELOAD="$library" SPROF_OUTPUT="$out_path" | cmp -s - out ||
    fail "the environment: $(cat out)"

profile "$work/strange_signals" "${SPROF_TEST_FULL:+20}20000"
expect_ok

# Secure programs: linked with the library, for LD_PRELOAD is then ignored.
linked="$work/what_is_seen.linked"
as_other="setpriv --reuid=64321 --regid=64321 --clear-groups"
# fact NAME
fact() {
    sed -n "s/^$1 //p" out
}
secure() {
    plain $as_other env SPROF_OUTPUT="$tmp/open/p.folded" SPROF_LOG=debug \
        LD_PRELOAD="$library" ./linked
    expect_status 0
    [ "$(fact is_secure)" = 1 ] || { echo "$1: not secure here"; return; }
    [ "$(fact threads)" = 1 ] || fail "$1: a thread was started"
    [ "$(fact signals_caught)" = 0 ] || fail "$1: a handler was set"
    [ "$(fact descriptors)" = "$(plain "$work/what_is_seen" descriptors
        fact descriptors)" ] || fail "$1: something was opened"
    ! grep -H sprof: err || fail "$1: it spoke"
    [ -z "$(ls open)" ] || fail "$1: $(ls open)"
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 .
    mkdir -m 777 open
    cp "$linked" linked
    plain $as_other env SPROF_OUTPUT="$tmp/open/p.folded" ./linked
    expect_status 0
    [ "$(fact threads)" = 2 ] && [ -s open/p.folded ] ||
        fail "the linked library does not profile"
    rm -f open/*
    chmod 4755 linked
    secure "set-user-ID"
    chmod 755 linked
    if command -v setcap >/dev/null && setcap cap_net_raw+ep linked; then
        secure "capabilities"
    fi

    # Capabilities kept over a change of user, then a change of group.
    # A process that was root can no longer write there; no message says so.
    export SPROF_LOG=quiet
    expect_same $as_other id
    expect_same setpriv --reuid=65534 --regid=65534 --clear-groups \
        --inh-caps=-all --bounding-set=-all id
    expect_same SPROF_FORK=off "$work/late_sampler" 300
    unset SPROF_LOG

    # Another user's spool stands where ours should.
    chmod 1777 open
    echo theirs >open/p.sprof
    chmod 600 open/p.sprof
    plain $as_other env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/open/p.folded" $burn
    expect_status 21
    ! [ -s err ] || fail "another's spool: $(cat err)"
    [ "$(cat open/p.sprof)" = theirs ] || fail "another's spool was changed"
    ls open/p.[0-9]*.folded >/dev/null 2>&1 || fail "no profile beside it"
fi

finish
