# SPDX-License-Identifier: MIT
"""Does sampling break waits? Interrupted and shortened ones, counted.

disturb.c has a thread for each call that is never restarted after a handler,
as signal(7) says. It also has threads for some calls that are restarted. Each
has waits of 1 ms, of 100 ms, and without end (woken every 700 ms). The program
counts the returns with EINTR, and those before their time. The time is that of
the clock by which the call waits. (Calls that wait in jiffies may be one jiffy
early at most.) Threads compute a little between waits, so that CPU time is
also used up on the way into one.

* The first table is of all runs: unprofiled, and under libsprof with each
  trigger at each rate. Those of perf and timer and the unprofiled one run at
  the same time. Those of ask run after them (for a third of the time). A count
  of broken waits does not depend on what else computes. But a loaded machine
  is a harder test. "Points" are the samples that were taken.
* The second has the calls that were disturbed most, by run.
* The third is an event loop of 100 us of work and 900 us of epoll_wait. It has
  the EINTRs a second under each trigger. The last row is a thread that signals
  all others 1,000 times a second, one after the other. The numbers are also in
  percent of those of that row.
"""
import sys
import threading
from collections import namedtuple

import bench
import tools

Line = namedtuple("Line", "call length waits interrupted early")
LOOP_SECONDS = 5
CALLS_SHOWN = 5


def program():
    return bench.compiled("disturb", beside=("slices", "waits"))


def lines_of(result):
    return [Line(call, length, *(int(word) for word in rest))
            for call, length, *rest in result.lines]


def taken(result):
    counts = result.record.counts if result.record else None
    return counts.taken if counts else None


def variants(chosen, rates):
    """(label, trigger, rate), the unprofiled one first."""
    return [("unprofiled", "", 0)] + [
        (f"libsprof {trigger} {rate:,}", trigger, rate)
        for trigger in chosen for rate in rates]


def one(variant, seconds, arguments, results):
    """Run one variant; None for a trigger that is not to be had."""
    label, trigger, rate = variant
    argv = [program(), seconds]
    results[label] = tools.plain(argv) if not trigger else tools.sprof(
        arguments.build, trigger, argv, symbolize=False, SPROF_FREQUENCY=rate)


def together(batch, seconds, arguments, results):
    """Run a batch at the same time."""
    if not batch:
        return
    bench.progress(f"disturb: {len(batch)} runs of {seconds:g} s")
    threads = [threading.Thread(target=one,
                                args=(variant, seconds, arguments, results))
               for variant in batch]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_all(chosen, arguments):
    for trigger in arguments.triggers:
        tools.trigger_works(arguments.build, trigger)
    results = {}
    together([v for v in chosen if v[1] != "ask"], arguments.seconds,
             arguments, results)
    together([v for v in chosen if v[1] == "ask"], arguments.seconds / 3,
             arguments, results)
    return results


def summed(lines, short):
    chosen = [line for line in lines if (line.length == "short") == short]
    return [f"{sum(getattr(line, name) for line in chosen):,}"
            for name in ("waits", "interrupted", "early")]


def total_row(label, result):
    if result is None:
        return [label] + ["-"] * 7
    lines = lines_of(result)
    return [label, bench.number(taken(result), 0), *summed(lines, False),
            *summed(lines, True)]


def call_rows(label, result):
    hit = [line for line in (lines_of(result) if result else [])
           if line.interrupted or line.early]
    hit.sort(key=lambda line: -(line.interrupted + line.early) / line.waits)
    rows = [[label, line.call, line.length, f"{line.waits:,}",
             f"{line.interrupted:,}", f"{line.early:,}"]
            for line in hit[:CALLS_SHOWN]]
    if hit[CALLS_SHOWN:]:
        rows.append([label, f"and {len(hit) - CALLS_SHOWN} more", *"----"])
    return rows


def loop_rates(arguments):
    """{label: [EINTRs a second of each round]}."""
    argv = [program(), "loop", arguments.loop_seconds]
    found = {trigger: [] for trigger in ["unprofiled", *arguments.triggers,
                                         "everyone"]}
    for number in range(arguments.rounds):
        bench.progress(f"disturb: loop, round {number + 1}")
        for label, values in found.items():
            if label in ("unprofiled", "everyone"):
                result = tools.plain(argv + [label] * (label == "everyone"))
            else:
                result = tools.sprof(arguments.build, label, argv,
                                     symbolize=False, SPROF_FREQUENCY=1000)
            if result:
                count = sum(line.interrupted for line in lines_of(result))
                values.append(count / arguments.loop_seconds)
    return found


def loop_row(label, values, everyone):
    name = (f"libsprof {label}" if label in tools.TRIGGERS else
            "signal everyone" if label == "everyone" else label)
    if not values:
        return [name, "-", "-"]
    shares = [100 * mine / theirs for mine, theirs in zip(values, everyone)
              if theirs]
    return [name, tools.spread(values, 1), tools.spread(shares, 2, " %")]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=3)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--loop-seconds", type=float, default=LOOP_SECONDS)
    parser.add_argument("--triggers", type=tools.triggers,
                        default=list(tools.TRIGGERS))
    parser.add_argument("--rates", default="100,1000,10000")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    program()
    rates = [int(rate) for rate in arguments.rates.split(",")]
    chosen = variants(arguments.triggers, rates)
    results = run_all(chosen, arguments)
    report = bench.Report(arguments.out)
    report.add(f"### Waits under a profiler ({arguments.seconds:g} s, ask "
               f"{arguments.seconds / 3:g} s)")
    report.add(bench.table(
        ["run", "points", "waits of 100 ms and more", "EINTR", "early",
         "shorter waits", "EINTR", "early"],
        [total_row(v[0], results[v[0]]) for v in chosen]))
    rows = [row for v in chosen for row in call_rows(v[0], results[v[0]])]
    if rows:
        report.add("### Calls that were disturbed")
        report.add(bench.table(["run", "call", "length", "waits", "EINTR",
                                "early"], rows, left=3))
    report.add(f"### EINTRs a second of an event loop ({arguments.rounds} "
               f"rounds of {arguments.loop_seconds:g} s)")
    found = loop_rates(arguments)
    report.add(bench.table(
        ["run", "EINTRs a second", "of signal everyone"],
        [loop_row(label, values, found["everyone"])
         for label, values in found.items()]))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
