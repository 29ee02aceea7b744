#!/bin/bash
# SPDX-License-Identifier: MIT
#
# init.sh -- the first program of the emulated machine (run.sh). It runs units
# and scenarios, and measures what an emulator can show: counts and shares. It
# says "ok NAME" or "FAIL NAME" of each, sends files to run.sh, and turns the
# machine off. The kernel's command line has set=WORD,...:
#
#   brief    what depends on the processor
#   short    all that differs from x86-64
#   long     more of it
#   clocked  what compares times, and needs a clock that is in step
#   truth    the shares of a profile beside the truth
#   newer    a newer kernel, and other interpreters
#   pages    what depends on the size of pages and of addresses
#   tags     memory with tags
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C
# An emulator takes long to write a profile.
export SPROF_EXIT_MS=120000
mkdir -p /proc /sys /dev /tmp /root /run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts pts /dev/pts
for place in /tmp /dev/shm; do
    mount -t tmpfs tmp $place
done
ln -sfn /proc/self/fd /dev/fd
[ -e /bin/sh ] || ln -s bash /bin/sh
[ -e /usr/bin/awk ] || ln -s gawk /usr/bin/awk
[ -e /usr/bin/lzip ] || ln -s lzip.lzip /usr/bin/lzip
export LD_LIBRARY_PATH=/build/tests
# SIOCSIFFLAGS: the loopback device is up and running.
python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x49))'
[ -e /usr/bin/php ] || ln -s php8.2 /usr/bin/php
echo "kernel $(uname -r)"
sets=,$(sed -n 's/.*set=\([a-z,]*\).*/\1/p' /proc/cmdline),

# of WORD...: whether the set is one of these.
of() {
    local word
    for word; do
        [[ $sets != *,$word,* ]] || return 0
    done
    return 1
}

# try NAME SECONDS PROGRAM...
try() {
    local name=$1 seconds=$2 status
    shift 2
    SPROF_BUILD=/build SPROF_SOURCE=/source SPROF_CACHE=off \
        timeout "$seconds" "$@" >/tmp/output 2>&1
    status=$?
    case $status in
    0) echo "ok $name" ;;
    77) echo "skipped $name: $(tail -n 1 /tmp/output)" ;;
    *)
        grep -aiE 'fail|error|line' /tmp/output | head -n 12
        tail -n 2 /tmp/output
        echo "FAIL $name ($status)"
        ;;
    esac
}

# say NAME CONDITION TEXT: CONDITION is one of awk.
say() {
    if awk "BEGIN { exit !($2) }"; then
        echo "ok $1: $3"
    else
        echo "FAIL $1: $3"
    fi
}

# profiled COMMAND...: at any price, for an emulator's is not the real one.
profiled() {
    env SPROF_COST=90 LD_PRELOAD=/build/libsprof.so "$@"
}

# send FILE: to run.sh.
send() {
    echo "file ${1##*/}"
    gzip -c "$1" | base64
    echo "end ${1##*/}"
}

# scenario NAME SECONDS
scenario() {
    try "scenario.$1" "$2" bash "/source/tests/scenario/$1.sh"
}

# real NAME LEAST COMMAND...: LEAST % of the CPU time reaches its root.
real() {
    local name=$1 least=$2 share
    shift 2
    profiled SPROF_OUTPUT=/tmp/real.folded "$@" >/dev/null 2>&1
    share=$(awk '{ all += $NF; if (/^\[truncated\]/) cut += $NF }
        END { printf "%.2f %d", all ? 100 * (all - cut) / all : 0, all }' \
        /tmp/real.folded)
    say "real.$name" "${share% *} >= $least && ${share#* } > 100" \
        "${share% *} % of ${share#* } ms reach their root"
    rm -f /tmp/real.folded
}

cd /source/tests || exit 1
cp /source/tests/scenario/job.py /tmp
seq 1 150000 >/tmp/numbers
for _ in $(seq 16); do
    cat /tmp/numbers
done >/tmp/more
numbers='with recursive c(x) as (select 1 union all select x+1 from c
    where x<500000) select sum(x*x) from c'
expression='(\d)(\d+)[13579]{2}(4|5)+\d'

# check_units UNIT...
check_units() {
    local unit
    for unit; do
        try "unit.$unit" 120 "/build/tests/${unit}_test"
    done
}

check_python() {
    local share
    real python 99 python3 -c "sum(i * i for i in range(2500000))"
    cat >/tmp/app.py <<'P'
import time
def leaf():
    return sum(i * i % 7 for i in range(2000))
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        leaf()
spin(2)
P
    profiled SPROF_OUTPUT=/tmp/app.folded python3 /tmp/app.py
    share=$(awk '/app\.spin|Py_RunMain/ { all += $NF }
        /app\.<module>;app\.spin;app\.leaf/ { part += $NF }
        END { printf "%d", all ? 100 * part / all : 0 }' /tmp/app.folded)
    say python "$share >= 80" "$share % show the functions"
}

check_programs() {
    real sqlite3 99 sqlite3 :memory: "$numbers"
    real xz 99 xz -6 -k -c /tmp/numbers
    real c++ 99 lzip -6 -k -c /tmp/numbers
    real rust 99 rg -j 1 -c "$expression" /tmp/more
}

# check_chains VARIANT...: the chain of calls is whole in each stack that comes
# to its end; also with signed return addresses and landing pads (pac).
check_chains() {
    local variant program chain share
    for variant; do
        program=/build/tests/workload/known_stack.$variant
        profiled SPROF_OUTPUT=/tmp/known.folded "$program" 2000 >/tmp/known 2>&1
        chain=$(sed -n 's/^expect: //p' /tmp/known | head -n 1)
        share=$(awk -v chain="$chain" '
            /;leaf_spin/ { all += $NF; if ($0 ~ chain) whole += $NF }
            END { printf "%.2f %d", all ? 100 * whole / all : 0, all }' \
            /tmp/known.folded)
        say "known_stack.$variant" "${share% *} >= 99 && ${share#* } > 1000" \
            "${share% *} % of ${share#* } ms are whole"
        rm -f /tmp/known.folded
    done
}

# Other programs with signed return addresses.
check_signed() {
    real c++.pac 99 /build/tests/workload/long_names.pac 10
    real plt.pac 99 /build/tests/workload/plt_loop.pac 1000
}

# check_waits VARIANT TRIGGER: each call that waits is seen, with its whole
# stack, none is wrong, and none is interrupted.
check_waits() {
    local share missing= expected
    profiled SPROF_TRIGGER="$2" SPROF_OUTPUT=/tmp/wait.sprof \
        "/build/tests/workload/blocked_calls.$1" 3000 >/tmp/waits 2>&1
    /build/sprofile convert --wall /tmp/wait.sprof /tmp/wait.folded
    while IFS= read -r expected; do
        grep -aqE "$expected" /tmp/wait.folded || missing+=" $expected"
    done < <(sed -n 's/^expect: //p' /tmp/waits)
    expected=$(sed -n 's/^expect: //p' /tmp/waits | paste -sd'|')
    ! grep -qx 'interrupted: 0' /tmp/waits || missing+=.
    share=$(awk -v expected="$expected" '
        /blocked_thread.*\[waiting\]/ && !/^\[truncated\]/ && $0 !~ expected {
            wrong++ }
        /\[waiting\]/ { all += $NF; if (/^\[truncated\]/) cut += $NF }
        END { printf "%.2f %d %d", all ? 100 * (all - cut) / all : 0, all,
              wrong }' /tmp/wait.folded)
    set -- "$1" "$2" $share
    say "blocked_calls.$1.$2" "$3 >= 99 && $5 == 0 && \"$missing\" == \".\"" \
        "$3 % of $4 ms are whole, $5 wrong${missing#.}"
    rm -f /tmp/wait.*
}

# check_behaviour PROGRAM...: programs that would notice a profiler find nothing
# wrong. They behave as they do alone.
check_behaviour() {
    local program status alone
    for program; do
        alone=0 status=0
        timeout 100 /build/tests/workload/$program >/tmp/alone 2>&1 || alone=$?
        SPROF_LOG=quiet SPROF_OUTPUT=/tmp/behaves.folded \
            LD_PRELOAD=/build/libsprof.so timeout 100 \
            /build/tests/workload/$program >/tmp/behaves 2>&1 || status=$?
        if [ $status -eq $alone ] && grep -qx 'ok\|skipped: .*' /tmp/behaves &&
            [ "$(tail -n 1 /tmp/alone)" = "$(tail -n 1 /tmp/behaves)" ]; then
            echo "ok $program"
        else
            echo "FAIL $program ($status, alone $alone)"
        fi
    done
    rm -f /tmp/behaves*
}

# What was sampled survives a kill, and makes all formats.
check_formats() {
    local killed seconds form
    profiled SPROF_OUTPUT=/tmp/killed.sprof python3 -c 'while True: pass' &
    killed=$!
    sleep 5
    kill -9 $killed
    wait $killed 2>/dev/null
    try kill 60 /build/sprofile report /tmp/killed.sprof
    seconds=$(/build/sprofile info /tmp/killed.sprof |
        sed -n 's/^time .*, \([0-9.]*\) s$/\1/p')
    say kill.time "${seconds:-0} > 4" "${seconds:-0} s of 5"
    for form in pb.gz json speedscope.json folded; do
        try "format.$form" 60 \
            /build/sprofile convert /tmp/killed.sprof "/tmp/killed.$form"
    done
    try format.html 60 \
        /build/sprofile flame -o /tmp/killed.html /tmp/killed.sprof
}

# A program kills itself, and says before how much CPU time it had. The spool
# has all of it but for what came before the library began, some 15 ms, and one
# tick: 128 ms at most.
check_kill() {
    local i lost=
    for i in 1 2 3 4 5 6 7 8 9 10; do
        profiled SPROF_OUTPUT=/tmp/self.sprof python3 -c "
import os, signal, time
while time.process_time() < 0.17 * $i: pass
clock = time.thread_time()
os.write(1, b'%d' % (clock * 1000))
os.kill(os.getpid(), signal.SIGKILL)" >/tmp/self 2>/dev/null
        lost+=" $(/build/sprofile info /tmp/self.sprof |
            awk -v had="$(cat /tmp/self)" '/^due/ {
                sub(".* points in ", ""); printf "%d", had - 1000 * $1 }')"
        rm -f /tmp/self.sprof
    done
    say kill.tick "$(printf '%d\n' $lost | sort -n | tail -n 1) <= 150 &&
        $(wc -w <<<"$lost") == 10" "CPU time lost by 10 kills, ms:$lost"
}

# come FILE NAME: it is written at the end, or soon after it.
come() {
    for _ in $(seq 100); do
        [ ! -s "$1" ] || { echo "ok $2"; return; }
        sleep 0.1
    done
    echo "FAIL $2: no profile"
}

check_ends() {
    local way
    for way in return exit _exit quick_exit term int handler atexit; do
        profiled SPROF_OUTPUT=/tmp/end.folded /build/tests/workload/exits \
            $way 50 >/dev/null 2>&1
        come /tmp/end.folded "end.$way"
        rm -f /tmp/end.*
    done
    profiled SPROF_OUTPUT=/tmp/fork.folded /build/tests/workload/fork_children \
        >/dev/null 2>&1
    come /tmp/fork.folded fork
    come "$(ls /tmp/fork.[0-9]*.folded | head -n 1)" fork.child
}

# walk_twice COMMAND...: by rules and by libunwind.
walk_twice() {
    LD_PRELOAD=/build/tests/sprof_compare.so SPROF_COMPARE=/tmp/result \
        "$@" >/dev/null 2>&1
    cat /tmp/result.* >>/tmp/results
    rm -f /tmp/result.*
}

# The walk by rules finds what libunwind finds, in each stack of real programs.
check_walks() {
    local compared equal beyond wanted=1500
    local sort='with recursive n(i) as (select 1 union all select i + 1 from n
        where i < 100000) select count(*), sum(i * i % 7), max(s) from
        (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc)'
    ! of long || wanted=10000
    for _ in 1 2 3 4; do
        walk_twice lzip -6 -k -c /tmp/numbers
        walk_twice rg -j 1 -c "$expression" /tmp/more
        walk_twice sqlite3 :memory: "$sort"
        walk_twice xz -T2 --block-size=512KiB -6 -k -c /tmp/numbers
        ! of long || walk_twice python3 /tmp/job.py
        compared=$(awk '/^compared/ { n += $2 } END { print n + 0 }' \
            /tmp/results)
        [ "$compared" -lt "$wanted" ] || break
    done
    equal=$(awk '/^compared/ { n += $4 } END { print n + 0 }' /tmp/results)
    # libunwind may take the row of another pc. It then finds no code, or the
    # same frame again, where the table leads to the root.
    beyond=$(awk '/^differ/ && / ours .* root theirs / { n += $2 }
        END { print n + 0 }' /tmp/results)
    say walks "$compared >= $wanted && $equal + $beyond == $compared &&
        $equal >= 0.998 * $compared" "$compared compared with libunwind's: \
$equal equal, $beyond reach the root by rules alone"
    grep '^differ' /tmp/results | head -n 5
}

# No wait is interrupted by the triggers that are taken where they can be.
check_disturbance() {
    local trigger waits
    for trigger in perf timer; do
        SPROF_TRIGGER=$trigger SPROF_OUTPUT=/tmp/disturb.sprof \
            LD_PRELOAD=/build/libsprof.so \
            /bench/sprof-bench-0/disturb 5 >/tmp/disturb 2>&1
        waits=$(awk 'NF == 5 { all += $3; broken += $4 }
            END { print all + 0, broken + 0 }' /tmp/disturb)
        say "disturb.$trigger" "${waits% *} > 1000 && ${waits#* } == 0" \
            "${waits#* } of ${waits% *} waits interrupted"
    done
}

# check_truth NAME;...: shares beside the truth, in units of what chance allows.
check_truth() {
    local limit
    (cd /source/tests/bench && TMPDIR=/bench SPROF_BUILD=/build \
        python3 truth.py --rounds 5 --peers 0 --triggers auto \
        --workloads "$1" >/tmp/truth 2>/tmp/truth.log) || tail -n 3 /tmp/truth.log
    limit=$(sed -n 's/^Largest median.*libsprof auto \([0-9.]*\) .*/\1/p' \
        /tmp/truth)
    say truth "${limit:-9} <= 1.5" "$limit of the limit"
    grep '^|' /tmp/truth
}

# The package, as it is installed; and profiles of the other architecture: one
# comes from run.sh, one goes there.
check_package() {
    local chain='main;through_pointer;.*leaf_spin'
    try package 60 /usr/bin/sprofile record -q -o /tmp/package.folded \
        /build/tests/workload/known_stack.o2 300
    grep -q 'leaf_spin' /tmp/package.folded || echo "FAIL package: no stack"
    if [ -e /there/p.sprof ]; then
        /build/sprofile convert --sysroot /there /there/p.sprof \
            /tmp/there.folded
        grep -aoE "$chain" /tmp/there.folded | sort -u >/tmp/chain
        grep -aoE "$chain" /there/p.folded | sort -u |
            cmp -s - /tmp/chain && [ -s /tmp/chain ] && echo "ok reads.x86_64" ||
            echo "FAIL reads.x86_64: $(head -n 1 /tmp/chain)"
    fi
    SPROF_KEEP_SPOOL=1 profiled SPROF_OUTPUT=/tmp/here.folded \
        /build/tests/workload/known_stack.o2 1000 >/dev/null
    send /tmp/here.sprof
    send /tmp/here.folded
}

machine_units='rules row_table learn walk walk_guess epilogue_aarch64
    code_aarch64 script view heap_view look handlers disposition mask alternate
    trigger roster observe harvest perf_kernel python_lines journal store
    profile thread_word_aarch64 trace_context stacks traces'
traps='own_sigprof masked_signals sleepers sigaltstack_work makecontext_work
    small_stack signal_handler_frames many_threads short_threads dlopen_loop
    exec_chain thread_exit_last raw_threads registered_threads
    starts_and_stops fork_own_malloc chaos_malloc strange_signals long_calls
    deep_recursion.pac'

if of brief; then
    check_units rules walk handlers disposition thread_word_aarch64
    check_python
    check_chains o0 o2 o2_nofp o3_lto o0_pac o2_pac
    check_signed
    for variant in o0 o0_pac o2_pac; do
        check_waits $variant auto
    done
    check_behaviour $traps
    check_formats
    check_ends
    check_package
fi
if of short long; then
    check_units $machine_units
    check_python
    check_programs
    check_chains o0 o2 o2_nofp o3_lto o0_pac o2_pac
    check_signed
    for variant in o0 o2 o0_pac o2_pac o2_fp; do
        check_waits $variant auto
    done
    check_behaviour $traps
    check_formats
    check_ends
    check_walks
    check_disturbance
    check_package
    scenario 72-stacks 200
fi
if of long; then
    check_waits o2_pac timer
    check_waits o2 ask
    # A fork's child begins so slowly here that much of it is over when it can
    # be sampled. The set "truth" has it.
    check_truth "functions;threads;short;tiny;workers;mutex;phases"
    scenario 30-same-behaviour 400
    scenario 20-bad-settings 400
    scenario 57-python 400
    scenario 59-php 400
fi
if of clocked; then
    for name in 10-known-stack 11-odd-stacks 14-waits 17-which-threads \
        23-damaged-spool 27-counts 31-own-signals 34-threads 35-processes \
        36-exec 37-endings; do
        scenario $name 900
    done
fi
if of truth; then
    check_kill
    # With one processor, all threads of "short" wait for the one that is new.
    check_truth "functions;threads;loop, free;loop, pinned;loop, crowded;tiny;\
burst;pure;workers;mutex;syscalls;phases;fork;fork, threads"
fi
if of newer; then
    # libunwind 1.6 errs at places of glibc 2.41, so learn is not compared.
    check_units ${machine_units/learn/}
    check_python
    check_chains o2 o2_pac
    check_waits o2_pac auto
    check_behaviour $traps
    scenario 57-python 400
fi
if of pages; then
    check_units $machine_units
    check_python
    check_programs
    check_chains o0 o2 o2_pac
    check_waits o0_pac auto
    check_waits o2 auto
    check_behaviour $traps
    check_formats
    check_ends
    check_walks
fi
if of tags; then
    check_units rules walk script
    check_behaviour tagged_stack
    export GLIBC_TUNABLES=glibc.mem.tagging=3
    check_python
    check_programs
    check_waits o2_pac auto
    check_behaviour $traps
fi
echo "all done"
echo o >/proc/sysrq-trigger
sleep 10
