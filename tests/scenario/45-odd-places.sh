#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: surroundings in which files and processes cannot be had.
# Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Surroundings in which files and processes cannot be had.
# - a program lowers its limits: with room up to the hard limit the profile is
#   written, and else one line says how to make it; its own limits stay;
# - a process that takes another root by a raw system call is recorded.
section "limits and roots"

has /usr/bin/python3 || skip "needs python3"

cat >lowers.py <<'END'
import os, resource, sys, time
def burn():
    until = time.process_time() + 0.15
    while time.process_time() < until:
        sum(range(1000))
name, soft, hard = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "hard"
number = getattr(resource, "RLIMIT_" + name)
burn()
low = (soft, soft if hard else resource.getrlimit(number)[1])
resource.setrlimit(number, low)
burn()
if len(sys.argv) > 4:
    os.execv("/bin/bash", ["bash", "-c", "ulimit -S" + sys.argv[4]])
print("ok", flush=True)
END

echo "-- limits"
for limit in 'NOFILE 3' 'NOFILE 0' 'STACK 65536' 'STACK 4096' 'DATA 0' 'AS 0' \
    'AS 100000000' 'FSIZE 100000'; do
    rm -f p.*
    profile SPROF_OUTPUT="$tmp/p.folded" /usr/bin/python3 -S lowers.py $limit soft
    expect_ok
    expect_samples 100 p.folded
    [ ! -e p.sprof ] || fail "$limit: the spool is left"
done
rm -f p.*
profile SPROF_OUTPUT="$tmp/p.folded" /usr/bin/python3 -S lowers.py NPROC 77 soft u
[ "$(cat out)" = 77 ] || fail "the limit of the program is another: $(cat out)"
for limit in 'NOFILE 0' 'DATA 0' 'AS 0' 'STACK 0'; do
    rm -f p.*
    profile SPROF_OUTPUT="$tmp/p.folded" /usr/bin/python3 -S lowers.py $limit hard
    expect_status 0
    grep -qx ok out || fail "$limit: the program did not print ok"
    expect_note "to make it: sprofile convert $tmp/p.sprof $tmp/p.folded"
    plain "$sprofile" $(sed -n 's/.*to make it: sprofile //p' err)
    expect_status 0
    expect_samples 100 p.folded
done

[ "$(id -u)" -eq 0 ] || { lacks "other users" "not the superuser"; finish; }
echo "-- another root"
mkdir jail
cat >leaves.py <<'END'
import ctypes, os
assert ctypes.CDLL(None).syscall(161, b"jail") == 0
os._exit(3)
END
plain "$sprofile" record -q -o r.folded /usr/bin/python3 -S leaves.py
expect_status 3
[ -s r.folded ] || fail "no profile: $(cat err)"

# A server's workers become another user, and their messages go elsewhere.
# - `sprofile record` has all processes, and those that another user's program
#   begins, and says nothing wrong;
# - with LD_PRELOAD each worker has its profile, in a directory where its user
#   may write as in one where only the superuser may, and no spool is left;
# - a process that has changed its own user, and has no way to write, says in
#   one line how to make the profile.
section "another user"

chmod 755 .
cp "$work/changes_user" "$work/known_stack.o2" "$library" .
cp "$build/libsprof-report.so" .
chmod 755 -- *
library=$tmp/libsprof.so
pids() {
    sed -n "s/^$1 //p" out
}
expect_quiet() {
    ! grep -H '^sprof:' err log || fail "messages"
}

echo "-- record"
for way in "./changes_user 2 65534 $tmp/log" "./changes_user 0"; do
    rm -f log
    : >log
    plain "$sprofile" record -q -o r.sprof -- $way
    expect_status 0
    expect_quiet
    "$sprofile" convert r.sprof r.folded
    expect_share 90 'main;become_worker;work_burn' r.folded
    count=$(pids worker | grep -c .)
    expect_samples $((count == 0 ? 250 : count * 250)) r.folded
    [ "$(ls -d sprof.record.* 2>/dev/null | wc -l)" -eq 0 ] ||
        fail "spools are left"
    rm -f r.*
done
if has setpriv; then
    plain "$sprofile" record -q -o r.sprof -- \
        setpriv --reuid=65534 --clear-groups ./known_stack.o2 300
    expect_ok
    "$sprofile" convert r.sprof r.folded
    expect_share 90 'main;through_pointer;pointed_to' r.folded
fi

for mode in 1777 755; do
    for name in p.%p.folded p.folded; do
        echo "-- workers, directory $mode, $name"
        rm -rf p log
        mkdir -m "$mode" p
        : >log
        profile SPROF_OUTPUT="$tmp/p/$name" ./changes_user 3 65534 "$tmp/log"
        expect_status 0
        grep -qx ok out || fail "the workload did not print ok"
        expect_quiet
        # The first that is sampled has the plain name.
        count=0
        for file in p/*.folded; do
            grep -q become_worker "$file" || continue
            count=$((count + 1))
            expect_share 90 'main;become_worker;work_burn' "$file"
            expect_samples 200 "$file"
        done
        [ "$count" -eq 3 ] || fail "$count profiles of workers: $(ls p)"
        ! ls p/*.sprof 2>/dev/null || fail "spools are left"
    done
done

echo "-- alone"
rm -rf p
mkdir -m 1777 p
profile SPROF_OUTPUT="$tmp/p/p.folded" ./changes_user 0
expect_ok
expect_share 90 'main;become_worker;work_burn' p/p.folded
! ls p/*.sprof 2>/dev/null || fail "spools are left"
rm -rf p
mkdir -m 755 p
profile SPROF_OUTPUT="$tmp/p/p.folded" ./changes_user 0
expect_status 0
expect_note "sprofile convert $tmp/p/p.sprof $tmp/p/p.folded"
words=$(sed -n 's/.*to make it: sprofile //p' err)
plain "$sprofile" $words
expect_status 0
expect_share 90 'main;become_worker;work_burn' p/p.folded
expect_samples 200 p/p.folded

echo "-- alone, two outputs, names with blanks"
rm -rf p
mkdir -m 755 p "p/it's mine"
profile SPROF_OUTPUT="$tmp/p/it's mine/p q.folded,$tmp/p/q.txt" \
    ./changes_user 0
expect_status 0
words=$(sed -n 's/.*to make it: //p' err)
(PATH=$build:$PATH && eval "$words") || fail "the command fails: $words"
expect_share 90 'main;become_worker;work_burn' "p/it's mine/p q.folded"
[ -s p/q.txt ] || fail "the second output is missing: $words"

# A program with a segment of notes that is nowhere in memory, as strip leaves it,
# runs as ever, and has a profile.
section "notes that are nowhere"

strip -R .note.gnu.build-id -o stripped "$work/no_size.fixed"
readelf -lW stripped | grep -q '^ *NOTE .* 0x0000000000000000 ' ||
    echo "this strip leaves no such segment"
plain ./stripped 100
before=$status
profile ./stripped 100
expect_status "$before"

# Without /proc:
# - the program runs as ever, and one line says what is missing;
# - `record` says so, too, and does not run it.
section "no /proc"

unshare -m sh -c 'umount -l /proc' 2>/dev/null || {
    lacks "no /proc" "it cannot be unmounted"
    finish
}
# without_proc COMMAND...
without_proc() {
    plain unshare -m sh -c 'umount -l /proc; exec "$@"' - "$@"
}
for way in known_stack.o2 thread_exit_last fork_children; do
    rm -f p.*
    without_proc "$work/$way"
    mv out out.plain
    before=$status
    without_proc env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
        "$work/$way"
    expect_status "$before"
    cmp -s out out.plain || fail "$way: other output"
    # env, and what it executes.
    [ "$(grep -c '^sprof: /proc/self/maps: .*expected /proc' err)" -ge 1 ] ||
        fail "$way: no line about /proc: $(cat err)"
    ! grep -v '^sprof: /proc/self/maps: ' err || fail "$way: another message"
done
without_proc "$sprofile" record -o r2.folded /bin/true
expect_status 1
[ "$(wc -l <err)" -eq 1 ] && grep -q '^sprofile record: /proc/self/exe: ' err ||
    fail "record: $(cat err)"

finish
