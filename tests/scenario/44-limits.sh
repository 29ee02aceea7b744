#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a program with little of something. Each section names its
# goals.
. "$(dirname "$0")/lib.sh"

# Limits on the memory of the program.
# - where it runs without the library it runs with it, and one line says why it
#   has no profile;
# - where the limit leaves room, it has one.
section "memory"

has prlimit || skip "prlimit is not installed"

# limited LIMIT COMMAND...: the same output and status under it.
limited() {
    local limit=$1 before
    shift
    plain prlimit "$limit" "$@"
    before=$status
    mv out out.plain
    rm -f p.*
    plain prlimit "$limit" env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/p.folded" "$@"
    [ "$status" -eq "$before" ] || fail "$limit: status $status, not $before"
    cmp out.plain out || fail "$limit: other output"
}

for kib in 400 700 1000 2000 4000 5000 100000; do
    limited --data=$((kib << 10)) seq 1000
    expect_status 0
    expect_note RLIMIT_DATA 'not profiling'
    ! ls p.* 2>/dev/null || fail "$kib KiB: a file was written"
done
for limit in data as; do
    limited --$limit=$((512 << 20)) "$work/exits" exit 100
    expect_status 21
    ! grep '^sprof' err || fail "the profiler complained"
    expect_samples 20 p.folded
    limited --$limit=$((512 << 20)) "$work/fork_cases" many 20
    limited --$limit=$((512 << 20)) "$work/thread_cases" brief 20
done

# A process that has little of something, or gives it up, ends as it would have;
# the profiler works, or says one line and stands aside.
# - limits of descriptors, memory, signals, file size, CPU time, stack;
# - a disk that is full or fills up: what was sampled is kept, never SIGBUS;
# - no /proc, no stderr, another root, directory, user, all descriptors closed;
# - filters of system calls that the program sets on itself.
section "resources"

ulimit -c 0

# has_profile WHAT
has_profile() {
    [ -s p.folded ] || fail "$*: no profile"
    ! grep -H '^sprof:' err || fail "$*: the profiler complained"
    rm -f p.*
}

# run LIMIT... -- COMMAND...: by prlimit, which is not profiled itself.
run() {
    local limits=()
    rm -f p.*
    while [ "$1" != -- ]; do
        limits+=("$1")
        shift
    done
    shift
    plain prlimit "${limits[@]}" env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/p.folded" "$@"
}

for files in 6 8 16; do
    run --nofile=$files -- "$work/exits" exit 100 3>&- 4>&- 5>&-
    expect_status 21
    has_profile "$files descriptors"
done

# The program's own memory comes first.
for mib in 32 64 200; do
    run --as=$((mib << 20)) -- "$work/exits" exit 100
    expect_status 21
    expect_note RLIMIT_AS
    ! ls p.* 2>/dev/null || fail "$mib MiB: a file was written"
done
run --as=$((2 << 30)) -- "$work/exits" exit 100
expect_status 21
has_profile 2 GiB

run --sigpending=0 -- "$work/exits" exit 100
expect_status 21
has_profile no pending signals
run --sigpending=0 -- SPROF_TRIGGER=timer "$work/exits" exit 100
expect_status 21
expect_note SPROF_TRIGGER=timer

# No SIGXFSZ.
for bytes in 100000; do
    run --fsize=$bytes -- "$work/exits" exit 100
    expect_status 21
    expect_note p.sprof 'too large'
done
# A loaded machine takes fewer samples of the same time.
for ms in 800 3200 12800; do
    run --fsize=300000 -- SPROF_COST=off SPROF_FREQUENCY=20000 "$work/exits" exit $ms
    ! grep -q '^sprof:' err || break
done
expect_status 21
expect_note 'reached RLIMIT_FSIZE'
expect_samples 1000 p.folded
# A limit that is gone when the line is written.
for ms in 500 2000 8000; do
    profile SPROF_COST=off SPROF_FREQUENCY=20000 "$work/restrict_itself" size_long $ms
    ! grep -q '^sprof:' err || break
done
expect_status 33
expect_note 'reached RLIMIT_FSIZE'

# SIGXCPU as without: the spool is left.
run --cpu=1:5 -- "$work/exits" exit 5000
expect_status 152
[ -s p.sprof ] || fail "RLIMIT_CPU: no spool"
run --stack=65536 -- "$work/exits" exit 100
expect_status 21

# Closed standard descriptors.
rm -f p.*
# shellcheck disable=SC2016
plain sh -c 'exec "$@" <&- >&- 2>&-' sh env LD_PRELOAD="$library" \
    SPROF_OUTPUT="$tmp/p.folded" SPROF_LOG=info "$work/exits" exit 100
expect_status 21
has_profile closed descriptors

# What the program gives up itself; names of modes that leave a profile.
for mode in chdir closefrom filter filter_all filter_threads strict; do
    expect_same "$work/restrict_itself" "$mode" 20
    expect_status 33
    has_profile "$mode"
done
# A filter that kills for all calls that are not the program's own.
for end in exit _exit by-number signal; do
    expect_same "$work/bare_filter" $end
    has_profile "bare filter, $end"
done
profile SPROF_LOG=info "$work/restrict_itself" filter
expect_status 33
grep -q '^sprof:.*seccomp.*the profile ends here' err ||
    fail "filter: nothing was said"
rm -f p.*

profile SPROF_COST=off SPROF_FREQUENCY=20000 "$work/restrict_itself" nofile 500
expect_status 33
expect_note 'Too many open files' p.sprof
plain "$sprofile" convert p.sprof q.folded
expect_samples 1000 q.folded
rm -f p.*

[ "$(id -u)" -eq 0 ] || finish

profile SPROF_COST=off SPROF_FREQUENCY=20000 "$work/restrict_itself" chroot 500
expect_status 33
expect_samples 6000 p.folded
has_profile chroot
rmdir empty
# Left before it has used any CPU time: the sampler has the root by then.
for _ in {1..6}; do
    plain "$sprofile" record -q -o q.folded "$work/restrict_itself" chroot 100 0
    expect_status 33
    expect_samples 60 q.folded
    rm -r empty q.folded
done
mkdir other
(cd other && for mode in chroot chdir; do
        plain env LD_PRELOAD="$library" SPROF_OUTPUT=relative.%p.folded \
            "$work/restrict_itself" $mode 50
        rm -rf empty
    done)
[ "$(ls other/relative.*.folded | wc -l)" -eq 2 ] ||
    fail "relative names: $(ls other)"
rm -rf other

# A file system that the program leaves can be unmounted.
mkdir left
if mount -t tmpfs none left 2>/dev/null; then
    status=0
    (cd left && exec env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/p.%p.folded" "$work/restrict_itself" umount 50 \
        >../out 2>../err) || status=$?
    expect_status 33
    [ "$(ls p.*.folded | wc -l)" -eq 2 ] || fail "umount: $(ls)"
    ! umount left 2>/dev/null || fail "umount: still mounted"
    rm -f p.*
fi

# The spool was created at the start and grows on; the profile cannot be made.
profile SPROF_COST=off SPROF_FREQUENCY=20000 "$work/restrict_itself" setuid 500
expect_status 33
expect_note p.sprof 'Permission denied'
plain "$sprofile" convert p.sprof q.folded
expect_samples 6000 q.folded
rm -f p.*

# Disks: full at the start, and while it runs.
mkdir disk
if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
    head -c 1000000 /dev/zero >disk/full
    profile SPROF_OUTPUT="$tmp/disk/p.folded" "$work/exits" exit 100
    expect_status 21
    expect_note 'No space left on device' 'not profiling'
    rm -f disk/*
    head -c 300000 /dev/zero >disk/part
    for ms in 800 3200 12800; do
        rm -f disk/p.*
        profile SPROF_OUTPUT="$tmp/disk/p.folded" SPROF_COST=off \
            SPROF_FREQUENCY=20000 "$work/exits" exit $ms
        ! grep -q '^sprof:' err || break
    done
    expect_status 21
    expect_note 'No space left on device' 'sampling ended early'
    expect_samples 1000 disk/p.folded
    mount -o remount,ro disk
    profile SPROF_OUTPUT="$tmp/disk/q.folded" "$work/exits" exit 100
    expect_status 21
    expect_note 'Read-only' 'not profiling'
    umount disk
fi

# No /proc, and nothing in /tmp but what is looked at here.
if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016
    plain unshare -m sh -c 'umount -l /proc; exec "$@"' sh env \
        LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" \
        "$work/exits" exit 300
    expect_status 21
    expect_note '/proc/self/maps' 'expected /proc to be mounted' 'not profiling'
    ! ls p.* 2>/dev/null || fail "no /proc: a file was written"
fi

# Calls that a container forbids.
for call in perf_event_open timer_create process_vm_readv unshare; do
    profile "$work/deny_call" "$call" "$work/exits" exit 100
    expect_status 21
    has_profile "$call denied"
done

# Calls that kill: of services and sandboxes.
for call in perf_event_open timer_create process_vm_readv wait4 prctl; do
    rm -f p.*
    profile "$work/deny_call" -k "$call" "$work/exits" exit 100
    expect_status 21
    expect_note 'seccomp' "$call" 'not profiling'
    ! ls p.* 2>/dev/null || fail "$call kills: a file was written"
done

finish
