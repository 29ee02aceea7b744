# SPDX-License-Identifier: MIT
"""Do stacks reach their root where code has no unwind table?

Real programs are recorded. Their code is moved (rustc), generated (CPython -X
perf, node, Java, LuaJIT, PyPy, mono), written by hand (x264, dav1d, OpenCV,
GMP, numpy's OpenBLAS, MKL, OpenSSL), or without tables (Go with cgo). The table has three shares of the CPU time. The
stacks of the first reach their root. Those of the second have a guessed
caller. Those of the third have a frame without a name (stripped programs have
many). Then it has the threads that parked, and how long threads were stopped
for each CPU second. What is not installed is left out.

The second table is of kernels.c: functions in assembly, of thirteen shapes that
numeric libraries have, each called by one function. It says which part of the
samples in them has the right caller, a guessed one among these, none, or a
wrong one. With --against another build has a row of its own.
"""
import os
import random
import re
import shutil
import subprocess

import bench

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
JAVA_JOB = """import java.util.*;
public class Job {
    static long leaf(int n) {
        long t = 0; for (int i = 0; i < n; i++) t += i % 7; return t; }
    static long deep(int d) { return d == 0 ? leaf(3000) : deep(d - 1) + 1; }
    public static void main(String[] a) {
        long end = System.nanoTime() + 4_000_000_000L, sum = 0;
        while (System.nanoTime() < end) {
            List<String> l = new ArrayList<>();
            for (int i = 0; i < 200; i++) l.add("x" + i * 7919 % 200);
            Collections.sort(l);
            sum += deep(20) + String.join(",", l).hashCode();
        }
        System.out.println(sum != 0);
    }
}
"""
LUA_JOB = """local t0, s = os.clock(), 0
local function leaf(n) local t = 0 for i = 1, n do t = t + i % 7 end return t end
while os.clock() - t0 < 4 do
    s = s + leaf(1e5)
    for w in ("a b c d e"):gmatch("%w+") do s = s + #w:gsub("a", "b") end
    table.sort({3, 1, 2, 5, 4}, function(a, b) return a < b end)
end
print(s > 0)
"""
CS_JOB = """using System; using System.Collections.Generic;
class Job {
    static long Leaf(int n) {
        long t = 0; for (int i = 0; i < n; i++) t += i % 7; return t; }
    static long Deep(int d) { return d == 0 ? Leaf(3000) : Deep(d - 1) + 1; }
    static void Main() {
        long s = 0;
        for (var end = DateTime.Now.AddSeconds(4); DateTime.Now < end;) {
            var l = new List<string>();
            for (int i = 0; i < 100; i++) l.Add("x" + i * 7919 % 200);
            l.Sort(); s += Deep(20) + string.Join(",", l).GetHashCode();
        }
        Console.WriteLine(s != 0);
    }
}
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


CV_JOB = """import cv2, numpy, time
image = numpy.random.default_rng(1).integers(0, 255, (720, 1280, 3), numpy.uint8)
end = time.process_time() + 4
while time.process_time() < end:
    cv2.cvtColor(cv2.GaussianBlur(image, (9, 9), 2), cv2.COLOR_BGR2HSV)
    cv2.resize(image, (640, 360), interpolation=cv2.INTER_AREA)
    cv2.Canny(image, 50, 100), cv2.medianBlur(image, 5)
    cv2.warpAffine(image, numpy.float32([[1, .1, 2], [.1, 1, 3]]), (1280, 720))
    cv2.dft(numpy.float32(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)))
    cv2.imdecode(cv2.imencode(".jpg", image)[1], 1)
"""
GMP_JOB = """import gmpy2, time
from gmpy2 import mpz
a, b, m = mpz(3) ** 200000, mpz(7) ** 150000, mpz(2) ** 2203 - 1
end = time.process_time() + 4
while time.process_time() < end:
    c = a * b
    c // a, gmpy2.powmod(mpz(5), m - 1, m), gmpy2.gcd(a + 1, b + 3)
    gmpy2.isqrt(c), len(str(b)), gmpy2.fac(3000)
"""
NUMPY_JOB = """import numpy, time
a, v = numpy.random.rand(400, 400), numpy.random.rand(100000)
f = a.astype(numpy.float32)
end = time.process_time() + 4
while time.process_time() < end:
    a @ a, f @ f, numpy.linalg.solve(a, a), numpy.linalg.svd(a[:100, :100])
    numpy.fft.fft(v), numpy.sort(v), numpy.exp(v)
"""
MKL_JOB = """import array, ctypes, sys, time
mkl, n = ctypes.CDLL(sys.argv[1]), 500
def matrix(kind): return (kind * (n * n))(*([1.0] * (n * n)))
a, b, c = (matrix(ctypes.c_float) for _ in range(3))
d, e, f = (matrix(ctypes.c_double) for _ in range(3))
one, zero = ctypes.c_float(1), ctypes.c_float(0)
end = time.process_time() + 4
while time.process_time() < end:
    mkl.cblas_sgemm(101, 111, 111, n, n, n, one, a, n, b, n, zero, c, n)
    mkl.cblas_dgemm(101, 111, 112, n, n, n, ctypes.c_double(1), d, n, e, n,
                    ctypes.c_double(0), f, n)
    mkl.vdExp(n * n, d, f)
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


def encode(seconds, codec, *more):
    return ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
            "testsrc2=size=640x360:rate=25", "-t", seconds, "-pix_fmt",
            "yuv420p", "-c:v", codec, *more]


def decode():
    subprocess.run(encode("8", "libsvtav1", "-preset", "10", "job.mkv"), check=True)
    return ["ffmpeg", "-v", "error", "-stream_loop", "50", "-c:v", "libdav1d",
            "-i", "job.mkv", "-f", "null", "-"]


def python(interpreter, *more, job=PYTHON_JOB):
    write("job.py", job)
    return [interpreter, *more, "job.py"]


def has(tool):
    """Whether there is a command, or a module of Python ("python3:NAME")."""
    command, _, module = tool.partition(":")
    return shutil.which(command) is not None and (not module or subprocess.run(
        [command, "-c", "import " + module], stderr=subprocess.DEVNULL,
        check=False).returncode == 0)


def java(*more):
    write("Job.java", JAVA_JOB)
    subprocess.run(["javac", "Job.java"], check=True)
    return ["java", *more, "Job"]


def lua(*more):
    write("job.lua", LUA_JOB)
    return ["luajit", *more, "job.lua"]


def mono():
    write("job.cs", CS_JOB)
    subprocess.run(["mcs", "job.cs"], check=True)
    return ["mono", "job.exe"]


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


def caller_of(stack):
    """"right", "guessed", "cut" or "wrong", for a folded stack of kernels.c;
    None where it is in no kernel."""
    frames = stack.replace(";[caller guessed]", "").split(";")
    kernels = [i for i, frame in enumerate(frames) if frame.startswith("k_")]
    if not kernels:
        return None
    first, before = kernels[0], frames[kernels[0] - 1]
    if first == 0 or before == "[truncated]":
        return "cut"
    if before != "call_" + frames[first] and (before, frames[first]) != (
            "call_k_ends_in_jump", "k_end"):
        return "wrong"
    return "guessed" if "caller guessed" in stack else "right"


def kernels(program, build, name, rate):
    """A row of the second table."""
    bench.progress(f"roots: kernels{name}")
    counts = dict.fromkeys(("right", "guessed", "cut", "wrong"), 0)
    with bench.scratch() as folder:
        output = os.path.join(folder, "job.folded")
        bench.run([program, "1000"], bench.environment(
            LD_PRELOAD=bench.library(build), SPROF_OUTPUT=output,
            SPROF_COST="off", SPROF_FREQUENCY=rate))
        with open(output, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                stack, _, count = line.rpartition(" ")
                kind = caller_of(stack)
                if kind is not None:
                    counts[kind] += int(count)
    total = sum(counts.values())
    shares = [100 * (counts["right"] + counts["guessed"]) / total,
              *(100 * counts[kind] / total
                for kind in ("guessed", "cut", "wrong"))]
    return [f"kernels{name}", f"{rate:,}", f"{total:,}",
            *(f"{part:.2f}" for part in shares)]


def measure(sprofile, name, command):
    """A row of the table."""
    bench.progress(f"roots: {name}")
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
    return [name, f"{cpu:.2f}",
            f"{100 - share(stacks, '^.truncated.'):.2f}",
            f"{share(stacks, 'caller guessed'):.2f}",
            f"{share(stacks, '(^|;)([^;]*[+])?0x[0-9a-f]+(;|$)'):.2f}",
            cost[2], f"{1000 * float(cost[1]) / cpu:.2f}"]


def main():
    parser = bench.options(__doc__)
    bench.add_against(parser)
    parser.add_argument("--python", default="python3",
                        help="one with trampolines: 3.12 or later")
    parser.add_argument("--mkl", default="", help="a libmkl_rt.so")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    sprofile = arguments.build.resolve() / "sprofile"
    out = arguments.out.resolve() if arguments.out else None
    report, rows = bench.Report(out), []
    jobs = [("cargo build --release", "cargo", rust),
            ("CPython -X perf", arguments.python,
             lambda: python(arguments.python, "-X", "perf")),
            ("node", "node", node),
            ("node --no-short-builtin-calls", "node",
             lambda: node("--no-short-builtin-calls")),
            ("Java", "javac", java),
            ("Java -XX:+PreserveFramePointer", "javac",
             lambda: java("-XX:+PreserveFramePointer",
                          "-XX:+UnlockDiagnosticVMOptions",
                          "-XX:+DumpPerfMapAtExit")),
            ("LuaJIT", "luajit", lua),
            ("LuaJIT -joff", "luajit", lambda: lua("-joff")),
            ("PyPy", "pypy3", lambda: python("pypy3")),
            ("mono", "mcs", mono), ("x264", "x264", video),
            ("ffmpeg, x264", "ffmpeg",
             lambda: encode("40", "libx264", "-f", "null", "-")),
            ("ffmpeg, dav1d", "ffmpeg", decode),
            ("OpenCV", "python3:cv2",
             lambda: python("python3", job=CV_JOB)),
            ("GMP", "python3:gmpy2", lambda: python("python3", job=GMP_JOB)),
            ("numpy", "python3:numpy",
             lambda: python("python3", job=NUMPY_JOB)),
            ("MKL", arguments.mkl,
             lambda: [*python("python3", job=MKL_JOB), arguments.mkl]),
            ("openssl speed", "openssl",
             lambda: ["openssl", "speed", "-seconds", "1", "-bytes", "4096",
                      "sha256", "sha512", "md5", "rsa2048", "ecdsap256"]),
            ("Go with cgo", "go", go)]
    for name, tool, make in jobs:
        if not has(tool):
            continue
        with bench.scratch() as folder:
            os.chdir(folder)
            rows.append(measure(sprofile, name, make()))
            os.chdir("/")
    report.add(bench.table(["program", "CPU s", "rooted %", "guessed %",
                            "no name %", "parked", "stopped ms/CPU s"], rows))
    program = sprofile.parent / "tests" / "workload" / "kernels"
    if program.exists():
        rows = [kernels(program, build, name, rate) for rate in (1000, 10000)
                for name, build in bench.builds(arguments).items()]
        report.add("### Callers of kernels")
        report.add(bench.table(["program", "rate", "samples", "right %",
                                "guessed %", "cut %", "wrong %"], rows))
    report.save()


if __name__ == "__main__":
    main()
