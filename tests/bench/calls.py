# SPDX-License-Identifier: MIT
"""How much of a thread's CPU time do system calls have that run for long?

tests/workload/known_cpu.c computes for 50 ms and then reads random numbers for
50 ms or more of its CPU time, in pieces of the size in the first column, eight
times. Its own clock says what share the calls have. The cells are the share
that the profile shows less that share, in points: the median of all rounds, and
in brackets the least and the greatest. With --busy so many other processes
compute meanwhile. The build must have its tests.
"""
import re
import subprocess
import sys

import bench

SIZES = (100_000, 400_000, 4_000_000, 40_000_000)
SETTINGS = (("default", {"SPROF_COST": "1"}), ("full rate", {}),
            ("timers", {"SPROF_TRIGGER": "timer"}))


def run(build, size, variables):
    """(truth, shown) of one run, in percent."""
    program = build.resolve() / "tests" / "workload" / "known_cpu"
    if not program.exists():
        sys.exit(f"bench: no {program}; build with -DSPROF_TESTS=ON")
    with bench.scratch() as directory:
        env = bench.preloaded(build, directory, SPROF_KEEP_SPOOL=0,
                              SPROF_OUTPUT=directory / "p.folded",
                              **variables)
        said = subprocess.run([program, "calls", str(size)], env=env,
                              capture_output=True, text=True, check=True)
        parts = {"call": 0, "user": 0}
        for line in (directory / "p.folded").read_text().splitlines():
            found = re.search(r";(call|user)_part\b.* (\d+)$", line)
            if found:
                parts[found[1]] += int(found[2])
    truth = float(re.search(r"truth: ([\d.]+)", said.stdout)[1])
    return truth, 100 * parts["call"] / max(1, sum(parts.values()))


def main():
    parser = bench.options(__doc__, rounds=7)
    parser.add_argument("--busy", type=int, default=0)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(arguments.busy)]
    rows = []
    for size in SIZES:
        bench.progress(f"calls of {size} bytes")
        truths, errors = [], {name: [] for name, _ in SETTINGS}
        for _ in range(arguments.rounds):
            for name, variables in SETTINGS:
                truth, shown = run(arguments.build, size, variables)
                truths.append(truth)
                errors[name].append(shown - truth)
        rows.append([f"{size / 1e6:g} MB", f"{bench.median(truths):.1f} %"] + [
            f"{bench.median(found):+.1f} ({min(found):+.1f} to {max(found):+.1f})"
            for found in errors.values()])
    for process in busy:
        process.kill()
    report.add(f"### The share of long calls, points beside the truth "
               f"({arguments.rounds} rounds, {arguments.busy} busy processes)")
    report.add(bench.table(["calls of", "truth"] +
                           [name for name, _ in SETTINGS], rows))
    report.save()


main()
