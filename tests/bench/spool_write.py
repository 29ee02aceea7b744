# SPDX-License-Identifier: MIT
"""What does it cost to write the spool, and what is lost by `kill -9`?

crowd.c has 1, 10 or 100 threads that compute, or that sleep for 10 ms at a
time. After a second the spool and /proc/PID/io are read, and again SECONDS
later. Everything is the difference of the two, in the steady state. Ticks,
samples and the sampler's CPU time are the spool's own counters. Samples are
interrupted threads and stacks that were read from outside. "Calls" and
"written" are the write calls of the process and what it gave them. crowd.c
itself writes nothing by then, and a spool that is mapped makes no call.
"Grown" is by how much the records became more. With --against another build
takes turns with this one, such as one from before the spool was written by
pwrite. Cells are medians of all rounds, in brackets the least and the
greatest.

For the second table one thread that computes is killed at a random moment
after half a second. Lost is the CPU time that is not in the profile. The
kernel's account of the dead thread says what it had used by then. The age of
its last sample in the file is subtracted from that. Ages begin where the
profiler does. The clock at the beginning of main stands for that, which is too
late by the constructor's own time.
"""
import contextlib
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import NamedTuple

import bench
import spool

SETTLED = 1.0
THREADS = (1, 10, 100)
KINDS = ("quiet", "busy")
KILLED_FROM, KILLED_TO = 0.5, 1.0


class State(NamedTuple):
    """What is known of a process at some moment."""
    time: float
    calls: int
    written: int
    spool: spool.Spool


class Crowd:
    """A running crowd.c under the library of BUILD, whose files are in
    DIRECTORY."""

    def __init__(self, build, directory, threads, kind, rate):
        self.directory = directory
        self.spool = directory / "crowd.sprof"
        self.pid = bench.start(
            [bench.compiled("crowd"), threads, kind],
            bench.preloaded(build, directory, SPROF_FREQUENCY=rate,
                            SPROF_OUTPUT=f"{directory}/crowd.pb.gz"),
            stdout=directory / "said")

    def look(self):
        """A copy of the spool and the counters of the process."""
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        counters = dict(line.split(": ") for line in lines)
        now = time.monotonic()
        copy = self.directory / f"look.{now}"
        shutil.copy(self.spool, copy)
        return now, int(counters["syscw"]), int(counters["wchar"]), copy

    def kill(self):
        """End it by SIGKILL; ns of CPU time that its main thread had used."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        used = Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]
        os.waitpid(self.pid, 0)
        return int(used)

    def began(self):
        """Its clock at the begin of main, ns."""
        return int((self.directory / "said").read_text().split()[1])


@contextlib.contextmanager
def crowd(build, threads, kind, rate):
    with bench.scratch() as directory:
        yield Crowd(build, directory, threads, kind, rate)


def seen(counts):
    """Samples that cost the sampler something."""
    return counts.taken + counts.peeked


def measure(build, threads, kind, arguments):
    """The numbers of one run, in the order of the table's columns."""
    with crowd(build, threads, kind, arguments.rate) as running:
        time.sleep(SETTLED)
        first = running.look()
        time.sleep(arguments.seconds)
        last = running.look()
        running.kill()
        one, two = (State(*found[:3], spool.Spool(found[3]))
                    for found in (first, last))
    wall = two.time - one.time
    old, new = one.spool.counts, two.spool.counts
    counted = (new.time - old.time) / 1e9
    ticks, samples = new.ticks - old.ticks, seen(new) - seen(old)
    cpu = (new.sampler_cpu - old.sampler_cpu) / 1e3
    return (ticks / counted, samples / counted, cpu / 1e4 / counted,
            cpu / max(ticks, 1), cpu / max(samples, 1),
            (two.calls - one.calls) / wall,
            (two.written - one.written) / wall / 1024,
            (two.spool.used - one.spool.used) / wall / 1024)


def lose(build, rate):
    """ms of CPU time that a kill loses."""
    with crowd(build, 1, "busy", rate) as running:
        time.sleep(random.uniform(KILLED_FROM, KILLED_TO))
        used = running.kill()
        ages = [sample.age for sample in spool.Spool(running.spool).samples
                if sample.state == spool.RUNNING]
        return (used - running.began() - max(ages, default=0)) / 1e6


def cell(values, digits):
    return (f"{bench.number(bench.median(values), digits)} "
            f"({bench.number(min(values), digits)} to "
            f"{bench.number(max(values), digits)})")


def builds(arguments):
    """Those that are measured, by name."""
    return {word.removeprefix(", ").removesuffix(" build") or "this": build
            for word, build in bench.builds(arguments).items()}


def costs(arguments, named):
    """The first table."""
    runs = {(kind, threads, name): [] for kind in KINDS
            for threads in arguments.threads for name in named}
    for i in range(arguments.rounds):
        bench.progress(f"spool_write: round {i + 1}")
        for kind, threads, name in runs if i % 2 == 0 else reversed(runs):
            runs[kind, threads, name].append(
                measure(named[name], threads, kind, arguments))
    rows = [(f"{threads} {kind}", name,
             *(cell(values, digits) for values, digits in
               zip(zip(*found), (0, 0, 2, 1, 1, 0, 1, 1))))
            for (kind, threads, name), found in runs.items()]
    return bench.table(
        ("threads", "build", "ticks a second", "samples a second",
         "sampler CPU %", "CPU us a tick", "CPU us a sample",
         "calls a second", "written KiB a second", "grown KiB a second"),
        rows, left=2)


def losses(arguments, named):
    """The second table."""
    lost = {name: [] for name in named}
    for i in range(arguments.kills):
        bench.progress(f"spool_write: kill {i + 1}")
        for name in named:
            lost[name].append(lose(named[name], arguments.rate))
    rows = [(name, len(found), bench.number(bench.median(found)),
             bench.number(bench.percentile(found, 90)),
             bench.number(max(found))) for name, found in lost.items()]
    return bench.table(("build", "kills", "lost ms, median", "90 %", "most"),
                       rows)


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=7)
    bench.add_against(parser)
    parser.add_argument("--threads", default=",".join(map(str, THREADS)),
                        type=lambda text: [int(n) for n in text.split(",")],
                        help="numbers of threads (1,10,100)")
    parser.add_argument("--seconds", type=float, default=3,
                        help="of each run, after the first (3)")
    parser.add_argument("--rate", type=int, default=1000,
                        help="sample points a second (1000)")
    parser.add_argument("--kills", type=int, default=30,
                        help="runs of the second table (30)")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    named = builds(arguments)
    report = bench.Report(arguments.out)
    report.add(costs(arguments, named))
    report.add(losses(arguments, named))
    report.save()


if __name__ == "__main__":
    main()
