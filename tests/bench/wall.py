# SPDX-License-Identifier: MIT
"""How much wall time do waits have that come in turns, of some ms each?

truth.c polls for 7 ms, waits for a condition for 3, sleeps for 0.5, writes and
fsyncs, and computes for 0.1 ms, in turns, for four seconds. The first column is
the factor of the first three times, the second the threads that do so. The
cells are the error of the function whose share of all wall time is farthest
from its truth, in points: the median of all rounds and the greatest, and what
as many honest samples as there were looks may be wrong by (truth.py), the limit
of that function. The settings bound the looks: one thread has some 1,000 a
second at most. A cell with "!" has a function whose median is beyond 1.5 times
its limit plus 1 point. With --busy so many other processes compute meanwhile.
"""
import math
from collections import Counter

import bench
import tools
import truth

RATE = 1000
TRIGGERS = ("perf", "timer", "ask")
COSTS = {"default": "1", "full rate": "off"}
SCALES = (0.1, 1, 7)
THREADS = (1, 8, 50)
PARTS = ("wait_poll", "wait_cond", "wait_sleep", "wait_fsync", "step_a",
         "step_b")


def run(arguments, scale, threads, trigger, cost):
    """({part: points beside its truth}, {part: limit}) of one run."""
    program = bench.compiled("truth", "-no-pie", "-fno-optimize-sibling-calls",
                             beside=("slices",))
    argv = [program, "waits", arguments.seconds, scale, threads]
    result = tools.sprof(arguments.build, trigger, argv, SPROF_FREQUENCY=RATE,
                         SPROF_COST=cost)
    if result is None or not result.profiles:
        return None
    said, found = truth.Truth(result.lines), Counter()
    for sample, value in truth.values_of(result.profiles, "wall"):
        found[tools.enclosing(sample, set(PARTS))] += value
    true, seen = (truth.shares(times, PARTS) for times in (said.wall, found))
    points = min(sum(said.wall.values()) / 1e9 * RATE,
                 max(1, threads) * result.record.counts.ticks)
    return ({part: 100 * (seen[part] - true[part]) for part in PARTS},
            {part: 196 * math.sqrt(true[part] * (1 - true[part]) / points)
             for part in PARTS})


def cell(runs):
    if not runs:
        return "-"
    errors = {part: [errors[part] for errors, _ in runs] for part in PARTS}
    limits = {part: bench.median(limits[part] for _, limits in runs)
              for part in PARTS}
    middle = {part: bench.median(errors[part]) for part in PARTS}
    worst = max(PARTS, key=lambda part: abs(middle[part]))
    greatest = max(errors[worst], key=abs)
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
