# SPDX-License-Identifier: MIT
"""Does anything break or grow when programs that are hard on a profiler run
for long?

The stress workloads of tests/workload run in turn at 10,000 Hz, each for an
equal part of --minutes. Those that end by themselves are started again. The
tables have:

* runs, and those that failed (any other status than 0, or not "ok" as the last
  line);
* anonymous and file-backed resident memory of the process (status, RssAnon and
  RssFile), in the longest run, at a quarter of its life and at its end;
* the anonymous memory of a run without the library, of a quarter of that time,
  which is not part of --minutes;
* samples, and what was lost of them.
"""
import os
import subprocess
import time
from dataclasses import dataclass, field

import bench
import spool

RATE = 10000
WORKLOADS = (("chaos_malloc", lambda s: [s]),
             ("dlopen_loop", lambda s: [1000 * s]),
             ("short_threads", lambda s: [1000 * s]),
             ("masked_signals", lambda s: [1000 * s]),
             ("many_threads", lambda s: [8, max(1, 200 * s)]),
             ("deep_recursion", lambda s: [20000, 900 * s]),
             ("hand_over", lambda s: [400 * s, 400 * s]),
             ("fork_children", lambda s: [200, 20]),
             ("exec_chain", lambda s: [100, 20]))


@dataclass
class Row:
    runs: int = 0
    failed: int = 0
    longest: float = 0
    memory: list = field(default_factory=list)
    samples: int = 0
    lost: int = 0


def resident(pid):
    """(RssAnon, RssFile) in KiB, None for a process that is gone."""
    found = {}
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("RssAnon", "RssFile"):
                    found[name] = int(value.split()[0])
    except OSError:
        return None
    return (found["RssAnon"], found["RssFile"]) if len(found) == 2 else None


def run(build, name, arguments, deadline, row, alone=False):
    program = build / "tests/workload" / name
    with bench.scratch() as directory:
        env = None if alone else bench.preloaded(
            build, directory, SPROF_FREQUENCY=RATE, SPROF_SYMBOLIZE="off",
            SPROF_MAX_SIZE="4G")
        begun, memory = time.monotonic(), []
        with open(directory / "out", "wb") as out:
            process = subprocess.Popen(
                [program, *map(str, arguments)], env=env, stdout=out,
                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            while process.poll() is None:
                if time.monotonic() - begun > deadline:
                    bench.progress(f"stress: {name} hangs, pid {process.pid}")
                    process.kill()
                memory.append(resident(process.pid))
                time.sleep(0.5)
        text = (directory / "out").read_text(errors="replace").split()
        row.runs += 1
        if process.returncode != 0 or text[-1:] != ["ok"]:
            row.failed += 1
            bench.progress(f"stress: {name}: status {process.returncode}, "
                           f"{text[-3:]}")
        if time.monotonic() - begun > row.longest:
            row.longest = time.monotonic() - begun
            row.memory = [pair for pair in memory if pair]
        for path in directory.glob("*.sprof"):
            if os.path.getsize(path) > 2 << 30:
                continue
            counts = spool.Spool(path).counts
            if counts:
                row.samples += counts.taken
                row.lost += sum(counts.lost)


def sizes(row):
    """Anonymous and file-backed memory, at a quarter and at the end."""
    at = len(row.memory) // 4
    early, last = (row.memory[at], row.memory[-1]) if row.memory else \
        ((None, None), (None, None))
    return [f"{bench.number(a, 0)} to {bench.number(b, 0)}"
            for a, b in zip(early, last)]


def cells(name, row, alone):
    return [name, row.runs, row.failed, bench.number(row.longest, 0),
            *sizes(row), sizes(alone)[0], f"{row.samples:,}", f"{row.lost:,}"]


def main():
    parser = bench.options(__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    seconds = max(1, int(arguments.minutes * 60 / len(WORKLOADS)))
    rows = []
    for name, words in WORKLOADS:
        bench.progress(f"stress: {name}")
        row, until = Row(), time.monotonic() + seconds
        while time.monotonic() < until - 1:
            left = max(1, int(until - time.monotonic()))
            run(arguments.build.resolve(), name, words(left), 4 * seconds + 60,
                row)
        alone = Row()
        run(arguments.build.resolve(), name, words(max(1, seconds // 4)),
            4 * seconds + 60, alone, alone=True)
        rows.append(cells(name, row, alone))
    report.add(f"### {arguments.minutes:g} minutes at {RATE:,} Hz")
    report.add(bench.table(
        ["workload", "runs", "failed", "longest, s", "anonymous KiB",
         "file KiB", "anonymous KiB alone", "samples", "lost"], rows))
    report.save()


if __name__ == "__main__":
    main()
