# SPDX-License-Identifier: MIT
"""How much wall time do waits have that come in turns, of some ms each?

truth.c polls for 7 ms, waits for a condition for 3, sleeps for 0.5, writes and
fsyncs, and computes for 0.1 ms, in turns, for four seconds. The first column is
the factor of the first three times, the second the threads that do so. The
cells are the error of the function whose share of all wall time is farthest
from its truth, in points: the median of all rounds and the greatest, and the
limit of that function. The limit is what as many honest looks and samples may
be wrong by, 1.96 standard deviations. Looks tell where a thread waits: the
program logs when each of its functions began and ended, and so many random
instants of the run as there were looks are drawn from that log, thirty times.
(All threads are seen at an instant. Threads that wait for one disk do the same
at the same time, so fifty of them do not tell as much as fifty instants of
one.) Samples tell where it runs: the CPU time of a function is a part of all
that so many samples find. The settings bound the looks: some 1,000 a second at
most. A cell with "!" has a function whose median
is beyond 1.5 times its limit plus 1 point. With --busy so many other processes
compute meanwhile.
"""
import bisect
import math
import random
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import bench
import tools
import truth

RATE = 1000
TRIGGERS = ("perf", "timer", "ask")
COSTS = {"default": "1", "full rate": "off"}
SCALES = (0.1, 1, 7)
THREADS = (1, 8, 50)
DRAWN = 30
PARTS = ("wait_poll", "wait_cond", "wait_sleep", "wait_fsync", "step_a",
         "step_b")


class Log:
    """When each function began and ended, in all threads."""

    def __init__(self, path):
        self.begins, self.ends = ({part: [] for part in PARTS}
                                  for _ in range(2))
        for line in Path(path).read_text().splitlines():
            part, begin, end = line.split()
            self.begins[part].append(int(begin))
            self.ends[part].append(int(end))
        for moments in (*self.begins.values(), *self.ends.values()):
            moments.sort()
        self.first = min(moments[0] for moments in self.begins.values())
        self.last = max(moments[-1] for moments in self.ends.values())

    def shares(self, instants):
        seen = {part: sum(bisect.bisect(self.begins[part], instant) -
                          bisect.bisect(self.ends[part], instant)
                          for instant in instants) for part in PARTS}
        return truth.shares(seen, PARTS)

    def limits(self, count):
        """{part: points that so many honest looks may be wrong by}."""
        drawn = [self.shares([random.uniform(self.first, self.last)
                              for _ in range(count)]) for _ in range(DRAWN)]
        return {part: 196 * statistics.stdev(shares[part] for shares in drawn)
                for part in PARTS}


def of_cpu(said, part, result):
    """Points that PART's share may be wrong by because so few samples tell
    which part used the CPU time."""
    cpu = sum(said.cpu[one] for one in PARTS)
    share = said.cpu[part] / cpu
    samples = max(1, result.record.counts.taken)
    return (196 * math.sqrt(share * (1 - share) / samples) * cpu /
            sum(said.wall[one] for one in PARTS))


def run(arguments, scale, threads, trigger, cost):
    """({part: points beside its truth}, {part: limit}) of one run."""
    program = bench.compiled("truth", "-no-pie", "-fno-optimize-sibling-calls",
                             beside=("slices",))
    with tempfile.NamedTemporaryFile() as log:
        argv = [program, "waits", arguments.seconds, scale, threads, log.name]
        result = tools.sprof(arguments.build, trigger, argv,
                             SPROF_FREQUENCY=RATE, SPROF_COST=cost)
        if result is None or not result.profiles:
            return None
        limits = Log(log.name).limits(result.record.counts.ticks)
    said, found = truth.Truth(result.lines), Counter()
    limits = {part: math.hypot(limits[part], of_cpu(said, part, result))
              for part in PARTS}
    for sample, value in truth.values_of(result.profiles, "wall"):
        found[tools.enclosing(sample, set(PARTS))] += value
    true, seen = (truth.shares(times, PARTS) for times in (said.wall, found))
    return ({part: 100 * (seen[part] - true[part]) for part in PARTS}, limits)


def cell(runs):
    if not runs:
        return "-"
    errors = {part: [errors[part] for errors, _ in runs] for part in PARTS}
    limits = {part: bench.median(limits[part] for _, limits in runs)
              for part in PARTS}
    middle = {part: bench.median(errors[part]) for part in PARTS}
    worst = max(PARTS, key=lambda part: abs(middle[part]))
    greatest = max(errors[worst], key=abs)
    bench.progress(" ".join(f"{part} {middle[part]:+.1f} ({limits[part]:.1f})"
                            for part in PARTS))
    is_wrong = any(abs(middle[part]) > 1.5 * limits[part] + 1 for part in PARTS)
    return (f"{middle[worst]:+.1f} ({greatest:+.1f}; {limits[worst]:.1f})" +
            " !" * is_wrong)


def main():
    parser = bench.options(__doc__, rounds=3)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--scales", nargs="*", type=float, default=SCALES)
    parser.add_argument("--threads", nargs="*", type=int, default=THREADS)
    parser.add_argument("--triggers", nargs="*", default=TRIGGERS)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    ways = [(trigger, cost) for trigger in arguments.triggers for cost in COSTS]
    rows = []
    with bench.busy(arguments.busy):
        for scale in arguments.scales:
            for threads in arguments.threads:
                found = {way: [] for way in ways}
                for _ in range(arguments.rounds):
                    for trigger, cost in ways:
                        one = run(arguments, scale, threads, trigger,
                                  COSTS[cost])
                        if one:
                            found[trigger, cost].append(one)
                rows.append([f"{scale:g}", str(threads)] +
                            [cell(found[way]) for way in ways])
                bench.progress(" | ".join(rows[-1]))
    report.add(f"### Wall time of waits in turns, points beside the truth "
               f"({arguments.rounds} rounds, {arguments.busy} busy processes)")
    report.add(bench.table(["factor", "threads"] +
                           [f"{trigger}, {cost}" for trigger, cost in ways],
                           rows))
    report.save()


main()
