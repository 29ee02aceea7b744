# SPDX-License-Identifier: MIT
"""What does profiling cost? libsprof, gperftools and perf on the same
programs.

One round runs every variant of a program once, unprofiled among them. The
order rotates from round to round. A ratio is always taken within a round. So a
machine that becomes slower for a minute does not make a result. CPU is what
wait4 tells: user and system time of the program and of every process that was
waited for, perf's own included. Nothing runs beside it.

* libsprof runs at each rate in two ways. With SPROF_SYMBOLIZE=off it shows
  what it costs while the program runs. As it is, it does the symbolizing at
  exit, too, which the others leave to a later command. At 1,000 Hz it also
  runs with each trigger by itself (--triggers), without symbolizing.
* gperftools: LD_PRELOAD=libprofiler.so, CPUPROFILE_FREQUENCY=1000. Its timer
  expires at most CONFIG_HZ times a CPU second, for all threads together.
* perf: record -e cpu-clock --call-graph dwarf -F RATE. It runs without the
  build-id scan at its end, and without the thread that delays its end to a
  full second. What its start and end cost is in every run, and told below the
  table.

The tools do not reach the same rate. So the first table has the samples that
were really taken in a second of CPU time, and one sample's CPU cost. That cost
is what the run cost more than the unprofiled one of its round, divided by its
samples. For a tool that was run at several rates the second table has the cost
of one more sample. It is the slope between the tool's lowest and highest rate.
Fixed costs of starting and ending (perf's are large) do not count there. Costs
within the spread of the unprofiled runs are noise.

The last lines are for each trigger at 1,000 Hz, without symbolizing. They are
the geometric means of the five real programs' CPU costs. With --only-triggers
only that is measured, precisely: programs of --cpu-seconds of CPU time, in
many rounds. Each profiled run is between two unprofiled ones and is compared
with their mean. So a machine whose speed drifts does not matter. The range is
two standard errors of the rounds' geometric means. With --against the triggers
of another build are measured in the same rounds.
"""
import math
import statistics
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import bench
import perf
import programs
import spool
import tools

PLAIN = "unprofiled"
TRIGGER_RATE = 1000

# On this one the peers are also compared at the rate that gperftools reaches
# with CONFIG_HZ 250, and small costs matter: it gets twice the rounds.
CLOSELY = "busy2"
CLOSE_RATE = 250

COLUMNS = ["program", "variant and asked rate", "CPU cost, median (min to max)",
           "wall cost, median (min to max)", "samples", "samples a CPU second",
           "CPU us a sample"]


@dataclass
class Variant:
    """One way to run a program: the environment, the words before its
    command, and how many samples the files of a run hold."""
    label: str
    tool: str
    rate: int = 0
    symbolize: bool = True
    trigger: str = "auto"
    build: Path = None

    def environment(self, directory, program, build):
        build = self.build or build
        if self.tool == "libsprof":
            more = {} if self.symbolize else {"SPROF_SYMBOLIZE": "off"}
            if self.trigger != "auto":
                more["SPROF_TRIGGER"] = self.trigger
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
        if self.tool == "libsprof" and self.trigger != "auto":
            return sum(sample.count for one in spool.read_all(directory)
                       for sample in one.samples
                       if spool.TRIGGERS[sample.trigger] == self.trigger)
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


def trigger_variants(chosen, builds):
    """One for each trigger that is to be had here, of each of the BUILDS."""
    return [Variant(f"libsprof {trigger} {TRIGGER_RATE:,}{word}", "libsprof",
                    TRIGGER_RATE, False, trigger, build)
            for trigger in chosen for word, build in builds.items()
            if bench.library(build) and tools.trigger_works(build, trigger)]


def variants(rates, chosen, build):
    found = [Variant(PLAIN, "")]
    if bench.library(build):
        for rate in rates:
            found.append(Variant(f"libsprof {rate:,}", "libsprof", rate, False))
            found.append(Variant(f"libsprof {rate:,} and exit", "libsprof",
                                 rate))
    found += trigger_variants(chosen, {"": build})
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
            if v.tool == tool and v.symbolize == symbolize
            and v.trigger == "auto"]
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


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(value) for value in ratios))


class Means:
    """CPU ratios of the real programs by trigger, for the last lines."""

    def __init__(self, triggers, words=("",)):
        keys = [trigger + word for trigger in triggers for word in words]
        self.ratios = {key: {} for key in keys}
        self.rates = {key: [] for key in keys}

    def add(self, program, variant, pairs, word=""):
        """PAIRS are the runs under VARIANT and the unprofiled beside them, WORD
        names its build."""
        key = variant.trigger + word
        if program.name in programs.REAL and key in self.ratios:
            self.ratios[key][program.name] = [
                mine.cpu / plain.cpu for mine, plain in pairs]
            self.rates[key] += [mine.samples / plain.cpu
                                for mine, plain in pairs]

    def line(self, trigger):
        ratios, rates = self.ratios[trigger], self.rates[trigger]
        name, _, word = trigger.partition(", ")
        name += f" trigger ({word})" if word else " trigger"
        text = (f"Geometric mean of the CPU cost of the {name} at "
                f"{TRIGGER_RATE:,} Hz over {len(ratios)} programs: ")
        if not ratios:
            return text + "-."
        middle = geometric_mean(bench.median(v) for v in ratios.values())
        each = [geometric_mean(values) for values in zip(*ratios.values())]
        text += f"{100 * (middle - 1):+.2f} %"
        if len(each) > 1:
            error = 200 * statistics.stdev(each) / math.sqrt(len(each))
            mean = 100 * (statistics.fmean(each) - 1)
            text += (f" (mean of the rounds {mean:+.2f} %, "
                     f"{mean - error:+.2f} to {mean + error:+.2f})")
        return (text + f", with {bench.median(rates):,.0f} samples a CPU "
                f"second ({min(rates):,.0f} to {max(rates):,.0f}).")

    def text(self):
        """All lines, that of perf last."""
        return "\n".join(self.line(t) for t in sorted(
            self.ratios, key=lambda trigger: trigger.startswith("perf")))


def sized(name, arguments):
    """The program at a scale at which it takes --cpu-seconds."""
    made = programs.build([name], 0.4)
    if not made:
        return None
    took = made[0].run(bench.environment()).cpu
    scale = max(0.1, math.ceil(4 * arguments.cpu_seconds / took) / 10)
    return programs.build([name], scale)[0]


def missing_rows(name, chosen, triggers):
    """A row of dashes for each trigger that is not to be had."""
    had = {variant.trigger for variant in chosen}
    return [[name, f"libsprof {trigger} {TRIGGER_RATE:,}"] + ["-"] * 5
            for trigger in triggers if trigger not in had]


def alternate(program, chosen, arguments):
    """Runs of each of CHOSEN between two unprofiled ones: {label: [(Run, mean
    CPU and wall of the unprofiled beside it)]}."""
    found = {variant.label: [] for variant in chosen}
    plain = Variant(PLAIN, "")
    before = run(program, plain, arguments.build)
    for number in range(arguments.rounds):
        bench.progress(f"overhead: {program.name}, round {number + 1} of "
                       f"{arguments.rounds}")
        for variant in chosen:
            mine = run(program, variant, arguments.build)
            after = run(program, plain, arguments.build)
            beside = Run((before.wall + after.wall) / 2,
                         (before.cpu + after.cpu) / 2, 0)
            found[variant.label].append((mine, beside))
            before = after
    return found


def only_triggers(arguments, report):
    """The precise measurement: triggers only."""
    builds = bench.builds(arguments)
    chosen = trigger_variants(arguments.triggers, builds)
    words = {build: word for word, build in builds.items()}
    table, means = [], Means(arguments.triggers, builds)
    for name in arguments.programs:
        table += missing_rows(name, chosen, arguments.triggers)
        program = sized(name, arguments) if chosen else None
        if program is None:
            continue
        found = alternate(program, chosen, arguments)
        for variant in chosen:
            pairs = found[variant.label]
            mine, plain = zip(*pairs)
            table.append(row(program, variant.label, mine, plain))
            means.add(program, variant, pairs, words[variant.build])
    report.add("### CPU cost of the triggers, between unprofiled runs "
               f"({arguments.rounds} rounds of {arguments.cpu_seconds:g} s)")
    report.add(bench.table(COLUMNS, table, left=2))
    report.add(means.text())
    floor(report, arguments.rounds)


def floor(report, rounds):
    """What interruptions cost here by themselves (trigger_floor.c)."""
    ways = {"event": "a perf event without a signal",
            "perf": "one that sends SIGTRAP to an empty handler",
            "timer": "a CPU timer with an empty handler"}
    lines = subprocess.run([bench.compiled("trigger_floor"), str(1000),
                            str(rounds)], capture_output=True, text=True,
                           check=False).stdout.splitlines()
    found = [line.split() for line in lines]
    rows_ = []
    for way, words in ways.items():
        costs_ = [int(value) / 1000 for name, value in found if name == way]
        if costs_:
            rows_.append([words, bench.number(bench.median(costs_), 1),
                          bench.number(min(costs_), 1),
                          bench.number(max(costs_), 1)])
    report.add("### The floor: CPU us an interruption at 1,000 Hz, "
               "no profiler at all")
    report.add(bench.table(["way", "median", "min", "max"], rows_))


def measure_all(arguments, rates):
    """The rows of both tables, and the last lines."""
    first, second, means = [], [], Means(arguments.triggers)
    for program in programs.build(arguments.programs, arguments.scale):
        close = program.name == CLOSELY
        wanted = sorted({*rates, CLOSE_RATE}) if close else rates
        chosen = variants(wanted, arguments.triggers, arguments.build)
        runs = measure(program, chosen, arguments.rounds * (1 + close),
                       arguments.build)
        first += rows(program, chosen, runs)
        first += missing_rows(program.name, chosen, arguments.triggers)
        for tool, symbolize in (("libsprof", False), ("perf", True)):
            second += slope_row(program, chosen, runs, tool, symbolize)
        for variant in chosen[1:]:
            means.add(program, variant, list(zip(runs[variant.label],
                                                 runs[PLAIN])))
    return first, second, means.text()


def options():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0],
                           rounds="7, or 11 with --only-triggers")
    parser.set_defaults(rounds=None)
    parser.add_argument("--programs", type=programs.names)
    parser.add_argument("--rates", default="100,1000,10000")
    parser.add_argument("--scale", type=float, default=0.4)
    parser.add_argument("--triggers", type=tools.triggers,
                        help="default: perf,timer,ask; perf with "
                             "--only-triggers; '' for none")
    parser.add_argument("--only-triggers", action="store_true")
    parser.add_argument("--cpu-seconds", type=float, default=4)
    bench.add_against(parser)
    found = parser.parse_args()
    only = found.only_triggers
    found.rounds = found.rounds or (11 if only else 7)
    found.programs = found.programs or (programs.REAL if only
                                        else programs.ALL)
    if found.triggers is None:
        found.triggers = ["perf"] if only else list(tools.TRIGGERS)
    return found


def main():
    arguments = options()
    rates = [int(rate) for rate in arguments.rates.split(",")]
    report = bench.Report(arguments.out)
    if arguments.only_triggers:
        bench.require_library(arguments.build)
        only_triggers(arguments, report)
        report.save()
        return
    if not bench.library(arguments.build):
        bench.progress("no libsprof.so; measuring its peers only")
    first, second, last = measure_all(arguments, rates)
    report.add(f"### Cost of profiling ({arguments.rounds} rounds, "
               f"{CLOSELY} {2 * arguments.rounds})")
    report.add(bench.table(COLUMNS, first, left=2))
    report.add(fixed_cost(5))
    if second:
        report.add("### CPU cost of one more sample, us")
        report.add(bench.table(
            ["program", "tool", "between", "median", "min", "max"], second,
            left=3))
    if last:
        report.add(last)
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
