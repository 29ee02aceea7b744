# SPDX-License-Identifier: MIT
"""Runs a program of ours plain and under each tool, and reads what the tool
wrote as (function, thread, state, values) where it knows them.

A trigger that libsprof does not have, or that does not work here, gives no
result: the tables have "-" for it. Whether it was that trigger that took the
samples is read from the spool, not believed.
"""
import bisect
import contextlib
import functools
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import bench
import perf
import pprof
import spool

TRIGGERS = ("perf", "timer", "ask")



@dataclass
class Result:
    """One run: its cost, the lines it printed, and what the tool left."""
    usage: bench.Usage
    lines: list
    profiles: list = field(default_factory=list)  # one of each process
    record: spool.Spool = None
    leaves: list = field(default_factory=list)  # (function, weight ns, count)

    @property
    def profile(self):
        """The profile of a run of one process."""
        return self.profiles[0] if self.profiles else None


def triggers(text):
    """Parses a --triggers argument."""
    chosen = [name for name in text.split(",") if name]
    wrong = [name for name in chosen if name not in (*TRIGGERS, "auto")]
    if wrong:
        raise ValueError(f"no trigger {wrong[0]!r}")
    return chosen


@contextlib.contextmanager
def on_cpus(cpus):
    """Children started within stay on the first CPUS processors; all if 0."""
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, sorted(before)[:cpus])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run(argv, env, directory, prefix=(), cpus=0):
    out, errors = directory / "stdout", directory / "stderr"
    with on_cpus(cpus):
        usage = bench.run([*prefix, *argv], env, stdout=out, stderr=errors)
    if usage.status != 0:
        bench.progress(f"{argv[0]} {argv[1:]}: wait status {usage.status}; "
                       f"{errors.read_text(errors='replace')[-300:]}")
    text = out.read_text(encoding="utf-8", errors="replace")
    return Result(usage, [line.split() for line in text.splitlines()])


def plain(argv, cpus=0):
    with bench.scratch() as directory:
        return run(argv, bench.environment(), directory, cpus=cpus)


@functools.lru_cache(maxsize=None)
def trigger_works(build, trigger):
    """Whether samples come from TRIGGER here: half a second of computing."""
    with bench.scratch() as directory:
        env = bench.preloaded(build, directory, SPROF_TRIGGER=trigger,
                              SPROF_SYMBOLIZE="off", SPROF_FREQUENCY=1000)
        bench.run([bench.compiled("depth"), 5, 0.5], env)
        found = triggers_of(directory)
        if not read_spools(directory) and list(directory.glob("*.sprof")):
            return True  # not understood here, which was said
    if trigger != "auto" and trigger not in found:
        bench.progress(f"libsprof has no samples by trigger {trigger} here; "
                       "it is left out")
        return False
    return bool(found)


def read_spools(directory):
    try:
        return spool.read_all(directory)
    except (ValueError, struct.error) as error:
        bench.progress(f"the spool is not understood: {error}")
        return []


def triggers_of(directory):
    """The triggers that took samples."""
    return {spool.TRIGGERS[sample.trigger]
            for one in read_spools(directory) for sample in one.samples}


def sprof(build, trigger, argv, cpus=0, symbolize=True, **variables):
    """A run under libsprof at any price, unless VARIABLES say another one; None
    if TRIGGER is not to be had."""
    if not bench.library(build) or not trigger_works(build, trigger):
        return None
    with bench.scratch() as directory:
        env = bench.preloaded(
            build, directory, SPROF_TRIGGER=trigger,
            SPROF_SYMBOLIZE="exit" if symbolize else "off", **variables)
        result = run(argv, env, directory, cpus=cpus)
        spools = read_spools(directory)
        result.record = spools[0] if spools else None
        if symbolize and not list(directory.glob("*.pb.gz")):
            convert(build, directory)
        result.profiles = [pprof.Profile(path)
                           for path in sorted(directory.glob("*.pb.gz"))]
    return result


def convert(build, directory):
    """A process that ended by a system call of its own has left a spool."""
    for path in directory.glob("*.sprof"):
        subprocess.run([Path(build).resolve() / "sprofile", "convert", path,
                        path.with_suffix(".pb.gz")], check=True,
                       stdout=subprocess.DEVNULL)


def gperftools(argv, rate, cpus=0):
    """A run under gperftools; its leaves by the symbols of the program, which
    must not be position-independent."""
    if not bench.gperftools():
        return None
    with bench.scratch() as directory:
        path = directory / "cpu.prof"
        env = bench.environment(LD_PRELOAD=bench.gperftools(), CPUPROFILE=path,
                                CPUPROFILE_FREQUENCY=rate)
        result = run(argv, env, directory, cpus=cpus)
        if not path.exists():
            return None
        period, records = gperftools_records(path)
    symbols = Symbols(argv[0])
    result.leaves = [(symbols.name(leaf), count * period, count)
                     for count, leaf in records]
    return result


def gperftools_records(path):
    """(period in ns, [(count, leaf)]) of a profile: native words; a header of
    two words and its body, which ends with period in us and padding; then
    records of count, length and addresses."""
    data = path.read_bytes()
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    at, records = 2 + words[1], []
    while at + 2 < len(words) and words[at]:
        records.append((words[at], words[at + 2]))
        at += 2 + words[at + 1]
    return words[3] * 1000, records


class Symbols:
    """The functions of a file by address, as nm tells them."""

    def __init__(self, path):
        done = subprocess.run(["nm", "-S", "--defined-only", str(path)],
                              capture_output=True, text=True, check=True)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.ranges = sorted((int(w[0], 16), int(w[1], 16), w[3])
                             for w in lines if len(w) == 4 and w[2] in "tTwW")
        self.starts = [start for start, _, _ in self.ranges]

    def name(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= sum(self.ranges[at][:2]):
            return ""
        return self.ranges[at][2]


def perf_record(argv, rate, cpus=0):
    """A run under perf record; its leaves by perf's own symbols."""
    if not perf.available():
        return None
    with bench.scratch() as directory:
        data = directory / "perf.data"
        result = run(argv, bench.environment(), directory,
                     perf.record(rate, data, "fp"), cpus)
        blocks = perf.script(data).split("\n\n")
    for block in blocks:
        first, *frames = block.strip("\n").split("\n")
        if not first or first.split()[0] in ("perf", "perf-exec"):
            continue
        leaf = perf.user_frame(frames)
        result.leaves.append((leaf.name if leaf else "", 1e9 / rate, 1))
    return result


def async_profiler(argv, rate, cpus=0):
    """A run under async-profiler; its leaves but for the kernel's frames."""
    if not bench.async_profiler():
        return None
    with bench.scratch() as directory:
        path = directory / "collapsed"
        env = bench.environment(
            LD_PRELOAD=bench.async_profiler(),
            ASPROF_COMMAND=f"start,event=cpu,interval={1000 // rate}ms,"
                           f"collapsed,file={path}")
        result = run(argv, env, directory, cpus=cpus)
        lines = path.read_text().splitlines() if path.exists() else []
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        frames = [frame for frame in stack.split(";")
                  if not frame.endswith("_[k]")]
        result.leaves.append((frames[-1] if frames else "",
                              int(count) * 1e9 / rate, int(count)))
    return result if lines else None


def enclosing(sample, known):
    """The function of KNOWN that is nearest to the leaf, '' if none is."""
    for frame in sample.frames:
        for name in frame.functions:
            if name in known:
                return name
    return ""


def on_cpu(sample):
    """Whether this sample is of a thread that ran."""
    return sample.labels.get("state") == "running"


def sampler_seconds(result):
    """The sampler's CPU time as the profile states it, None if it does not."""
    counts = result.record.counts if result and result.record else None
    return counts.sampler_cpu / 1e9 if counts else None


def spread(values, digits=2, unit=""):
    """'median (min to max)', '-' of nothing."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    if len(values) == 1:
        return bench.number(values[0], digits, unit)
    return (f"{bench.number(bench.median(values), digits, unit)} "
            f"({min(values):,.{digits}f} to {max(values):,.{digits}f})")
