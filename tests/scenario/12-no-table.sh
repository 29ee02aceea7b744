#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: code without unwind tables or frame pointers. Each section
# names its goals.
. "$(dirname "$0")/lib.sh"

# Hand-written assembly with and without tables is crossed.
section "assembly with and without tables"

profile "$work/hand_asm" 2000
expect_ok
expect_stacks 98
expect_roots 98 p.folded

# A root is a root only where it is proved: in the first instructions of a
# program, and not in the functions after them.
section "functions near the entry"

profile "$work/near_entry" 1500
expect_ok
expect_share 95 '^_start;.*;main;outer;near_entry' p.folded ';near_entry|^near_entry'

# Kernels of numeric libraries have the callers that the program knows, or none.
# At first they are not read yet. Those of each shape are proved, not guessed.
if [ -x "$work/kernels" ]; then
    section "kernels"
    profile SPROF_COST=off "$work/kernels" 600
    expect_ok
    awk '
{
    count = $NF
    stack = $0
    sub(/ [0-9]+$/, "", stack)
    guessed = gsub(/;\[caller guessed\]/, "", stack)
    frames = split(stack, frame, ";")
    for (i = 1; i <= frames && frame[i] !~ /^k_/; i++)
        ;
    if (i > frames) next
    all += count
    first = frame[i]
    of[first] += count
    before = i > 1 ? frame[i - 1] : ""
    if (before ~ /truncated/ || before == "")
        cut += count
    else if (before == "call_" first ||
             (first == "k_end" && before == "call_k_ends_in_jump")) {
        right += count
        proved[first] += guessed ? 0 : count
    } else {
        wrong += count
        print "wrong: " $0
    }
}
END {
    for (name in of)
        if (of[name] >= 100 && proved[name] < 0.75 * of[name])
            printf "few: %s: %d of %d\n", name, proved[name], of[name]
    printf "of %d: %d right, %d cut, %d wrong\n", all, right, cut, wrong
}
' p.folded >kernels.txt
    tail -n 5 kernels.txt
    read -r all right wrong < <(sed -n \
        's/^of \([0-9]*\): \([0-9]*\) right.*, \([0-9]*\) wrong$/\1 \2 \3/p' kernels.txt)
    [ "$all" -ge 1000 ] || fail "only $all samples"
    [ "$wrong" -eq 0 ] || fail "wrong callers"
    ! grep -q '^few: ' kernels.txt || fail "too few proved callers of a shape"
    [ $((right * 100)) -ge $((all * 90)) ] || fail "too few callers"
fi

# Callers with a frame pointer are found where a function has lost it: with and
# without an unwind table, and where a signal has interrupted that function.
if [ -x "$work/lost_fp" ]; then
    section "a frame pointer that was lost"
    profile "$work/lost_fp" 500
    expect_ok
    for caller in tabled untabled; do
        expect_share 90 ";main;repeat;$caller;lost_fp" p.folded \
            "(^|;)$caller;lost_fp"
        expect_share 90 ";main;repeat;$caller;lost_fp;.*;handle;burn" p.folded \
            "(^|;)$caller;lost_fp;.*burn"
    done
    expect_roots 90 p.folded
fi

# Stacks go through code that has neither an unwind table nor a frame pointer,
# and say where that is a guess.
# - what the code shows is followed: CPython's trampolines for perf, assembly with
#   branches and calls of its own;
# - where it shows nothing, the caller is found, and marked; also if several such
#   functions are in the stack, and if an old return address is in the frame, from
#   which a 0 is reached: that is no root;
# - a stack that assembly has made ends in the code that would end the program;
# - no thread parks twice for code that is known to have no rule;
# - Go with cgo: goroutines, calls of C, and calls back from C have roots; a
#   stack that grows has its callers, or says that it lacks them.
section "no table and no frame pointer"

way='main;call_it'
guess='\[caller guessed\]'
for kind in trampoline assembly nested decoy made hidden; do
    echo "-- $kind"
    start="_start;.*;$way"
    case $kind in
    trampoline) frame='0x[0-9a-f]+' ;;
    assembly) frame=assembly ;;
    nested) frame="$guess;0x[0-9a-f]+;$guess;0x[0-9a-f]+" ;;
    made)
        start=made
        frame=called_and_gone
        ;;
    *) frame="$guess;$kind" ;;
    esac
    # The first walks search, and some are cut.
    profile SPROF_KEEP_SPOOL=1 "$work/no_frame" 800 "$kind"
    expect_ok
    expect_share 95 "^$start;$frame;called_back;work_burn" p.folded \
        'called_back'
    if [ "$kind" = made ]; then
        expect_share 95 '^made;' p.folded
    else
        expect_roots 95 p.folded
    fi
    plain "$sprofile" info p.sprof
    expect_status 0
    # A search is repeated until the sampler has had the CPU for it.
    parked=$(sed -n 's/^cost.*; [0-9]* parked (\([0-9]*\).*/\1/p' out)
    [ "${parked:-0}" -lt 20 ] || fail "threads parked: $(grep '^cost' out)"
done
[ "$(grep -c '^guessed' out)" -eq 1 ] || fail "info does not tell of guesses"

# With unreported frames, in every format.
plain "$sprofile" convert p.sprof p.pb.gz
expect_status 0
plain "$sprofile" report p.pb.gz
expect_status 0
grep -qF '[caller guessed]' out || fail "pprof has no mark"

# rooted FILE PERCENT: at least PERCENT of its stacks reach their root.
rooted() {
    plain "$sprofile" convert "$1" rooted.folded
    expect_status 0
    expect_share "$2" '^([^[]|\[[^t])' rooted.folded
}

# Python that has been built with trampolines: from 3.12 on.
python=
for name in ${TEST_PYTHON:-} python3.13 python3.12 python3; do
    "$name" -c 'import sys, sysconfig
sys.exit(not sysconfig.get_config_var("PY_HAVE_PERF_TRAMPOLINE"))' \
        2>/dev/null && python=$name && break
done
if [ -n "$python" ]; then
    echo "-- $python -X perf"
    cat >job.py <<'EOF'
import time
def leaf(n): return sum(i * i for i in range(n))
def deep(d): return leaf(3000) if d == 0 else deep(d - 1) + 1
end = time.process_time() + 0.7
while time.process_time() < end: deep(20)
EOF
    plain "$sprofile" record -o python.sprof -- "$python" -X perf job.py
    expect_status 0
    rooted python.sprof 95
    # Each function once: as a frame of the interpreter, not as its code, too.
    expect_share 90 ';job\.deep;job\.deep;(.*;)?job\.leaf[ ;]' rooted.folded \
        ';job\.leaf'
    ! grep -E ';job\.leaf;(.*;)?job\.leaf[ ;]' rooted.folded ||
        fail "a function is there twice"
fi

has go && {
    cat >go.mod <<'EOF'
module job

go 1.22
EOF
    cat >job.go <<'EOF'
package main

/*
#include <stdint.h>
extern uint64_t back(uint64_t);
static uint64_t work(uint64_t n)
{
    uint64_t mix = 1;
    for (uint64_t i = 0; i < n; i++)
        mix = mix * 6364136223846793005u + i;
    return mix;
}
static uint64_t call_back(uint64_t n) { return back(n) + 1; }
*/
import "C"
import (
	"os"
	"syscall"
)

//go:noinline
func grow(n int) int {
	var words [64]int
	for i := range words {
		words[i] = n * i
	}
	if n == 0 {
		return words[5]
	}
	return grow(n-1) + words[n&63]
}

//export back
func back(n C.uint64_t) C.uint64_t { return C.uint64_t(compute(uint64(n))) }

//go:noinline
func compute(n uint64) uint64 {
	mix := uint64(1)
	for i := uint64(0); i < n; i++ {
		mix = mix*6364136223846793005 + i
	}
	return mix
}

// By CPU time: where the machine is loaded there are as many samples. The first
// ones of each of C's functions are walked in a copy of C's stack, and are cut,
// until its rules are known.
func cpuTime() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

var sum [3]uint64

func main() {
	done := make(chan bool)
	for len(os.Args) > 1 && cpuTime() < 3_000_000_000 {
		go func() { done <- grow(3000) != 0 }()
		<-done
	}
	for g := range 3 {
		go func() {
			for cpuTime() < 1_500_000_000 {
				switch g {
				case 0:
					sum[g] += compute(100000)
				case 1:
					sum[g] += uint64(C.work(100000))
				case 2:
					sum[g] += uint64(C.call_back(100000))
				}
			}
			done <- true
		}()
	}
	for range 3 {
		<-done
	}
}
EOF
    if HOME=$tmp GOFLAGS=-mod=mod CGO_ENABLED=1 timeout 250 go build -o job \
        2>go.err; then
        plain "$sprofile" record -o go.sprof -- ./job
        expect_status 0
        rooted go.sprof 75
        # A walk that lacks a rule goes on in a copy of one stack, and is cut
        # where the next one begins: none to a tenth, as addresses fall.
        expect_share 75 '^runtime.goexit.*;main.compute' rooted.folded \
            ';main.compute'
        grep -qE '^runtime.goexit.*;runtime.asmcgocall.*;work ' \
            rooted.folded || fail "no way from work to its goroutine"
        expect_share 90 ';call_back;.*crosscall2;.*;main.compute' \
            rooted.folded 'crosscall2;.*;main.compute'
        plain "$sprofile" record -o grows.sprof -- ./job grow
        expect_status 0
        plain "$sprofile" convert grows.sprof grows.folded
        expect_status 0
        expect_share 65 '^runtime.goexit.*;main.grow;runtime.morestack' \
            grows.folded 'runtime.newstack'
        # Before the first such walk, the others are not known for cut ones.
        expect_share 90 '^(runtime.goexit|\[trunc).*runtime.morestack' \
            grows.folded 'runtime.newstack'
    else
        echo "no program: $(head -n 1 go.err)"
    fi
}

finish
