#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: counts are true, up to the limits of size and time. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# No sample disappears.
# - asked = taken + lost, in quiet and in hard cases;
# - the samples of a thread that computes are as many as the rate asks for.
section "asked, taken and lost"

# adds_up: the last program's spool.
adds_up() {
    local spool
    spool=$(ls ./*.sprof) || { fail "no spool"; return; }
    expect_sum "$spool"
    rm -f ./*.sprof
}

profile SPROF_COST=off SPROF_KEEP_SPOOL=1 "$work/known_stack.o2" 600
expect_ok
count=$(total p.folded)
[ "$count" -ge 540 ] || fail "$count samples of 0.6 s at 1,000 Hz"
adds_up

for program in "short_threads 400" "masked_signals 400" "sleepers 400" \
    "exits _exit 300" "deep_recursion 100000 300"; do
    echo "-- $program"
    # shellcheck disable=SC2086
    profile SPROF_KEEP_SPOOL=1 SPROF_COST=off SPROF_FREQUENCY=5000 "$work/"$program
    adds_up
done

# CPU time is where it was used, and as much as was used.
# - a system call that runs for many sample points has its share, with each
#   trigger that waits until it returns;
# - threads that end while they have no CPU count once;
# - threads have all their time, in whatever way they or the process end.
section "times that the program knows"

# On a busy machine the scheduler ends slices at ticks, and timers expire at
# ticks: they may find hardly anything but calls.
for bytes in 400000 4000000 40000000; do
    for trigger in auto timer; do
        rm -f p.*
        profile SPROF_COST=off SPROF_TRIGGER=$trigger \
            SPROF_OUTPUT="$tmp/p.folded" "$work/known_cpu" calls $bytes
        expect_ok
        awk -v truth="$(sed -n 's/^truth: //p' out)" \
            -v is_timer=$([ $trigger = timer ] && echo 1 || echo 0) '
            /;call_part/ { calls += $NF }
            /;(call|user)_part/ { all += $NF }
            END { shown = all ? 100 * calls / all : 0
                printf "truth %.1f %%, shown %.1f %%\n", truth, shown
                exit !(shown > truth - 12 && (is_timer || shown < truth + 12)) }' p.folded ||
            fail "calls of $bytes bytes, $trigger"
    done
done

for threads in 16 200; do
    for setting in SPROF_COST=off SPROF_COST=1 SPROF_TRIGGER=timer; do
        rm -f p.*
        profile SPROF_KEEP_SPOOL=1 $setting "$work/known_cpu" crowd $threads
        expect_ok
        used=$(sed -n 's/^cpu: //p' out)
        plain "$sprofile" info p.sprof
        expect_due out
        # The process has the sampler, and what threads do after they ended.
        awk -v used="$used" '
            /^totals/ { cpu = $2 }
            /^cost/ { sampler = $3 }
            END { printf "%.3f s and the sampler %.3f s, of %.3f s\n", cpu, sampler, used
                exit !(cpu + sampler < used * 1.01 + 0.02 && cpu + sampler > used * 0.9) }' out ||
            fail "$threads threads, $setting"
    done
done

for ending in return pthread_exit cancel raw exit _exit exit_group; do
    for setting in SPROF_COST=1 SPROF_TRIGGER=ask; do
        rm -f p.*
        profile SPROF_KEEP_SPOOL=1 $setting "$work/crowds" 100 $ending 4000
        expect_ok
        used=$(sed -n 's/^threads //p' out)
        plain "$sprofile" info p.sprof
        expect_due out
        awk -v used="$used" '
            /^totals/ { cpu = $2 }
            END { printf "%.3f s, the threads %.3f s\n", cpu, used / 1e9
                exit !(cpu > used / 1e9 * 0.999 - 0.001) }' out ||
            fail "100 threads, $ending, $setting"
    done
done

# The end of a process waits for the sampler, which needs a CPU. Threads that
# compute then stand still soon. A higher weight of the sampler would hide it.
ordinary=()
[ "$(id -u)" != 0 ] || ! has setpriv ||
    ordinary=(setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice)
for setting in SPROF_COST=off SPROF_TRIGGER=timer SPROF_TRIGGER=ask; do
    rm -f p.*
    profile SPROF_KEEP_SPOOL=1 $setting "${ordinary[@]}" "$work/crowds" 256 exit 3000
    expect_ok
    used=$(sed -n 's/^threads //p' out)
    plain "$sprofile" info p.sprof
    awk -v used="$used" '
        /^totals/ { cpu = $2 }
        END { printf "%.3f s to the end, %.3f s before\n", cpu, used / 1e9
            exit !(cpu < used / 1e9 * 4) }' out ||
        fail "256 threads compute on, $setting"
done

# The thread that ends the process never stands still, also if it is asked then.
begun=$SECONDS
profile SPROF_TRIGGER=ask "$work/idle_crowd" 2000
expect_ok
[ $((SECONDS - begun)) -lt 100 ] || fail "the end took $((SECONDS - begun)) s"

# Goals:
# - when the spool reaches SPROF_MAX_SIZE, sampling ends, the program runs on,
#   and what was sampled is in the profile;
# - SPROF_DURATION ends sampling as well.
section "limits of size and time"

# expect_full PROGRAM ARGUMENT...: it fills the spool, with one of the arguments:
# a loaded machine takes fewer samples of it.
expect_full() {
    local argument
    for argument in "${@:2}"; do
        rm -f p.*
        profile SPROF_MAX_SIZE=1M SPROF_KEEP_SPOOL=1 SPROF_COST=off \
            SPROF_FREQUENCY=20000 "$work/$1" "$argument"
        ! grep -q '^sprof:' err || break
    done
    expect_status 0
    expect_note 'reached SPROF_MAX_SIZE'
    grep -qx ok out || fail "the program did not run to its end"
    expect_samples 1000 p.folded
    size=$(stat -c %s p.sprof)
    [ "$size" -le 1048576 ] || fail "a spool of $size bytes, of 1 MiB"
    "$sprofile" info p.sprof >info
    # One takes 88 bytes at least.
    count=$(taken_of info)
    [ "$count" -ge 1 ] && [ "$count" -le 11916 ] ||
        fail "$count samples in 1 MiB?"
}

expect_full known_stack.o2 1500 6000 24000
expect_full chaos_malloc 1 4 16

# How much of that time a loaded machine lets it run is not known.
for ms in 1200 4800; do
    rm -f p.*
    profile SPROF_DURATION=0.3 "$work/known_stack.o2" $ms
    expect_ok
    count=$(cat p.folded 2>/dev/null | total)
    [ "$count" -eq 0 ] || [ "$count" -gt $((ms * 3 / 4)) ] || break
done
[ "$count" -ge 1 ] && [ "$count" -le $((ms * 3 / 4)) ] ||
    fail "$count samples in 0.3 s at 1,000 Hz"

finish
