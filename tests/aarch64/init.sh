#!/bin/bash
# SPDX-License-Identifier: MIT
#
# init.sh -- the first program of the emulated machine (run.sh). It runs units
# and scenarios, and measures what an emulator can tell: counts and shares. It
# says "ok NAME" or "FAIL NAME" of each, sends files to run.sh, and turns the
# machine off. The kernel's command line has set=brief (what depends on the
# processor), set=short or set=long.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C
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
is_long= is_brief=
grep -q set=long /proc/cmdline && is_long=yes
grep -q set=brief /proc/cmdline && is_brief=yes
echo "kernel $(uname -r)"

# Units of what is different here: rules, walks, handlers and what reads /proc.
units="rules row_table learn walk walk_guess script view look handlers
    disposition mask alternate trigger roster observe harvest perf_kernel
    python_lines journal store profile thread_word_aarch64 trace_context"

# What matters and compares no times: behaviour and control.
scenarios=72-stacks
[ -z "$is_brief" ] ||
    units='rules walk handlers disposition thread_word_aarch64' scenarios=
[ -z "$is_long" ] || scenarios+=" 30-same-behaviour 20-bad-settings"

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

cd /source/tests || exit 1
for unit in $units; do
    try "unit.$unit" 120 "/build/tests/${unit}_test"
done

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

cp /source/tests/scenario/job.py /tmp
seq 1 150000 >/tmp/numbers
for _ in 1 2 3 4 5 6 7 8; do
    cat /tmp/numbers
done >/tmp/more
numbers='with recursive c(x) as (select 1 union all select x+1 from c
    where x<500000) select sum(x*x) from c'
expression='(\d)(\d+)[13579]{2}(4|5)+\d'
real python 99 python3 -c "sum(i * i for i in range(2500000))"
if [ -z "$is_brief" ]; then
    real sqlite3 99 sqlite3 :memory: "$numbers"
    real xz 99 xz -6 -k -c /tmp/numbers
    real c++ 99 lzip -6 -k -c /tmp/numbers
    real rust 99 rg -j 1 -c "$expression" /tmp/more
fi

# Functions of Python among the native ones.
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
    END { printf "%d", all ? 100 * part / all : 0 }' \
    /tmp/app.folded)
say python "$share >= 80" "$share % show the functions"

# The chain of calls is whole in each stack that comes to its end; also with
# signed return addresses and landing pads (pac).
for variant in o0 o2 o2_nofp o3_lto o0_pac o2_pac; do
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
real c++.pac 99 /build/tests/workload/long_names.pac 10
real plt.pac 99 /build/tests/workload/plt_loop.pac 1000

# blocked VARIANT TRIGGER: each call that waits is seen, with its whole stack,
# none is wrong, and none is interrupted.
blocked() {
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
blocked o0 auto
blocked o0_pac auto
blocked o2_pac auto
if [ -z "$is_brief" ]; then
    blocked o2 auto
    blocked o2_fp auto
fi
if [ -n "$is_long" ]; then
    blocked o2_pac timer
    blocked o2 ask
fi

# Programs that would notice a profiler find nothing wrong.
for program in own_sigprof masked_signals sleepers sigaltstack_work \
    makecontext_work small_stack signal_handler_frames many_threads \
    short_threads dlopen_loop exec_chain thread_exit_last raw_threads \
    registered_threads starts_and_stops fork_own_malloc chaos_malloc \
    strange_signals long_calls deep_recursion.pac; do
    status=0
    SPROF_OUTPUT=/tmp/behaves.folded LD_PRELOAD=/build/libsprof.so \
        timeout 60 /build/tests/workload/$program >/tmp/behaves 2>&1 ||
        status=$?
    grep -qx ok /tmp/behaves && [ $status -eq 0 ] && echo "ok $program" ||
        echo "FAIL $program ($status)"
done
rm -f /tmp/behaves*

# What was sampled survives a kill, and makes all formats.
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
try format.html 60 /build/sprofile flame -o /tmp/killed.html /tmp/killed.sprof

# come FILE NAME: it is written at the end, or soon after it.
come() {
    for _ in $(seq 100); do
        [ ! -s "$1" ] || { echo "ok $2"; return; }
        sleep 0.1
    done
    echo "FAIL $2: no profile"
}
for way in return exit _exit quick_exit term int handler atexit; do
    profiled SPROF_OUTPUT=/tmp/end.folded /build/tests/workload/exits $way 50 \
        >/dev/null 2>&1
    come /tmp/end.folded "end.$way"
    rm -f /tmp/end.*
done
profiled SPROF_OUTPUT=/tmp/fork.folded /build/tests/workload/fork_children \
    >/dev/null 2>&1
come /tmp/fork.folded fork
come "$(ls /tmp/fork.[0-9]*.folded | head -n 1)" fork.child

# The walk by rules finds what libunwind finds, in each stack of real programs.
walk_twice() {
    LD_PRELOAD=/build/tests/sprof_compare.so SPROF_COMPARE=/tmp/result \
        "$@" >/dev/null 2>&1
    cat /tmp/result.* >>/tmp/results
    rm -f /tmp/result.*
}
check_walks() {
    local compared equal beyond wanted=1500
    local sort='with recursive n(i) as (select 1 union all select i + 1 from n
        where i < 100000) select count(*), sum(i * i % 7), max(s) from
        (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc)'
    [ -z "$is_long" ] || wanted=10000
    for _ in 1 2 3 4; do
        walk_twice lzip -6 -k -c /tmp/numbers
        walk_twice rg -j 1 -c "$expression" /tmp/more
        walk_twice sqlite3 :memory: "$sort"
        walk_twice xz -T2 --block-size=512KiB -6 -k -c /tmp/numbers
        [ -z "$is_long" ] || walk_twice python3 /tmp/job.py
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
check_waits() {
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

if [ -z "$is_brief" ]; then
    check_walks
    check_waits
fi

if [ -n "$is_long" ]; then
    # Shares beside the truth, in units of what chance allows. (A fork's child
    # begins so slowly here that much of it is over when it can be sampled.)
    (cd /source/tests/bench && TMPDIR=/bench SPROF_BUILD=/build \
        timeout 300 python3 truth.py --rounds 3 --peers 0 --triggers auto \
        --workloads "functions;threads;workers;mutex;phases" \
        >/tmp/truth 2>&1)
    limit=$(sed -n 's/^Largest median.*libsprof auto \([0-9.]*\) .*/\1/p' \
        /tmp/truth)
    say truth "${limit:-9} <= 1.5" "$limit of the limit"
    grep '^|' /tmp/truth | cut -c 1-100
fi

# The package, as it is installed.
try package 60 /usr/bin/sprofile record -q -o /tmp/package.folded \
    /build/tests/workload/known_stack.o2 300
grep -q 'leaf_spin' /tmp/package.folded || echo "FAIL package: no stack"

# Profiles of the other architecture: one comes from run.sh, one goes there.
if [ -e /there/p.sprof ]; then
    /build/sprofile convert --sysroot /there /there/p.sprof /tmp/there.folded
    chain='main;through_pointer;.*leaf_spin'
    grep -aoE "$chain" /tmp/there.folded | sort -u >/tmp/chain
    grep -aoE "$chain" /there/p.folded | sort -u |
        cmp -s - /tmp/chain && [ -s /tmp/chain ] && echo "ok reads.x86_64" ||
        echo "FAIL reads.x86_64: $(head -n 1 /tmp/chain)"
fi
SPROF_KEEP_SPOOL=1 profiled SPROF_OUTPUT=/tmp/here.folded \
    /build/tests/workload/known_stack.o2 1000 >/dev/null
send /tmp/here.sprof
send /tmp/here.folded

for scenario in $scenarios; do
    try "scenario.$scenario" 200 bash "/source/tests/scenario/$scenario.sh"
done
echo "all done"
echo o >/proc/sysrq-trigger
sleep 10
