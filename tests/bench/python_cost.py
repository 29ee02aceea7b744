# SPDX-License-Identifier: MIT
"""What do the frames of Python cost? Five programs of the package
pyperformance at 1,000 Hz, with SPROF_PYTHON=1 and with 0.

A round runs each program unprofiled, with and without the frames, and
unprofiled once more. CPU is what wait4 tells of the process, over the mean of
the unprofiled runs beside it. The last row has the sums of all programs. A
ratio is the CPU time with the frames, by that without: of the whole run, and of
what the profiler adds. Symbolizing belongs to reading and is left out. The
handler's times are those of all rounds, from their samples.

The package comes from PyPI, into an environment of its own.
"""
import sys
from pathlib import Path

import bench
import spool
from pypi import PATH, PLACE, PYTHON, fetch

# Loops of each program: some 2 s.
LOOPS = {"chaos": 40, "deltablue": 600, "go": 16, "json_loads": 8000,
         "richards": 60}
WAYS = {"with": 1, "without": 0}


def program(name, scale):
    """The program's own worker: it runs its loops once, in this process."""
    found = next(PLACE.glob("lib/python3.*/site-packages/pyperformance/"
                            f"data-files/benchmarks/bm_{name}"))
    return [PYTHON, str(Path(found) / "run_benchmark.py"), "--worker", "-l",
            str(max(1, int(LOOPS[name] * scale))), "-n", "1", "-w", "0"]


def plain(argv):
    return bench.run(argv, bench.environment(PATH=PATH)).cpu


def profiled(argv, build, python):
    """(CPU seconds, us of each sample in the handler)."""
    with bench.scratch() as directory:
        usage = bench.run(argv, bench.preloaded(
            build, directory, PATH=PATH, SPROF_FREQUENCY=1000,
            SPROF_SYMBOLIZE="off", SPROF_PYTHON=python))
        times = [s.stopped / 1e3 for one in spool.read_all(directory)
                 for s in one.taken() if s.stopped]
    return usage.cpu, times


def measure(name, arguments):
    """[(unprofiled, with, without)] of each round; {way: handler times}."""
    argv, rounds = program(name, arguments.scale), []
    handled = {way: [] for way in WAYS}
    for number in range(arguments.rounds):
        before, cpu = plain(argv), {}
        for way in sorted(WAYS, reverse=number % 2 == 1):
            cpu[way], times = profiled(argv, arguments.build, WAYS[way])
            handled[way] += times
        rounds.append(((before + plain(argv)) / 2, cpu["with"],
                       cpu["without"]))
    return rounds, handled


def ratio(a, b):
    return bench.number(a / b if b > 0 else None)


def row(name, rounds, handled):
    quiet, shown, hidden = (bench.median(one[i] for one in rounds)
                            for i in range(3))
    return [name, bench.number(quiet),
            bench.number(100 * (shown / quiet - 1), 1, " %"),
            bench.number(100 * (hidden / quiet - 1), 1, " %"),
            ratio(shown, hidden), ratio(shown - quiet, hidden - quiet),
            *(bench.number(bench.percentile(handled[way], percent))
              for way in WAYS for percent in (50, 99))]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    fetch("pyperformance")
    rows, every, all_handled = [], [], {way: [] for way in WAYS}
    for name in LOOPS:
        bench.progress(f"python_cost: {name}")
        rounds, handled = measure(name, arguments)
        rows.append(row(name, rounds, handled))
        every.append(rounds)
        for way in WAYS:
            all_handled[way] += handled[way]
    sums = [tuple(sum(one[i] for one in at) for i in range(3))
            for at in zip(*every)]
    rows.append(row("all", sums, all_handled))
    report = bench.Report(arguments.out)
    report.add(f"### Python frames at 1,000 Hz ({arguments.rounds} rounds)")
    report.add(bench.table(
        ["program", "unprofiled s", "CPU added with", "without",
         "with/without, whole", "added", "handler with, median us", "p99",
         "without, median us", "p99"], rows))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
