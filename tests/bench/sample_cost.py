# SPDX-License-Identifier: MIT
"""What does a sample cost beyond the interruption itself?

Five programs (python, sqlite3, cc1, node, and a C program 50 frames deep) run
at 1,000 Hz under these:

* event: a perf event that no process hears of (floor.c).
* floor: the same event with SIGTRAP and an empty handler. A profiler that is
  asked for such a rate cannot cost less.
* libsprof with SPROF_COST=off and each trigger, and with its default settings;
  all without symbolizing, which belongs to reading.
* perf record -g and --call-graph dwarf; gperftools; async-profiler by
  LD_PRELOAD with event=cpu, interval=1ms and cstack=dwarf.

A round runs all of them once, with an unprofiled run before the first, after
the last and after every second one. CPU is what wait4 tells of the process and
its children. A run is compared with the mean of the nearest unprofiled runs
before and after it. The order rotates from round to round. "Over the floor" is
a sample's cost less that of an interruption of the floor, of the same program
and round. The numbers are medians over the rounds, with the least and the
greatest in brackets.

The second table has the default settings alone, in runs of 10 s of CPU time.
Each run is between two unprofiled ones.

The third table has what libsprof's own clocks say of short and of long runs
with SPROF_COST=off and perf's trigger: the time for which threads were stopped,
and the sampler's CPU time. Most of a short run's part is for code that is met
for the first time. "A later sample" is what the long runs have more, for each
sample that they have more.
"""
import math
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import bench
import overhead
import perf
import programs
import spool

RATE = 1000
# CPU seconds of a short and of a long run.
LENGTHS = (2, 10)
ASYNC = ("tools.profiler", "async-profiler", "4.4")


@dataclass
class Way:
    """One way to run a program. KIND picks environment, prefix and count."""
    label: str
    kind: str
    detail: str = ""
    build: Path = None


def preload(*flags):
    return bench.compiled("floor", "-shared", "-fPIC", *flags)


def async_profiler():
    """The library of the peer, from its package; None if it cannot be had."""
    place = bench.CACHE / "async-profiler"
    found = next(place.glob("linux-x64/*.so"), None)
    if found or not bench.have("mvn"):
        return found
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mvn", "-q", "dependency:copy",
                    f"-Dartifact={':'.join(ASYNC)}",
                    f"-DoutputDirectory={place}"], check=False,
                   capture_output=True)
    for jar in place.glob("*.jar"):
        shutil.unpack_archive(jar, place, "zip")
    return next(place.glob("linux-x64/*.so"), None)


def ways(arguments):
    found = [Way("event, not heard", "floor", "event"),
             Way("floor: empty handler", "floor", "perf"),
             Way("timer, empty handler", "floor", "timer")]
    for word, build in bench.builds(arguments).items():
        found += [Way(f"libsprof perf{word}", "libsprof", "perf", build),
                  Way(f"libsprof timer{word}", "libsprof", "timer", build),
                  Way(f"libsprof default{word}", "libsprof", "", build)]
    if perf.available():
        found += [Way("perf record -g", "perf", "fp"),
                  Way("perf record dwarf", "perf", "dwarf")]
    if bench.gperftools():
        found.append(Way("gperftools", "gperftools"))
    if async_profiler():
        found.append(Way("async-profiler", "async"))
    wanted = arguments.ways.split(",") if arguments.ways else None
    return [way for way in found if wanted is None or
            any(word in way.label for word in wanted)]


def environment(way, program, directory, rate=RATE):
    if way.kind == "floor":
        return bench.environment(
            LD_PRELOAD=preload(), FLOOR_WAY=way.detail, FLOOR_HZ=rate,
            FLOOR_ONLY=program.only, FLOOR_OUTPUT=directory / "count")
    if way.kind == "libsprof":
        more = {"SPROF_TRIGGER": way.detail} if way.detail \
            else {"SPROF_COST": 1}
        return bench.preloaded(way.build, directory, SPROF_FREQUENCY=rate,
                               SPROF_SYMBOLIZE="off",
                               SPROF_ONLY=program.only or "*", **more)
    if way.kind == "gperftools":
        return bench.environment(LD_PRELOAD=bench.gperftools(),
                                 CPUPROFILE=directory / "cpu.prof",
                                 CPUPROFILE_FREQUENCY=rate)
    if way.kind == "async":
        return bench.environment(
            LD_PRELOAD=async_profiler(),
            ASPROF_COMMAND=f"start,event=cpu,interval={1000000000 // rate},"
                           "cstack=dwarf,loglevel=none,"
                           f"file={directory}/%p.collapsed,collapsed")
    return bench.environment()


def by_its_clocks(way, directory):
    """us of sampler and handler for each sample, None for other tools."""
    if way.kind != "libsprof":
        return None
    counts = [one.counts for one in spool.read_all(directory) if one.counts]
    taken = sum(one.taken for one in counts)
    spent = sum(one.stopped + one.sampler_cpu for one in counts)
    return spent / 1000 / taken if taken else None


def samples_of(way, directory):
    if way.kind == "floor":
        path = directory / "count"
        return int(path.read_text()) if path.exists() else 0
    if way.kind == "libsprof":
        return sum(one.counts.taken for one in spool.read_all(directory)
                   if one.counts)
    if way.kind == "gperftools":
        return sum(overhead.gperftools_samples(path)
                   for path in directory.glob("cpu.prof*"))
    if way.kind == "perf":
        return perf.count(directory / "perf.data")[0]
    if way.kind == "async":
        return sum(int(count) for path in directory.glob("*.collapsed")
                   for count in re.findall(r" (\d+)$", path.read_text(
                       errors="replace"), re.M))
    return 0


def run(program, way, rate=RATE):
    """(CPU seconds, samples, us by its clocks) of one run."""
    with bench.scratch() as directory:
        prefix = perf.record(rate, directory / "perf.data", way.detail) \
            if way.kind == "perf" else []
        usage = program.run(environment(way, program, directory, rate), prefix,
                            stderr=directory / "stderr")
        if usage.status != 0:
            bench.progress(f"{program.name} under {way.label}: wait status "
                           f"{usage.status}")
        return (usage.cpu, samples_of(way, directory),
                by_its_clocks(way, directory))


def one_round(program, chosen, number):
    """{label: (CPU of the run, CPU of the unprofiled beside it, samples, us by
    its clocks)}."""
    turn = number * 3 % len(chosen)
    order = chosen[turn:] + chosen[:turn]
    plain = Way("unprofiled", "")
    before, found = run(program, plain)[0], {"unprofiled": None}
    for at in range(0, len(order), 2):
        mine = [(way, *run(program, way)) for way in order[at:at + 2]]
        after = run(program, plain)[0]
        for way, cpu, samples, spent in mine:
            found[way.label] = (cpu, (before + after) / 2, samples, spent)
        found["unprofiled"] = found["unprofiled"] or (after, before, 0, None)
        before = after
    return found


def measure(program, chosen, rounds):
    run(program, chosen[0])
    found = []
    for number in range(rounds):
        bench.progress(f"sample_cost: {program.name}, round {number + 1} of "
                       f"{rounds}")
        found.append(one_round(program, chosen, number))
    return found


def spread(values, digits=1, sign=""):
    values = list(values)
    if not values:
        return "-"
    middle = format(bench.median(values), f"{sign},.{digits}f")
    return f"{middle} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def cost_us(entry):
    """CPU us for each sample, None without samples."""
    cpu, plain, samples, _ = entry
    return 1e6 * (cpu - plain) / samples if samples else None


def floor_of(label):
    """The empty handler that a run of libsprof is compared with."""
    return "timer, empty handler" if "timer" in label \
        else "floor: empty handler"


def over_floor(rounds, label):
    pairs = [(cost_us(one[label]), cost_us(one[floor_of(label)]))
             for one in rounds if floor_of(label) in one]
    return [mine - floor for mine, floor in pairs
            if mine is not None and floor is not None]


def rows_of(name, rounds):
    rows = []
    for label in rounds[0]:
        entries = [one[label] for one in rounds]
        percent = [100 * (cpu / plain - 1) for cpu, plain, _, _ in entries]
        each = [c for c in map(cost_us, entries) if c is not None]
        rate = [samples / plain for _, plain, samples, _ in entries if samples]
        spent = [one for _, _, _, one in entries if one is not None]
        over = over_floor(rounds, label) if label.startswith("libsprof") else []
        rows.append([name, label, spread(percent, 2, "+"),
                     bench.number(bench.median(rate), 0) if rate else "-",
                     spread(each), spread(over), spread(spent)])
    return rows


def mean_rows(all_rounds):
    """Over the programs: the geometric mean of the medians of CPU, and the mean
    of the medians over the floor and by the library's clocks."""
    rows = []
    labels = next(iter(all_rounds.values()))[0]
    for label in labels:
        ratios = [bench.median(one[label][0] / one[label][1] for one in rounds)
                  for rounds in all_rounds.values()]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        over = [bench.median(values) for values in
                (over_floor(rounds, label) for rounds in all_rounds.values())
                if values] if label.startswith("libsprof") else []
        spent = [bench.median(one[label][3] for one in rounds)
                 for rounds in all_rounds.values()
                 if rounds[0][label][3] is not None]
        rows.append(["all", label, f"{100 * (mean - 1):+.2f}", "", "",
                     *(bench.number(statistics.fmean(some), 1) if some else "-"
                       for some in (over, spent))])
    return rows


def long_rows(arguments):
    """Default settings in runs of ten seconds; a round's last unprofiled run is
    the next one's first."""
    rows, ratios = [], []
    way = Way("libsprof default", "libsprof", "", arguments.build)
    for name in arguments.programs:
        program = sized(name, 10)
        if program is None:
            continue
        before, percent, rate = run(program, Way("", ""))[0], [], []
        for number in range(arguments.rounds):
            bench.progress(f"sample_cost: {name} for 10 s, round {number + 1}")
            cpu, samples, _ = run(program, way)
            after = run(program, Way("", ""))[0]
            plain, before = (before + after) / 2, after
            percent.append(100 * (cpu / plain - 1))
            rate.append(samples / plain)
        ratios.append(1 + bench.median(percent) / 100)
        rows.append([name, spread(percent, 2, "+"),
                     bench.number(bench.median(rate), 0)])
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        rows.append(["all", f"{100 * (mean - 1):+.2f}", ""])
    return rows


def clock_rows(arguments):
    """us a sample by its own clocks in runs of each length, and of a later
    sample."""
    rows, each_row = [], []
    way = Way("libsprof perf", "libsprof", "perf", arguments.build)
    for name in arguments.programs:
        each, total, taken = [], [], []
        for seconds in LENGTHS:
            program = sized(name, seconds)
            if program is None:
                break
            bench.progress(f"sample_cost: clocks of {name} for {seconds} s")
            found = [run(program, way) for _ in range(arguments.rounds)]
            each.append([spent for _, _, spent in found])
            taken.append(bench.median(samples for _, samples, _ in found))
            total.append(bench.median(samples * spent
                                      for _, samples, spent in found))
        if len(each) == len(LENGTHS):
            later = (total[-1] - total[0]) / (taken[-1] - taken[0])
            each_row.append([*map(bench.median, each), later])
            rows.append([name, *map(spread, each), bench.number(later, 1)])
    if rows:
        rows.append(["mean", *(bench.number(statistics.fmean(column), 1)
                               for column in zip(*each_row))])
    return rows


def sized(name, seconds):
    """The program at a scale at which it takes SECONDS of CPU time."""
    made = programs.build([name], 0.4)
    if not made:
        return None
    took = made[0].run(bench.environment()).cpu
    return programs.build([name], max(0.1, round(0.4 * seconds / took, 1)))[0]


def add_first(report, arguments):
    rows, all_rounds = [], {}
    for name in arguments.programs:
        program = sized(name, arguments.cpu_seconds)
        if program is None:
            continue
        all_rounds[name] = measure(program, ways(arguments), arguments.rounds)
        rows += rows_of(name, all_rounds[name])
    report.add(f"### A sample at {RATE:,} Hz ({arguments.rounds} rounds of "
               f"{arguments.cpu_seconds:g} s)")
    report.add(bench.table(
        ["program", "run", "CPU, %", "samples a CPU s", "us a sample",
         "over the floor, us", "by its clocks, us"],
        rows + mean_rows(all_rounds), left=2))


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--programs", type=programs.names,
                        default=list(programs.COST))
    parser.add_argument("--cpu-seconds", type=float, default=2)
    parser.add_argument("--ways", default="", help="words of the labels")
    parser.add_argument("--tables", default="ways,default,clocks",
                        help="which of the three tables")
    bench.add_against(parser)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    tables = arguments.tables.split(",")
    if "ways" in tables:
        add_first(report, arguments)
    if "default" in tables:
        report.add(f"### Default settings ({arguments.rounds} rounds of 10 s)")
        report.add(bench.table(["program", "CPU, %", "samples a CPU s"],
                               long_rows(arguments)))
    if "clocks" in tables:
        report.add("### A sample by libsprof's own clocks, us "
                   f"({arguments.rounds} rounds)")
        report.add(bench.table(
            ["program", *(f"runs of {seconds} s" for seconds in LENGTHS),
             "a later sample"], clock_rows(arguments)))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
