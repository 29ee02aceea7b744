#!/bin/bash
# SPDX-License-Identifier: MIT
#
# init.sh -- the first program of the emulated machine (run.sh). It runs units
# and scenarios, says "ok NAME" or "FAIL NAME" of each, and turns the machine
# off.
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
export LD_LIBRARY_PATH=/build/tests
echo "kernel $(uname -r)"

# Units of what is different here: rules, walks, handlers and what reads /proc.
units="rules row_table learn walk walk_guess script view look handlers
    disposition mask alternate trigger roster observe harvest perf_kernel
    python_lines journal store profile trace_context"

# What matters: stacks, waits, signals, fork, exec, ends, formats, control.
scenarios="30-same-behaviour"

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
        echo "FAIL $name ($status)"
        ;;
    esac
}

cd /source/tests || exit 1
for unit in $units; do
    try "unit.$unit" 120 "/build/tests/${unit}_test"
done

# real NAME LEAST COMMAND...: LEAST % of the CPU time reaches its root.
real() {
    local name=$1 least=$2
    shift 2
    SPROF_COST=90 LD_PRELOAD=/build/libsprof.so SPROF_OUTPUT=/tmp/real.folded \
        "$@" >/dev/null 2>&1
    awk -v name="$name" -v least="$least" '
        { all += $NF; if (/^\[truncated\]/) cut += $NF }
        END { share = all ? 100 * (all - cut) / all : 0
              printf "%s real.%s: %.2f %% of %d ms reach their root\n",
                  share >= least ? "ok" : "FAIL", name, share, all }' \
        /tmp/real.folded
    rm -f /tmp/real.folded
}

numbers='with recursive c(x) as (select 1 union all select x+1 from c
    where x<1000000) select sum(x*x) from c'
real python 99 python3 -c "sum(i * i for i in range(2500000))"
real sqlite3 99 sqlite3 :memory: "$numbers"
real xz 99 xz -6 -k -c /usr/bin/python3.11

# The chain of calls is whole in each stack that comes to its end.
for variant in o0 o2 o2_nofp o3_lto; do
    program=/build/tests/workload/known_stack.$variant
    SPROF_COST=90 LD_PRELOAD=/build/libsprof.so SPROF_OUTPUT=/tmp/known.folded \
        "$program" 3000 >/tmp/known 2>&1
    chain=$(sed -n 's/^expect: //p' /tmp/known | head -n 1)
    awk -v name="$variant" -v chain="$chain" '
        /;leaf_spin/ { all += $NF; if ($0 ~ chain) whole += $NF }
        END { share = all ? 100 * whole / all : 0
              printf "%s known_stack.%s: %.2f %% of %d ms are whole\n",
                  share >= 99 ? "ok" : "FAIL", name, share, all }' \
        /tmp/known.folded
done

# Each call that waits is seen, with its whole stack, and none is interrupted.
for variant in o0 o2 o2_fp; do
    program=/build/tests/workload/blocked_calls.$variant
    SPROF_COST=90 LD_PRELOAD=/build/libsprof.so SPROF_OUTPUT=/tmp/wait.sprof \
        "$program" 3000 >/tmp/waits 2>&1
    /build/sprofile convert --wall /tmp/wait.sprof /tmp/wait.folded
    missing=
    while IFS= read -r chain; do
        grep -aqE "$chain" /tmp/wait.folded || missing+=" $chain"
    done < <(sed -n 's/^expect: //p' /tmp/waits)
    grep -qx 'interrupted: 0' /tmp/waits || missing+=" interrupted"
    awk -v name="$variant" -v missing="$missing" '
        /\[waiting\]/ { all += $NF; if (/^\[truncated\]/) cut += $NF }
        END { share = all ? 100 * (all - cut) / all : 0
              printf "%s blocked_calls.%s: %.2f %% of %d ms are whole%s\n",
                  share >= 99 && missing == "" ? "ok" : "FAIL", name, share,
                  all, missing }' /tmp/wait.folded
done

# What was sampled survives a kill.
SPROF_COST=90 LD_PRELOAD=/build/libsprof.so SPROF_OUTPUT=/tmp/killed.sprof \
    python3 -c 'while True: pass' & killed=$!
sleep 5
kill -9 $killed
wait $killed 2>/dev/null
try kill 60 /build/sprofile report /tmp/killed.sprof

for scenario in $scenarios; do
    try "scenario.$scenario" 150 bash "/source/tests/scenario/$scenario.sh"
done
echo "all done"
echo o >/proc/sysrq-trigger
sleep 10
