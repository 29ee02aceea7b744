#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: sampling begins when it pays.
# - a process that ends before has no file, waits for no thread, and makes few
#   system calls for us; that goes for all that use less than 5 ms of CPU time;
# - of a process that begins to be sampled nothing is missing: its CPU time is
#   that of its clock, and where it waited is known from the start;
# - in a recorded tree each process is there, with the CPU time that it used,
#   over an exec, too;
# - a process with one thread has one where that matters: it enters a user or a
#   time namespace, a sandbox that counts threads starts, and sampling goes on.
. "$(dirname "$0")/lib.sh"

echo "-- a process that is too short"
# On a busy machine one may live for 100 ms, and is sampled.
for attempt in {1..60}; do
    rm -f p.*
    profile true
    expect_status 0
    ! [ -s err ] || fail "it said something"
    ls p.* >/dev/null 2>&1 || break
done
! ls p.* || fail "a file of a process without a sample"
if has strace; then
    for attempt in {1..20}; do
        plain strace -f -c -o calls env LD_PRELOAD="$library" true
        calls=$(awk '$NF == "total" { print $4 }' calls)
        [ "$calls" -ge 320 ] || break
    done
    echo "   $calls system calls, of env, too"
    [ "$calls" -lt 320 ] || fail "$calls system calls"
fi

echo "-- waits"
rm -f p.*
took=$(now_ms)
profile SPROF_OUTPUT="$tmp/p.sprof" sleep 0.4
took=$(($(now_ms) - took))
wall=$("$sprofile" info p.sprof | sed -n 's/^totals.*, \([0-9.]*\) s wall.*/\1/p')
awk -v wall="$wall" -v took="$took" \
    'BEGIN { exit !(wall >= 0.4 && wall <= took / 1000) }' ||
    fail "wall time $wall s, not 0.4 s to $took ms"

echo "-- a tree of short processes"
rm -f p.*
plain "$sprofile" record -q -o p.sprof -- "$work/short_children" 20 /bin/true
expect_status 0
kernel=$(sed -n 's/^children \([0-9]*\) us/\1/p' out)
"$sprofile" report --by process -n 0 --csv p.sprof >rows
[ "$(grep -c '^short_children,' rows)" -eq 21 ] ||
    fail "$(grep -c '^short_children,' rows) of 21 processes without an exec"
[ "$(grep -c '^true,' rows)" -eq 20 ] ||
    fail "$(grep -c '^true,' rows) of 20 processes with one"
# The parent has used most of them, and is first.
ours=$(awk -F, 'NR > 2 { sum += $3 } END { printf "%d\n", sum / 1000 }' rows)
echo "   kernel $kernel us, in the profile $ours us"
# The kernel counts the end of each process, too, and our own thread.
[ "$ours" -ge $((kernel * 2 / 5)) ] || fail "CPU time is missing"
[ "$ours" -le $((kernel * 11 / 10)) ] || fail "CPU time counted twice"

# short COUNT [COMMAND...]: run COUNT processes, after COMMAND, each with a
# spool that stays.
short() {
    local count=$1
    shift
    for ((i = 0; i < count; i++)); do
        plain "$@" env LD_PRELOAD="$library" SPROF_KEEP_SPOOL=2 \
            SPROF_SYMBOLIZE=off SPROF_OUTPUT="$tmp/short/%p.%t.txt" true
        expect_status 0
    done
}

# in_brief COUNT: the same, into an empty folder, of processes that all were too
# short for a spool of their own. On a busy machine one may live for 100 ms.
in_brief() {
    for attempt in {1..60}; do
        rm -f short/*
        short "$1"
        [ "$(ls short)" != brief.sprof ] || return
    done
    fail "$1 short processes never had one file: $(ls short)"
}

# expect_short COUNT FILES: in that folder, which is emptied.
expect_short() {
    local all=(short/*.sprof) found
    found=$("$sprofile" report --by process -n 0 --csv "${all[@]}" |
        grep -c '^true,')
    [ "$found" -eq "$1" ] || fail "$found of $1 processes"
    [ "${#all[@]}" -eq "$2" ] || fail "${#all[@]} files, not $2: ${all[*]}"
    rm -f short/*.sprof
}

echo "-- one file for all of them"
mkdir short
in_brief 3
expect_short 3 1
echo "-- its lock is held"
in_brief 1
exec 7<short/brief.sprof
flock 7
short 3 7<&-
exec 7<&-
expect_short 4 4
echo "-- it may not grow"
# One that is sampled has no room for its spool, and is not reported.
for attempt in {1..60}; do
    in_brief 1
    short 2 prlimit --fsize=1000
    [ "$(ls short | wc -l)" -ne 3 ] || break
done
expect_short 3 3
short 1 prlimit --fsize=100
! ls short/*.sprof >/dev/null 2>&1 || [ ! -s short/brief.sprof ] ||
    fail "a part of a spool"
rm -f short/*

echo "-- 3 ms of CPU time"
# One that has lived for 100 ms is sampled: on a busy machine, some have.
unsampled=0 sampled_early=0 least=1000
for ((i = 0; i < 100 && unsampled < 8; i++)); do
    rm -f short/*
    took=$(now_ms)
    plain env LD_PRELOAD="$library" SPROF_KEEP_SPOOL=2 SPROF_SYMBOLIZE=off \
        SPROF_OUTPUT="$tmp/short/%p.%t.txt" "$work/short_life" 3
    took=$(($(now_ms) - took))
    expect_status 0
    if [ "$(ls short)" = brief.sprof ]; then
        unsampled=$((unsampled + 1))
        used=$("$sprofile" report --by process -n 0 --csv short/brief.sprof |
            awk -F, '/^short_life,/ { print int($3 / 1e6) }')
        [ "${used:-0}" -ge 3 ] || fail "it used ${used:-no} ms"
        [ "${used:-1000}" -ge "$least" ] || least=$used
    elif [ "$took" -lt 100 ]; then
        sampled_early=$((sampled_early + 1))
    fi
done
echo "   $unsampled without a spool, $sampled_early sampled before 100 ms"
[ "$unsampled" -gt "$sampled_early" ] || fail "$unsampled of $i had no spool"
[ "$least" -lt 10 ] || fail "each used $least ms or more"
rm -f short/*

if chrt -f 1 taskset -c 0 true 2>/dev/null; then
    # With a higher priority than the sampler's, the thread that ends the process
    # overtakes it as soon as it can begin.
    for priority in 1 2; do
        echo "-- no CPU for the sampler until the end, priority $priority"
        rm -f p.*
        profile SPROF_OUTPUT="$tmp/p.folded" \
            chrt -f 1 taskset -c 0 "$work/short_life" 60 $priority
        expect_status 0
        sum=$(cat p.folded | total)
        [ "$sum" -ge 50 ] || fail "$sum of 60 ms are in the profile"
    done
fi

echo "-- one thread"
for what in look look_at call user time; do
    for ms in 0 60; do
        if [ "$what" = time ] && [ "$(id -u)" -ne 0 ]; then
            continue
        fi
        plain "$work/closes_doors" "$what" "$ms"
        mv out out.plain
        rm -f p*.folded
        profile "$work/closes_doors" "$what" "$ms"
        expect_ok
        cmp -s out out.plain || fail "$what $ms: $(head -n 1 out), without" \
            "the library $(head -n 1 out.plain)"
        cat p*.folded >all.folded
        expect_share 70 'of_thread' all.folded 'of_thread|start_thread'
        sum=$(grep -E 'of_thread' all.folded | total)
        [ "$sum" -ge 100 ] || fail "$what $ms: $sum of 200 ms of the thread"
        sum=$(grep -E 'behind_doors|not sampled' all.folded | total)
        [ "$sum" -ge 75 ] || fail "$what $ms: $sum of 100 ms behind the doors"
    done
done

if has bwrap; then
    if plain bwrap --ro-bind / / --unshare-user true && [ "$status" -eq 0 ]
    then
        rates=1000 expect_same bwrap --bind / / --unshare-user id -u
    fi
fi
plain unshare -U id -u
if [ "$status" -eq 0 ]; then
    rates=1000 expect_same unshare -U id -u
    rates=1000 expect_same unshare -Ur id -u
fi

browser=/usr/lib/chromium/chromium
if [ -x "$browser" ] && [ "$(id -u)" -eq 0 ]; then
    echo "-- Chromium"
    echo '<p id="a">x</p><script>a.textContent = 6 * 7</script>' >page.html
    chmod 755 .
    mkdir -m 777 home
    as_other="setpriv --reuid=65534 --regid=65534 --clear-groups env"
    for sandbox in --no-sandbox --user-data-dir="$tmp/home/data"; do
        for start in 1 0; do
            profile SPROF_OUTPUT="$tmp/home/p.%p.sprof" SPROF_START=$start \
                $as_other HOME="$tmp/home" "$browser" --headless \
                --disable-gpu "$sandbox" --dump-dom "file://$tmp/page.html"
            expect_status 0
            grep -q '<p id="a">42</p>' out || fail "$sandbox: no page"
        done
    done
fi

finish
