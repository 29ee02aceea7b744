#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: processes outlive the command that `sprofile record` ran.
# They end, replace themselves, and start others while the profile is made.
# - the profile is there, in each format, and has the command's own part;
# - nothing is complained of, neither by the recorder nor by the processes that
#   go on;
# - no spool and no directory is left;
# - the processes that live are named, and no others;
# - a profile that could not be written is a failure of the recorder.
. "$(dirname "$0")/lib.sh"

# A name of its own: others may run the same program now.
cp "$work/known_stack.o2" known
cat >family.sh <<'END'
known=$1
for i in 1 2 3; do
    { for k in 1 2 3 4; do "$known" $((30 * i + 21 * k)); done
      exec "$known" 150; } >/dev/null &
done
"$known" 300
END

for round in {1..6}; do
    for ending in sprof pb.gz; do
        plain "$sprofile" record -q -o "x.$ending" -- \
            bash family.sh "$tmp/known"
        expect_status 0
        # A process that goes on writes to the same file.
        for i in {1..1200}; do
            pgrep -f "^(bash family.sh )?$tmp/known" >/dev/null || break
            sleep 0.05
        done
        ! grep -v 'of its processes still run' err ||
            fail "$ending: messages: $(head -n 3 err)"
        ! ls -d sprof.record.* 2>/dev/null || fail "$ending: spools are left"
        plain "$sprofile" convert "x.$ending" q.folded
        expect_status 0
        grep 'main;through_pointer;pointed_to' q.folded >known.folded
        [ "$(total known.folded)" -ge 10 ] ||
            fail "$ending: the command has $(total known.folded) samples"
        rm -f x.* q.folded
        [ "$failures" -eq 0 ] || { echo "in round $round"; finish; }
    done
done

# The recorder ends when the process has looked at its directory and is about to
# make its spool there.
if has strace; then
    folder=$tmp/sprof.record.123456
    mkdir "$folder"
    plain strace -f -qq -o trace -P "$folder/x.sprof" \
        -e inject=openat:delay_enter=5000000 env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$folder/x.sprof" "$work/known_stack.o2" 100 &
    for i in {1..1200}; do
        grep -q 'O_CREAT' trace 2>/dev/null && break
        sleep 0.05
    done
    grep -q 'O_CREAT' trace || fail "no spool is made: $(cat trace)"
    mv "$folder" over
    wait $!
    [ ! -s err ] || fail "the recorder has ended: $(cat err)"
    rm -rf over
fi

# The processes that live are named; a pid of another PID namespace means no
# process here.
plain "$sprofile" record -q -o x.sprof -- \
    sh -c '"$1" 200000 >/dev/null 2>&1 & echo $! >pid
        until awk "{ exit !(\$14 >= 10) }" /proc/$!/stat; do sleep 0.05; done
        ' sh "$tmp/known"
expect_status 0
kill -9 "$(cat pid)"
grep -q ' 1 of its processes still run' err || fail "nobody lives: $(cat err)"
if unshare -Urpf true 2>/dev/null; then
    plain "$sprofile" record -q -o x.sprof -- \
        unshare -Urpf "$work/exits" exit 100
    expect_status 21
    ! grep 'still run' err || fail "they have ended"
fi
rm -f x.sprof

mkdir gone
plain "$sprofile" record -q -o gone/x.sprof -- \
    sh -c '"$1" 100; mv gone elsewhere' sh "$work/known_stack.o2"
expect_status 1
grep -q '^sprofile record: .*gone/' err || fail "no message: $(cat err)"
rm -rf elsewhere
finish
