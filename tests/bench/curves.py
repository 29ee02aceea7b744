# SPDX-License-Identifier: MIT
"""How does the cost grow? Five curves, each with one quantity that varies.

* Rate: busy2.c with one thread, and the workload `functions` of truth.c. What
  CPU the profiler adds, and how far its shares are from the truth, at the rates
  asked for. libsprof runs with SPROF_COST=off and without symbolizing.
* Depth: the time in the handler (median and 99th percentile), and the CPU time
  of the sampler for each sample, at the bottom of stacks of that many frames.
* Threads: idle ones that wait, whose CPU time over unprofiled is in percent of
  one core; and busy ones that share a fixed amount of work, in percent of it.
* Code: programs of functions of 1 KiB that are called in random order
  (big_code.py). The resident memory that the library adds, the handler's
  median, and the share of samples that reach their root.
* Time: a program that computes. Growth of the spool and anonymous memory, read
  each --minutes / 12.

The numbers go to a file (--data) from which plots.py draws. Values are medians
of the rounds; a run is compared with the unprofiled run before it.
"""
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import bench
import big_code
import handler
import perf
import programs
import sample_cost
import spool
import stress
import tools
import truth

RATES = (100, 250, 500, 1000, 2000, 5000, 10000)
DEPTHS = (10, 30, 100, 300, 1000, 3000, 10000)
THREADS = (1, 10, 100, 1000, 10000)
CODE = (1000, 10000, 100000, 1000000)  # functions of 1 KiB


def cost_of(program, way, rate):
    """CPU over unprofiled in percent, and samples a CPU second."""
    plain = sample_cost.run(program, sample_cost.Way("", ""))[0]
    cpu, samples, _ = sample_cost.run(program, way, rate)
    return 100 * (cpu / plain - 1), samples / plain


def rate_ways(build):
    found = [sample_cost.Way("floor", "floor", "perf"),
             sample_cost.Way("libsprof", "libsprof", "auto", build)]
    if perf.available():
        found += [sample_cost.Way("perf record -g", "perf", "fp"),
                  sample_cost.Way("perf record dwarf", "perf", "dwarf")]
    if bench.gperftools():
        found.append(sample_cost.Way("gperftools", "gperftools"))
    if sample_cost.async_profiler():
        found.append(sample_cost.Way("async-profiler", "async"))
    return found


def rate_curve(arguments):
    """[{way, rate, cost, reached}]."""
    program, found = sample_cost.sized("deep", arguments.seconds), []
    for rate in RATES:
        bench.progress(f"curves: rate {rate}")
        for way in rate_ways(arguments.build):
            each = [cost_of(program, way, rate)
                    for _ in range(arguments.rounds)]
            found.append({"way": way.label, "rate": rate,
                          "cost": bench.median(cost for cost, _ in each),
                          "reached": bench.median(r for _, r in each)})
    return found


def error_at(tool, rate, arguments):
    """The largest error of a share in points, in one run."""
    workload = truth.WORKLOADS[0]
    argv = [bench.compiled("truth", "-no-pie", "-fno-optimize-sibling-calls",
                           beside=("slices",)), workload.command,
            arguments.seconds]
    if tool in truth.PEERS:
        result = truth.PEERS[tool](argv, rate)
        one = truth.compare_peer(workload, result) if result else None
    else:
        result = tools.sprof(arguments.build, "auto", argv,
                             SPROF_FREQUENCY=rate)
        one = truth.compare_sprof(workload, result) if result else None
    return truth.errors(one.truth, one.weights, one.samples,
                        workload.shares)[0] if one else None


def error_curve(arguments):
    found = []
    for rate in RATES:
        bench.progress(f"curves: error at {rate}")
        for tool in ("libsprof", *truth.PEERS):
            each = [error_at(tool, rate, arguments)
                    for _ in range(arguments.rounds)]
            each = [error for error in each if error is not None]
            if each:
                found.append({"way": tool, "rate": rate,
                              "error": bench.median(each)})
    return found


def depth_curve(arguments):
    found = []
    for depth in DEPTHS:
        bench.progress(f"curves: depth {depth}")
        program = programs.Program("depth", [
            bench.compiled("depth"), depth, arguments.seconds + 1])
        stopped, sampler = [], []
        for _ in range(arguments.rounds):
            spools, *_ = handler.watch_once(
                program, sample_cost.RATE, arguments.build,
                SPROF_MAX_DEPTH=65536)
            stopped += [s.stopped / 1e3 for one in spools for s in one.taken()
                        if s.time >= 1e9 and s.stopped]
            sampler += [one.counts.sampler_cpu / 1e3 / one.counts.taken
                        for one in spools if one.counts and one.counts.taken]
        found.append({"depth": depth, "median": bench.median(stopped),
                      "p99": bench.percentile(stopped, 99),
                      "sampler": bench.median(sampler)})
    return found


def idle_cost(count, arguments):
    argv = [bench.compiled("idle", "-no-pie", "-fno-optimize-sibling-calls",
                           beside=("slices",)), count, arguments.seconds,
            "still", 3]
    shares = []
    for result in (tools.plain(argv),
                   tools.sprof(arguments.build, "auto", argv, symbolize=False)):
        words = next(w for w in result.lines if w[0] == "window")
        shares.append(100 * int(words[1]) / int(words[2]))
    return shares[1] - shares[0]


def thread_curve(arguments):
    found, units = [], int(1250 * arguments.seconds)
    for count in THREADS:
        bench.progress(f"curves: {count} threads")
        program = programs.Program("busy", [bench.compiled("busy2"),
                                            max(1, units // count), count])
        row = {"threads": count}
        for label, detail in (("busy", ""), ("busy, SPROF_COST=off", "auto")):
            way = sample_cost.Way("", "libsprof", detail, arguments.build)
            row[label] = bench.median(
                cost_of(program, way, sample_cost.RATE)[0]
                for _ in range(arguments.rounds))
        row["idle"] = bench.median(idle_cost(count, arguments)
                                   for _ in range(arguments.rounds))
        found.append(row)
    return found


def code_curve(arguments):
    found = []
    for count in CODE:
        bench.progress(f"curves: {count} functions")
        program = programs.Program(
            "big_code", [big_code.make(count), arguments.seconds + 1])
        plain = program.run(bench.environment()).memory
        with bench.scratch() as directory:
            usage = program.run(bench.preloaded(
                arguments.build, directory, SPROF_SYMBOLIZE="off"))
            one = spool.read_all(directory)[0]
        late = [s for s in one.taken() if s.time >= 1e9 and s.stopped]
        found.append({"functions": count, "memory": usage.memory - plain,
                      "median": bench.median(s.stopped / 1e3 for s in late),
                      "p99": bench.percentile(
                          [s.stopped / 1e3 for s in late], 99),
                      "rooted": 100 * sum(one.is_complete(s.node)
                                          for s in late) / max(1, len(late))})
    return found


def time_curve(arguments):
    """One long run: [{minute, spool MiB, anonymous MiB}]."""
    found, step = [], arguments.minutes * 5
    with bench.scratch() as directory:
        env = bench.preloaded(arguments.build, directory, SPROF_MAX_SIZE="8G",
                              SPROF_SYMBOLIZE="off")
        process = subprocess.Popen(
            ["/usr/bin/python3", bench.HERE / "job.py", "1000000"], env=env,
            stdout=subprocess.DEVNULL)
        begun = time.monotonic()
        for number in range(1, 13):
            time.sleep(max(0, begun + number * step - time.monotonic()))
            anonymous = stress.resident(process.pid)
            size = sum(path.stat().st_blocks * 512
                       for path in directory.glob("*.sprof"))
            if anonymous is None:
                break
            found.append({"minute": number * step / 60,
                          "spool": size / 2**20,
                          "anonymous": anonymous[0] / 1024})
        process.kill()
        process.wait()
    return found


CURVES = {"rate": rate_curve, "error": error_curve, "depth": depth_curve,
          "threads": thread_curve, "code": code_curve, "time": time_curve}
TITLES = {"rate": "CPU cost against the rate, busy2.c with one thread",
          "error": "Largest error of a share against the rate, points",
          "depth": "One sample against the depth of the stack, us",
          "threads": "CPU cost against the number of threads, %",
          "code": "Against the size of the code",
          "time": "Against the length of the run"}


def show(name, rows, report):
    report.add(f"### {TITLES[name]}")
    if name in ("rate", "error"):
        value = "cost" if name == "rate" else "error"
        ways_ = list(Counter(row["way"] for row in rows))
        by = {(row["way"], row["rate"]): row for row in rows}
        table = [[f"{rate:,}", *(bench.number(
            by[way, rate][value] if (way, rate) in by else None)
            for way in ways_)] for rate in RATES]
        report.add(bench.table(["asked, Hz", *ways_], table))
        return
    header = list(rows[0]) if rows else []
    report.add(bench.table(header, [
        [f"{row[header[0]]:,}", *(bench.number(row[key])
                                  for key in header[1:])] for row in rows]))


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=3)
    parser.add_argument("--curves", default=",".join(CURVES))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--data", type=Path,
                        default=bench.CACHE / "curves.json",
                        help="the file that plots.py reads; curves that are "
                             "not measured now are kept")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    data = json.loads(arguments.data.read_text()) \
        if arguments.data.exists() else {}
    for name in arguments.curves.split(","):
        data[name] = CURVES[name](arguments)
        show(name, data[name], report)
    arguments.data.parent.mkdir(parents=True, exist_ok=True)
    arguments.data.write_text(json.dumps(data, indent=1) + "\n")
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
