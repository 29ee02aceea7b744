# SPDX-License-Identifier: MIT
"""What do very many threads cost? idle.c at 1,000 Hz.

* 10,000 blocked: threads that wait in a futex, in read and in nanosleep, and
  nothing else. With "and 1 busy" they stand beside a thread that computes.
  1,000 waking: each sleeps for 100 ms at a time. Rounds run every variant
  once, the unprofiled one among them.
* "CPU over unprofiled" is what the process used more in a window, in percent
  of one core. The window begins a second after the last thread started. In it
  some of the threads are looked at for the first time. Ten seconds after the
  last start all have been. The goal for blocked threads is 0.5 or less. Beside
  a busy thread it is what the process used more than that thread.
* "Sampler" is the CPU time of the profiler's own thread as the profile states
  it. It is in percent of one core of the whole run, starting 10,000 threads
  included. "Whole run" is what wait4 says. Start and end and the writing of
  the profile are included.
* The busy thread's shares and their statistical limit are as in
  [Truth](cpu-shares.md#truth). "Its CPU" is the profile's sum for that thread
  over its clock.
* The last table is of a program of 100 blocked threads. After 2 s and after 12
  s it says how much of the spool is written, and its blocks on disk. Nothing
  happens meanwhile, so nothing should be written.
"""
import sys
import time
from concurrent import futures

import bench
import spool
import tools
import truth

RATE = 1000
BUSY = truth.Workload("busy", "", truth.FUNCTIONS)
# Words of the row, how the threads are, and seconds before the window.
CASES = (("blocked", "still", 1), ("blocked, 10 s later", "still", 10),
         ("blocked and 1 busy", "busy", 1), ("waking", "wake", 1))


def program():
    return bench.compiled("idle", "-no-pie", "-fno-optimize-sibling-calls",
                          beside=("slices",))


def window(result):
    """CPU seconds and wall seconds of the window."""
    words = next((w for w in result.lines if w[0] == "window"), None)
    return (int(words[1]) / 1e9, int(words[2]) / 1e9) if words else None


def count_of(result):
    return next((int(w[1]) for w in result.lines if w[0] == "threads"), 0)


def measure(argv, trigger, arguments):
    if trigger == "unprofiled":
        return tools.plain(argv)
    return tools.sprof(arguments.build, trigger, argv, SPROF_FREQUENCY=RATE)


def gather(argv, label, arguments):
    """{trigger: [Result of each round, or None]}."""
    runs = {name: [] for name in ["unprofiled", *arguments.triggers]}
    for number in range(arguments.rounds):
        for trigger, found in runs.items():
            bench.progress(f"scale: {label}, round {number + 1}, {trigger}")
            result = measure(argv, trigger, arguments)
            if result is None or window(result) is None:
                continue
            found.append(result)
    return runs


def busy_cells(results):
    """Largest error, limit, and CPU of the busy thread over its clock."""
    each, sums = [], []
    for result in results:
        found = truth.compare_sprof(BUSY, result)
        if found:
            each.append(truth.errors(found.truth, found.weights,
                                     found.samples, BUSY.shares))
            sums.append(found.worst)
    return [tools.spread([e[0] for e in each], 1),
            bench.number(bench.median(e[1] for e in each
                                      if e[1] is not None), 1),
            tools.spread([e[2] for e in each]), tools.spread(sums, 3)]


def busy_seconds(result):
    return truth.Truth(result.lines).total(0) / 1e9


def sampler_share(result):
    seconds = tools.sampler_seconds(result)
    return None if seconds is None else 100 * seconds / result.usage.wall


def row(label, trigger, results, plain, computing):
    name = trigger if trigger == "unprofiled" else f"libsprof {trigger}"
    if not results:
        return [label, name] + ["-"] * 9
    windows = [window(result) for result in results]
    if computing:
        over = [100 * (cpu - busy_seconds(result)) / wall
                for (cpu, wall), result in zip(windows, results)]
    else:
        over = [100 * (cpu / wall - base[0] / base[1])
                for (cpu, wall), base in zip(windows, map(window, plain))]
    busy = ["-"] * 4
    if computing and trigger != "unprofiled":
        busy = busy_cells(results)
    return [label, name, f"{count_of(results[0]):,}",
            tools.spread([100 * cpu / wall for cpu, wall in windows], 2),
            "-" if trigger == "unprofiled" else tools.spread(over, 2),
            tools.spread([sampler_share(r) for r in results], 2),
            tools.spread([r.usage.cpu for r in results], 2), *busy]


def spool_sizes(arguments, trigger):
    """[(bytes written, bytes of blocks)] after 2 s and after 12 s, None for a
    trigger that is not to be had."""
    if not tools.trigger_works(arguments.build, trigger):
        return None
    found = []
    with bench.scratch() as directory:
        env = bench.preloaded(arguments.build, directory, SPROF_TRIGGER=trigger,
                              SPROF_FREQUENCY=RATE, SPROF_SYMBOLIZE="off")
        pid = bench.start([program(), 100, 0, "still", 14], env)
        begun = time.perf_counter()
        for at in (2, 12):
            time.sleep(max(0, begun + at - time.perf_counter()))
            paths = sorted(directory.glob("*.sprof"))
            if paths:
                found.append((spool.Spool(paths[0]).used,
                              paths[0].stat().st_blocks * 512))
        bench.wait(pid, begun)
    return found if len(found) == 2 else None


def spool_rows(arguments):
    """All triggers at the same time: nothing here depends on speed."""
    for trigger in arguments.triggers:
        tools.trigger_works(arguments.build, trigger)
    bench.progress("scale: spools of idle programs")
    with futures.ThreadPoolExecutor(len(arguments.triggers) or 1) as pool:
        found = pool.map(lambda trigger: spool_sizes(arguments, trigger),
                         arguments.triggers)
    return [spool_row(*pair) for pair in zip(arguments.triggers, found)]


def spool_row(trigger, found):
    if not found:
        return [f"libsprof {trigger}"] + ["-"] * 5
    (early, early_blocks), (late, late_blocks) = found
    return [f"libsprof {trigger}", f"{early:,}", f"{late:,}",
            f"{early_blocks:,}", f"{late_blocks:,}",
            "yes" if found[0] == found[1] else "no"]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=1)
    parser.add_argument("--triggers", type=tools.triggers,
                        default=list(tools.TRIGGERS))
    parser.add_argument("--threads", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    rows = []
    for label, how, before in CASES:
        count = arguments.threads // (10 if how == "wake" else 1)
        runs = gather([program(), count, arguments.seconds, how, before],
                      f"{count:,} {label}", arguments)
        rows += [row(f"{count:,} {label}", trigger, results,
                     runs["unprofiled"], how == "busy")
                 for trigger, results in runs.items()]
    report.add(f"### Many threads at {RATE:,} Hz ({arguments.rounds} rounds, "
               f"windows of {arguments.seconds:g} s)")
    report.add(bench.table(
        ["threads", "run", "started", "CPU, % of a core",
         "CPU over unprofiled, %", "sampler, %", "whole run, s CPU",
         "busy: largest error, points", "limit", "of limit", "its CPU / true"],
        rows, left=2))
    report.add("### The spool of an idle program, bytes")
    report.add(bench.table(
        ["run", "written, 2 s", "12 s", "blocks, 2 s", "12 s", "equal"],
        spool_rows(arguments)))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
