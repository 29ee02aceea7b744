#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a server's workers become another user, and their
# messages go elsewhere.
# - `sprofile record` has all processes, and those that another user's program
#   begins, and says nothing wrong;
# - with LD_PRELOAD each worker has its profile, in a directory where its user
#   may write as in one where only the superuser may, and no spool is left;
# - a process that has changed its own user, and has no way to write, says in
#   one line how to make the profile.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "not the superuser"
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
finish
