#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: languages with a runtime of their own, their threads,
# signals, collectors and generated code.
# - each program says with the library what it says without, at both rates, and
#   ends with the same status;
# - there is a profile or a spool of it, or, where nothing can be preloaded
#   (static programs), nothing at all.
# What is not installed is left out; the JVM needs SPROF_TEST_FULL=1.
. "$(dirname "$0")/lib.sh"

# same_with_profile LEAST COMMAND...: as without, and at least that many
# samples in the last profile.
same_with_profile() {
    local least=$1
    shift
    expect_same "$@"
    expect_samples "$least" p.folded
}

# Threads, a child, a signal to itself, an exception caught: what is printed
# would differ if a system call were interrupted or a signal lost.
has perl && {
    cat >t.pl <<'P'
use POSIX ":sys_wait_h";
my ($usr, $alarms, $sum) = (0, 0, 0);
$SIG{USR1} = sub { $usr++ };
$SIG{ALRM} = sub { $alarms++ };
$SIG{PROF} = sub { die "not ours" };
for my $round (1 .. 5) {
    my $pid = fork() // die;
    if (!$pid) { my $s = 0; $s += $_ % 7 for 1 .. 200000; exit($s % 100) }
    $sum += $_ % 11 for 1 .. 200000;
    kill USR1 => $$;
    waitpid($pid, 0);
    print $? >> 8, "\n";
}
print join(",", map { sprintf "%x", $_ } sort { $a <=> $b } 1 .. 20), "\n";
print `echo from a shell`, "usr $usr sum $sum\n";
eval { die "caught\n" };
print $@;
P
    same_with_profile 50 perl t.pl
}

has python3 && {
    cat >t.py <<'P'
import os, signal, subprocess, threading
seen = []
signal.signal(signal.SIGPROF, lambda *a: seen.append("prof"))
signal.signal(signal.SIGALRM, lambda *a: seen.append("alarm"))
def work(n):
    total[n] = sum(i * i % 7 for i in range(200000))
total = [0] * 4
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]
os.kill(os.getpid(), signal.SIGPROF)
[t.join() for t in threads]
os.kill(os.getpid(), signal.SIGALRM)
print(total, seen, subprocess.run(["sh", "-c", "exit 3"]).returncode)
print(sorted(os.listdir("/proc/self/fd")))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
P
    same_with_profile 30 python3 t.py
}

has ruby && {
    cat >t.rb <<'P'
seen = 0
trap("USR1") { seen += 1 }
sums = 4.times.map { |n| Thread.new { (1..200_000).sum { |i| i % (n + 2) } } }
p sums.map(&:value)
Process.kill("USR1", $$)
sleep 0.01 until seen == 1
pid = fork { exit 4 }
Process.wait(pid)
p $?.exitstatus, seen, `echo child`
GC.start
begin
  raise "caught"
rescue => e
  puts e
end
P
    same_with_profile 30 ruby t.rb
}

has node && {
    cat >t.js <<'P'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execFileSync } = require('child_process');
function burn(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 7) % 1009; return s; }
if (!isMainThread) { parentPort.postMessage(burn(2e7)); return; }
let open = 2;
const got = [];
process.on('SIGUSR2', () => { console.log('usr2'); process.exit(5); });
for (let i = 0; i < 2; i++)
  new Worker(__filename).on('message', m => { got.push(m); if (--open === 0) {
    console.log(got, burn(3e7));
    console.log(execFileSync('echo', ['child']).toString().trim());
    process.kill(process.pid, 'SIGUSR2'); setTimeout(() => process.exit(6), 100000); } });
P
    same_with_profile 50 node t.js
    expect_status 5
}

has php && {
    cat >t.php <<'P'
<?php
$s = 0;
for ($i = 0; $i < 4000000; $i++) { $s = ($s + $i * 3) % 1013; }
echo $s, "\n", shell_exec("echo child"), preg_match_all('/a+/', str_repeat("aab", 50000)), "\n";
try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo "caught\n"; }
exit(6);
P
    same_with_profile 20 php t.php
}

lua=$(command -v lua5.4 || command -v lua || echo lua)
has "$lua" && {
    cat >t.lua <<'P'
local s, made = 0, {}
local co = coroutine.wrap(function() for i = 1, 1e6 do coroutine.yield(i) end end)
for i = 1, 1e6 do s = (s + co()) % 1013; made[i % 1000] = {i} end
print(s, pcall(error, "caught"), io.popen("echo child"):read("a"))
P
    same_with_profile 50 "$lua" t.lua
}

for shell in bash dash; do
    has $shell && {
        cat >t.sh <<'P'
n=0; seen=0
trap 'seen=$((seen + 1))' USR1
while [ $n -lt 60000 ]; do n=$((n + 1)); done
kill -USR1 $$
for i in 1 2 3 4 5; do (exit $i) & wait $!; echo $?; done
seq 1 20000 | sort -rn | head -n 2 | tr '\n' ' '
echo "$n $seen $(echo sub)"
sleep 100 & kill $!; wait $! 2>/dev/null; echo $?
exit 7
P
        expect_same $shell t.sh
        expect_status 7
    }
done

# Nothing is preloaded into a static program: it must be left alone.
has busybox && {
    expect_same busybox sh -c 'i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done
        echo $i; exit 8'
    expect_status 8
    ldd "$(command -v busybox)" >/dev/null 2>&1 || [ ! -e p.folded ] ||
        fail "a profile of a static program"
}

cat >burn.go <<'P'
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func caught() (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	var nothing *int
	*nothing = 1
	return
}

func main() {
	var all sync.WaitGroup
	results := make([]int, 8)
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, syscall.SIGUSR1)
	for i := range results {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < 5; k++ {
				results[i] += fib(25) + extra()
				_ = make([]byte, 1<<16)
				runtime.Gosched()
			}
		}(i)
	}
	all.Wait()
	runtime.GC()
	syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	fmt.Println(results, caught(), <-seen)
	out, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
	fmt.Println(string(out), err)
	os.Exit(9)
}
P
has go && {
    export GO111MODULE=off GOFLAGS=
    mkdir static cgo
    { cat burn.go; echo 'func extra() int { return 0 }'; } >static/main.go
    { sed '1a /*\
static int burn(void) {\
    volatile int sum = 0;\
    for (int i = 0; i < 5000000; i++) sum += i % 7;\
    return sum;\
}\
*/\
import "C"' burn.go; echo 'func extra() int { return int(C.burn()) }'
    } >cgo/main.go
    if CGO_ENABLED=0 timeout 300 go build -o go_static ./static/main.go; then
        expect_same SPROF_ONLY=go_static ./go_static
        expect_status 9
        [ ! -e p.folded ] || fail "a profile of a static program"
    else
        lacks "a static Go program" "cannot be built"
    fi
    # It ends by a raw system call, so the spool stays.
    if CGO_ENABLED=1 timeout 300 go build -o go_cgo ./cgo/main.go; then
        for trigger in auto timer ask; do
            expect_same SPROF_TRIGGER=$trigger ./go_cgo
            expect_status 9
        done
        plain "$sprofile" report p.sprof
        expect_status 0
        grep -q 'burn (go_cgo)' out || fail "no C function of the Go program"
        rm -f p.sprof
    else
        lacks "a Go program with C" "cannot be built"
    fi
}

has rustc && {
    cat >t.rs <<'P'
use std::{panic, process, sync::{Arc, Mutex}, thread};
fn work(n: u64) -> u64 {
    (0..20_000_000u64).fold(n, |s, i| (s + i * 7) % 1_000_003)
}
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..4).map(|n| {
        let sum = sum.clone();
        thread::spawn(move || { let w = work(n); *sum.lock().unwrap() += w;
            if n == 3 { panic!("on purpose") } })
    }).collect();
    let failed = threads.into_iter().filter_map(|t| t.join().err()).count();
    println!("{} {}", *sum.lock().unwrap(), failed);
    let out = process::Command::new("echo").arg("child").output().unwrap();
    print!("{}", String::from_utf8_lossy(&out.stdout));
    process::exit(10);
}
P
    # -C linker: some machines have a wrapper of rustc without a tool chain.
    if timeout 300 rustc -O -g -C linker=gcc -o rust_job t.rs 2>rust.err; then
        same_with_profile 100 ./rust_job
        expect_status 10
        expect_share 90 '(^|;)t::main;|;t::work' p.folded ';t::'
    else
        lacks "a Rust program" "$(head -n 1 rust.err)"
    fi
}

[ -n "${SPROF_TEST_FULL:-}" ] && has java && {
    cat >T.java <<'P'
import java.util.*;
public class T {
    static class Node { Node left; int value; }
    public static void main(String[] a) throws Exception {
        long[] sums = new long[4];
        Thread[] all = new Thread[4];
        for (int n = 0; n < 4; n++) {
            final int m = n;
            all[n] = new Thread(() -> {
                long s = m;
                Map<Integer, String> made = new HashMap<>();
                for (int i = 0; i < 1500000; i++) {
                    s = (s + i * 7) % 1000003;
                    made.put(i % 1000, "x" + i);
                }
                sums[m] = s + made.size();
            });
            all[n].start();
        }
        for (Thread t : all) t.join();
        int caught = 0;
        Node none = null;
        for (int i = 0; i < 100000; i++)
            try { caught += none.value; } catch (NullPointerException e) { caught++; }
        System.gc();
        Process child = new ProcessBuilder("sh", "-c", "exit 3").start();
        System.out.println(Arrays.toString(sums) + " " + caught + " "
            + child.waitFor());
        System.exit(11);
    }
}
P
    # Compiled where there is a compiler; a bare JRE has none.
    if timeout 300 javac T.java 2>/dev/null; then
        for collector in SerialGC ParallelGC G1GC; do
            same_with_profile 100 java -XX:+Use$collector -cp . T
            expect_status 11
        done
    else
        expect_same java -version
    fi
}

finish
