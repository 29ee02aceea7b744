#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do stacks reach their root where code has no unwind table?

    roots.py [--build DIR] [--python PYTHON]

Records real programs whose code is moved (rustc), generated (CPython -X perf,
node), written by hand (x264) or without tables (Go with cgo), and prints for
each: samples, the share of the CPU time whose stacks reach their root, whose
caller is a guess, and that has a frame without a name; threads that parked,
and how long threads were stopped, for each CPU second. What is not installed
is left out.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile

PYTHON_JOB = """import time
def leaf(n): return sum(i * i for i in range(n))
def deep(d): return leaf(3000) if d == 0 else deep(d - 1) + 1
end = time.process_time() + 4
while time.process_time() < end: deep(20)
"""
NODE_JOB = """const end = Date.now() + 4000; let sum = 0;
function leaf(n) { let t = 0; for (let i = 0; i < n; i++) t += i % 7; return t }
while (Date.now() < end) {
    sum += leaf(1e5) + JSON.stringify([...Array(50).keys()]).length;
    sum += [3, 1, 2, 9, 5].map(x => x * 2).sort().join().split(",").length;
}
console.log(sum > 0);
"""
GO_JOB = """package main
/*
#include <stdint.h>
extern uint64_t back(uint64_t);
static uint64_t work(uint64_t n)
{ uint64_t m = 1; for (uint64_t i = 0; i < n; i++) m = m * 25 + i; return m; }
static uint64_t call_back(uint64_t n) { return back(n) + 1; }
*/
import "C"
import ("fmt"; "time")
//export back
func back(n C.uint64_t) C.uint64_t { return C.uint64_t(compute(uint64(n))) }
//go:noinline
func compute(n uint64) uint64 {
    m := uint64(1)
    for i := uint64(0); i < n; i++ { m = m*25 + i }
    return m
}
func main() {
    sum, text := uint64(0), 0
    for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
        sum += compute(100000) + uint64(C.work(100000))
        sum += uint64(C.call_back(100000))
        for i := range 100 { text += len(fmt.Sprint(i, sum)) }
    }
    fmt.Println(sum, text)
}
"""


def write(name, text):
    with open(name, "w", encoding="utf-8") as stream:
        stream.write(text)


def rust():
    os.makedirs("src", exist_ok=True)
    write("Cargo.toml", '[package]\nname = "job"\nversion = "0.1.0"\n'
          'edition = "2021"\n')
    functions = "".join(
        f"fn f{i}(n: u64) -> u64 {{ let m: std::collections::BTreeMap<String,"
        f" u64> = (0..n).map(|k| (format!(\"{{}}\", k * {i}), k)).collect();"
        f" m.values().filter(|v| **v % 3 == {i % 3}).sum() }}\n"
        for i in range(200))
    calls = " + ".join(f"f{i}(n)" for i in range(200))
    write("src/main.rs", functions + "fn main() { let n = std::env::args()"
          f".count() as u64; println!(\"{{}}\", {calls}); }}\n")
    return ["cargo", "build", "--release", "--offline"]


def video():
    draw = random.Random(2)
    noise = bytes(draw.randrange(256) for _ in range(640 * 360 * 3))
    with open("job.yuv", "wb") as stream:
        for i in range(240):
            luma = noise[i % 60 * 1920:i % 60 * 1920 + 640 * 360]
            stream.write(luma + luma[:640 * 360 // 2])
    return ["x264", "--quiet", "--input-res", "640x360", "--fps", "25", "-o",
            "/dev/null", "job.yuv"]


def python(options):
    write("job.py", PYTHON_JOB)
    return [options.python, "-X", "perf", "job.py"]


def node(*more):
    write("job.js", NODE_JOB)
    return ["node", "--perf-basic-prof", "--interpreted-frames-native-stack",
            *more, "job.js"]


def go():
    write("go.mod", "module job\n\ngo 1.22\n")
    write("job.go", GO_JOB)
    subprocess.run(["go", "build", "-o", "job"], check=True,
                   env={**os.environ, "CGO_ENABLED": "1"})
    return ["./job"]


def share(stacks, pattern):
    """Percent of the CPU time of folded STACKS."""
    total = part = 0
    for line in stacks.splitlines():
        stack, _, value = line.rpartition(" ")
        total += int(value)
        part += int(value) if re.search(pattern, stack) else 0
    return 100 * part / total if total else 0.0


def measure(sprofile, name, command):
    subprocess.run([sprofile, "record", "-o", "job.sprof", "--", *command],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    subprocess.run([sprofile, "convert", "job.sprof", "job.folded"],
                   check=True)
    with open("job.folded", encoding="utf-8", errors="replace") as stream:
        stacks = stream.read()
    info = subprocess.run([sprofile, "info", "job.sprof"], check=True,
                          capture_output=True, text=True).stdout
    cpu = float(re.search(r"([\d.]+) s CPU, ", info)[1])
    cost = re.search(r"threads stopped ([\d.]+) s; (\d+) parked", info)
    handler = re.search(r"^handler.*p99 ([\d.]+) us", info, re.M)
    rooted = 100 - share(stacks, r"^\[truncated\]")
    guessed = share(stacks, "caller guessed")
    nameless = share(stacks, r"(^|;)([^;]*[+])?0x[0-9a-f]+(;|$)")
    print(f"{name:24} {cpu:7.2f} {rooted:7.2f} {guessed:7.2f} {nameless:8.2f}"
          f" {int(cost[2]):7d} {1000 * float(cost[1]) / cpu:9.2f}"
          f" {handler[1] if handler else '-':>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--build", default=os.path.join(here, "../../build"))
    parser.add_argument("--python", default="python3")
    options = parser.parse_args()
    sprofile = os.path.abspath(os.path.join(options.build, "sprofile"))
    jobs = [("cargo build --release", "cargo", rust),
            ("python -X perf", options.python, lambda: python(options)),
            ("node", "node", node),
            ("node, no short builtins", "node",
             lambda: node("--no-short-builtin-calls")),
            ("x264", "x264", video), ("Go with cgo", "go", go)]
    print("                           CPU s  root %  guess %  no name  parked"
          " stop ms/s  p99 us")
    for name, tool, make in jobs:
        if shutil.which(tool) is None:
            print(f"{name}: {tool} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            measure(sprofile, name, make())
            os.chdir("/")


if __name__ == "__main__":
    main()
