# SPDX-License-Identifier: MIT
"""What does profiling cost? libsprof, gperftools and perf on the same programs.

One round runs every variant of a program once, unprofiled among them, in an
order that rotates from round to round; a ratio is always taken within a round,
so that a machine that becomes slower for a minute does not make a result. CPU
is what wait4 tells: user and system time of the program and of every process
that was waited for, perf's own included; nothing runs beside it.

* libsprof: at each rate with SPROF_SYMBOLIZE=off (what it costs while the
  program runs) and as it is (with the symbolizing at exit, which the others
  leave to a later command).
* gperftools: LD_PRELOAD=libprofiler.so, CPUPROFILE_FREQUENCY=1000. Its timer
  expires at most CONFIG_HZ times a CPU second, for all threads together.
* perf: record -e cpu-clock --call-graph dwarf -F RATE, without the build-id
  scan at its end and the thread that makes it end on a full second. What its
  start and end cost is in every run, and told below the table.

Since the tools do not reach the same rate, the first table has the samples a
second of CPU time that were really taken, and the CPU cost of one sample: what
the run cost more than the unprofiled one of its round, divided by its samples.
For a tool that was run at several rates the second table has the cost of one
more sample, the slope between its lowest and its highest rate, in which fixed
costs of starting and ending (perf's are large) do not count. Costs within the
spread of the unprofiled runs are noise.
"""
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import bench
import perf
import programs
import spool

PLAIN = "unprofiled"

# On this one the peers are also compared at the rate that gperftools reaches
# with CONFIG_HZ 250, and small costs matter: it gets twice the rounds.
CLOSELY = "busy2"
CLOSE_RATE = 250


@dataclass
class Variant:
    """One way to run a program: the environment, the words before its
    command, and how many samples the files of a run hold."""
    label: str
    tool: str
    rate: int = 0
    symbolize: bool = True

    def environment(self, directory, program, build):
        if self.tool == "libsprof":
            more = {} if self.symbolize else {"SPROF_SYMBOLIZE": "off"}
            return bench.preloaded(build, directory,
                                   SPROF_FREQUENCY=self.rate,
                                   SPROF_ONLY=program.only or "*", **more)
        if self.tool == "gperftools":
            return bench.environment(LD_PRELOAD=bench.gperftools(),
                                     CPUPROFILE=directory / "cpu.prof",
                                     CPUPROFILE_FREQUENCY=self.rate)
        return bench.environment()

    def prefix(self, directory):
        if self.tool == "perf":
            return perf.record(self.rate, directory / "perf.data")
        return []

    def samples(self, directory):
        if self.tool == "libsprof":
            return sum(one.counts.taken for one in spool.read_all(directory)
                       if one.counts)
        if self.tool == "gperftools":
            return sum(gperftools_samples(path)
                       for path in directory.glob("cpu.prof*"))
        if self.tool == "perf":
            return perf.count(directory / "perf.data")[0]
        return 0


@dataclass
class Run:
    wall: float
    cpu: float
    samples: int


def gperftools_samples(path):
    """The sum of the counts in a gperftools profile: native words, a header of
    two words and its body, then records of count, length, addresses."""
    data = Path(path).read_bytes()
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    if len(words) < 2:
        return 0
    at, total = 2 + words[1], 0
    while at + 2 < len(words):
        count, length = words[at], words[at + 1]
        if count == 0:
            break
        total += count
        at += 2 + length
    return total


def variants(rates, build):
    found = [Variant(PLAIN, "")]
    if bench.library(build):
        for rate in rates:
            found.append(Variant(f"libsprof {rate:,}", "libsprof", rate, False))
            found.append(Variant(f"libsprof {rate:,} and exit", "libsprof",
                                 rate))
    if bench.gperftools():
        found.append(Variant("gperftools 1,000", "gperftools", 1000))
    if perf.available():
        found += [Variant(f"perf {rate:,}", "perf", rate) for rate in rates]
    return found


def run(program, variant, build):
    with bench.scratch() as directory:
        usage = program.run(variant.environment(directory, program, build),
                            variant.prefix(directory))
        if usage.status != 0:
            bench.progress(f"{program.name} under {variant.label}: wait status "
                           f"{usage.status}")
        return Run(usage.wall, usage.cpu, variant.samples(directory))


def measure(program, chosen, rounds, build):
    """{label: [Run of each round]}."""
    runs = {variant.label: [] for variant in chosen}
    run(program, chosen[0], build)
    for number in range(rounds):
        bench.progress(f"overhead: {program.name}, round {number + 1} of "
                       f"{rounds}")
        turn = number * len(chosen) // max(1, rounds)
        for variant in chosen[turn:] + chosen[:turn]:
            runs[variant.label].append(run(program, variant, build))
    return runs


def costs(values):
    """Median, minimum and maximum of ratios, as costs in percent."""
    values = [100 * (value - 1) for value in values]
    return (f"{bench.median(values):+.2f} % "
            f"({min(values):+.1f} to {max(values):+.1f})")


def row(program, label, mine, plain):
    pairs = list(zip(mine, plain))
    samples = bench.median(r.samples for r in mine)
    each = [1e6 * (r.cpu - p.cpu) / r.samples for r, p in pairs if r.samples]
    rate = bench.median(r.samples / p.cpu for r, p in pairs)
    return [program.name, label,
            costs(r.cpu / p.cpu for r, p in pairs),
            costs(r.wall / p.wall for r, p in pairs),
            bench.number(samples, 0), bench.number(rate, 0),
            bench.number(bench.median(each), 1)]


def rows(program, chosen, runs):
    plain = runs[PLAIN]
    # Consecutive unprofiled runs against each other: what "no cost" looks
    # like on this machine.
    noise = [b.cpu / a.cpu for a, b in zip(plain, plain[1:])] or [1.0]
    quiet = [b.wall / a.wall for a, b in zip(plain, plain[1:])] or [1.0]
    out = [[program.name,
            f"{PLAIN}: {bench.median(r.cpu for r in plain):.2f} s CPU, "
            f"{bench.median(r.wall for r in plain):.2f} s wall",
            costs(noise), costs(quiet), "-", "-", "-"]]
    for variant in chosen[1:]:
        out.append(row(program, variant.label, runs[variant.label], plain))
    return out


def slope_row(program, chosen, runs, tool, symbolize):
    """The cost of one more sample of one TOOL."""
    mine = [v for v in chosen
            if v.tool == tool and v.symbolize == symbolize]
    if len(mine) < 2:
        return []
    mine.sort(key=lambda variant: variant.rate)
    low, high = mine[0], mine[-1]
    each = [1e6 * (b.cpu - a.cpu) / (b.samples - a.samples)
            for a, b in zip(runs[low.label], runs[high.label])
            if b.samples > a.samples]
    if not each:
        return []
    return [[program.name, tool, f"{low.rate:,} to {high.rate:,} Hz",
             bench.number(bench.median(each)), bench.number(min(each)),
             bench.number(max(each))]]


def fixed_cost(rounds):
    """A sentence on what perf costs without any program to speak of."""
    if not perf.available():
        return ""
    plain, found = [], []
    for _ in range(rounds):
        with bench.scratch() as directory:
            env = bench.environment()
            plain.append(bench.run(["/bin/true"], env))
            found.append(bench.run([*perf.record(
                100, directory / "perf.data"), "/bin/true"], env))
    wall = bench.median(b.wall - a.wall for a, b in zip(plain, found))
    cpu = bench.median(b.cpu - a.cpu for a, b in zip(plain, found))
    return (f"perf's own start and end (record of `true`) are {wall:.2f} s of "
            f"wall and {cpu:.2f} s of CPU time in every one of its runs.")


def measure_all(arguments, rates):
    """The rows of both tables."""
    first, second = [], []
    for program in programs.build(arguments.programs, arguments.scale):
        close = program.name == CLOSELY
        wanted = sorted({*rates, CLOSE_RATE}) if close else rates
        chosen = variants(wanted, arguments.build)
        runs = measure(program, chosen, arguments.rounds * (1 + close),
                       arguments.build)
        first += rows(program, chosen, runs)
        for tool, symbolize in (("libsprof", False), ("perf", True)):
            second += slope_row(program, chosen, runs, tool, symbolize)
    return first, second


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=7)
    parser.add_argument("--programs", type=programs.names,
                        default=programs.ALL)
    parser.add_argument("--rates", default="100,1000,10000")
    parser.add_argument("--scale", type=float, default=0.4)
    arguments = parser.parse_args()
    rates = [int(rate) for rate in arguments.rates.split(",")]
    if not bench.library(arguments.build):
        bench.progress("no libsprof.so; measuring its peers only")
    report = bench.Report(arguments.out)
    first, second = measure_all(arguments, rates)
    report.add(f"### Cost of profiling ({arguments.rounds} rounds, "
               f"{CLOSELY} {2 * arguments.rounds})")
    report.add(bench.table(
        ["program", "variant and asked rate", "CPU cost, median (min to max)",
         "wall cost, median (min to max)", "samples",
         "samples a CPU second", "CPU us a sample"], first, left=2))
    report.add(fixed_cost(5))
    if second:
        report.add("### CPU cost of one more sample, us")
        report.add(bench.table(
            ["program", "tool", "between", "median", "min", "max"], second,
            left=3))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
