# SPDX-License-Identifier: MIT
"""How much of a thread's CPU time do system calls have that run for long?

A program computes for 50 ms of its CPU time, and then calls preadv(2) for as
long, but once at least, in turns, for four seconds. The file is in memory and
has no content, so that a call is as long as its buffers, and no signal ends it
early. By its own clock the program knows what share the calls have. The cells are the
share that the profile shows less that share, in points: the median of all
rounds, and in brackets the least and the greatest. A cell with "!" has a median
beyond 1.5 times the limit of as many honest samples plus 1 point. The first
column is how long a call took. "-": that trigger took no sample here.

The programs are truth.c, this script, calls.go and calls.js. With --busy so
many other processes compute meanwhile.
"""
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import tools

LENGTHS_MS = (0.1, 1, 10, 100, 500)
LANGUAGES = ("C", "Python", "Go", "node")
TRIGGERS = ("perf", "timer", "ask")
COSTS = {"default": "1", "full rate": "off"}
PART_NS = 50_000_000
BUFFER = 64 << 20
MOST = 0x7ffff000  # bytes of one call (read(2))


def call_user():
    begin = time.thread_time_ns()
    number = 1
    while time.thread_time_ns() - begin < PART_NS:
        for _ in range(1000):
            number = number * 7 % 1000003
    return time.thread_time_ns() - begin


def call_read(fd, buffers):
    begin, count = time.thread_time_ns(), 0
    while time.thread_time_ns() - begin < PART_NS:
        os.preadv(fd, buffers, 0)
        count += 1
    return time.thread_time_ns() - begin, count


def work(seconds, size, path):
    """This script as a workload: SECONDS BYTES FILE."""
    fd = os.open(path, os.O_RDONLY)
    buffer = bytearray(min(size, BUFFER))
    buffers = [buffer] * max(1, size // BUFFER)
    end, user, read, count = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end:
        user += call_user()
        more, calls = call_read(fd, buffers)
        read += more
        count += calls
    print("work call_user", user, user)
    print("work call_read", read, read)
    print("calls", count)


def speed(path):
    """Bytes of the file that a call reads in a ms."""
    fd = os.open(path, os.O_RDONLY)
    buffers, found = [bytearray(BUFFER)] * 8, []
    for _ in range(5):
        begin = time.thread_time_ns()
        size = os.preadv(fd, buffers, 0)
        found.append(size * 1e6 / (time.thread_time_ns() - begin))
    os.close(fd)
    return statistics.median(found)


def programs():
    """{language: the words before the arguments} of those that are there."""
    found = {"C": [bench.compiled("truth", "-no-pie",
                                  "-fno-optimize-sibling-calls",
                                  beside=("slices",)), "calls"],
             "Python": ["/usr/bin/python3", __file__]}
    if bench.have("go"):
        binary = bench.CACHE / "calls.go.bin"
        subprocess.run(["go", "build", "-o", binary, bench.HERE / "calls.go"],
                       env={**os.environ, "GOFLAGS": "-mod=mod"}, check=True)
        found["Go"] = [binary]
    if bench.have("node"):
        found["node"] = ["node", "--perf-basic-prof-only-functions",
                         "--interpreted-frames-native-stack",
                         bench.HERE / "calls.js"]
    return found


def run(build, argv, trigger, cost):
    """(truth in percent, points beside it, the limit, ms of a call)."""
    result = tools.sprof(build, trigger, argv, SPROF_FREQUENCY=1000,
                         SPROF_COST=cost)
    if result is None or not result.profiles:
        return None
    truth = {line[1]: int(line[2]) for line in result.lines
             if line[0] == "work"}
    count = next(int(line[1]) for line in result.lines if line[0] == "calls")
    user, read = truth["call_user"], truth["call_read"]
    share, weights, squares = read / (user + read), {}, 0
    for profile in result.profiles:
        counts = profile.types.index("samples")
        for sample, value in profile.values("cpu"):
            part = tools.enclosing(sample, NAMES).rpartition(".")[2]
            weights[part] = weights.get(part, 0) + value
            if part == "call_user" and value:
                squares += value ** 2 / sample.values[counts]
    known = weights.get("call_user", 0) + weights.get("call_read", 0)
    if not known or not squares:
        return None
    # Kish's sample size: samples of another rate have another weight.
    samples = weights["call_user"] ** 2 / squares
    limit = 196 * math.sqrt(share * (1 - share) * (1 - share) / samples)
    return (100 * share, 100 * (weights.get("call_read", 0) / known - share),
            limit, read / 1e6 / count)


NAMES = {f"{module}{name}" for name in ("call_user", "call_read")
         for module in ("", "main.", "calls.")}


def cell(found):
    errors = [error for _, error, _, _ in found]
    if not errors:
        return "-"
    wide = 1.5 * bench.median(limit for _, _, limit, _ in found) + 1
    mark = " !" if abs(bench.median(errors)) > wide else ""
    return (f"{bench.median(errors):+.1f} ({min(errors):+.1f} to "
            f"{max(errors):+.1f}){mark}")


def main():
    parser = bench.options(__doc__, rounds=7)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--lengths", nargs="*", type=float, default=LENGTHS_MS)
    parser.add_argument("--triggers", nargs="*", default=TRIGGERS)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    chosen = {name: argv for name, argv in programs().items()
              if name in arguments.languages}
    ways = [(trigger, cost) for trigger in arguments.triggers for cost in COSTS]
    rows = []
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        os.truncate(file.name, MOST)
        a_ms = speed(file.name)
        with bench.busy(arguments.busy):
            for name, argv in chosen.items():
                for length in arguments.lengths:
                    size = min(int(a_ms * length), MOST)
                    rows.append(row(arguments, name, [
                        *argv, arguments.seconds, size, file.name], ways))
                    bench.progress(" | ".join(rows[-1]))
    report.add(f"### The share of long calls, points beside the truth "
               f"({arguments.rounds} rounds, {arguments.busy} busy processes)")
    report.add(bench.table(["program", "a call, ms", "truth"] +
                           [f"{trigger}, {cost}" for trigger, cost in ways],
                           rows, left=1))
    report.save()


def row(arguments, name, argv, ways):
    found = {way: [] for way in ways}
    for _ in range(arguments.rounds):
        for trigger, cost in ways:
            one = run(arguments.build, argv, trigger, COSTS[cost])
            if one:
                found[trigger, cost].append(one)
    every = [one for runs in found.values() for one in runs]
    if not every:
        return [name, "-", "-"] + ["-"] * len(ways)
    return [name, f"{bench.median(ms for *_, ms in every):.2f}",
            f"{bench.median(share for share, *_ in every):.1f} %"] + [
                cell(found[way]) for way in ways]


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[3].startswith("/"):
        work(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    else:
        main()
