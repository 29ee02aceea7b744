# SPDX-License-Identifier: MIT
"""Is the sum of a profile's CPU time that of the threads?

tests/workload/crowds.c has so many threads that use 0.8 s of CPU time together, and end in the
way that the row names. "raw" is the system call exit(2) of each thread. With
exit, _exit and exit_group (the system call) they still run when the process
ends. A cell is what the profile shows, less what the threads' own clocks have
read at the end of their work, in percent of that. A cell with "!" is wrong by
more than 0.1 % (1 % if each thread computes for less than 1 ms): it is below
that sum, or above the process's clock less the sampler's. "WRONG" is the
reader's own check, and "lost" are samples that found no free slot, in percent
of those that were asked for. "5 s" is the time from start to end, where that is
long. With --busy so many other processes compute meanwhile; with --gate no
thread begins before all exist. The build must have its tests.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

import bench
import spool

TOTAL_US = 800_000
THREADS = (1, 16, 64, 256, 1000, 5000)
ENDINGS = ("return", "pthread_exit", "cancel", "raw", "exit", "_exit",
           "exit_group")
TRIGGERS = ("auto", "perf", "timer", "ask")
SETTINGS = {"default": {}, "full rate": {"SPROF_COST": "off"}}
LOST_SHOWN = 2  # percent
LIMIT = 120  # seconds of a run
LONG = 3  # seconds of a run that are shown


def settings(trigger, setting):
    variables = {"SPROF_TRIGGER": trigger, **SETTINGS[setting]}
    if not SETTINGS[setting]:
        variables["SPROF_COST"] = "1"
    return variables


def said(words, name):
    return int(re.search(rf"^{name} (\d+)$", words, re.M)[1])


def run(arguments, threads, ending, variables):
    """The cell of one run."""
    each = TOTAL_US // threads
    with bench.scratch() as directory:
        env = bench.preloaded(arguments.build, directory,
                              SPROF_SYMBOLIZE="off",
                              SPROF_OUTPUT=directory / "p.folded", **variables)
        usage = bench.run([arguments.program, threads, ending, each] +
                          ["gate"] * arguments.gate, env, LIMIT,
                          stdout=directory / "said")
        words = (directory / "said").read_text()
        file = directory / "p.sprof"
        if usage.status != 0 or not file.exists():
            return f"status {usage.status}!"
        tool = arguments.build.resolve() / "sprofile"
        info = subprocess.run([tool, "info", file], capture_output=True,
                              text=True, check=True).stdout
        shown = json.loads(subprocess.run(
            [tool, "report", "--json", "-n", "1", file], capture_output=True,
            text=True, check=True).stdout)["totals"]["cpu_ns"]
        counts = spool.Spool(file).counts
    return cell(said(words, "threads"), shown, usage, counts, info,
                0.001 if each >= 1000 else 0.01)


def cell(truth, shown, usage, counts, info, most):
    used = usage.cpu * 1e9 - (counts.sampler_cpu if counts else 0)
    text = f"{100 * (shown / truth - 1):+.2f}"
    if shown < truth * (1 - most) or shown > used * (1 + most):
        text += " !"
    if re.search("^WRONG", info, re.M):
        text += " WRONG"
    lost = re.search(r"(\d+) ring full", info)
    asked = re.search(r"^lost .* of (\d+) asked", info, re.M)
    if lost and asked and 100 * int(lost[1]) > LOST_SHOWN * int(asked[1]):
        text += f" lost {100 * int(lost[1]) / int(asked[1]):.0f} %"
    if usage.wall > LONG:
        text += f" {usage.wall:.0f} s"
    return text


def main():
    parser = bench.options(__doc__, rounds=1)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--program", type=Path,
                        help="crowds, if not the one of the build")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--threads", type=int, nargs="*", default=THREADS)
    parser.add_argument("--endings", nargs="*", default=ENDINGS)
    parser.add_argument("--triggers", nargs="*", default=TRIGGERS)
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS))
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    arguments.program = arguments.program or (
        arguments.build.resolve() / "tests" / "workload" / "crowds")
    if not arguments.program.exists():
        sys.exit(f"bench: no {arguments.program}; build with -DSPROF_TESTS=ON")
    report = bench.Report(arguments.out)
    ways = [(trigger, setting) for trigger in arguments.triggers
            for setting in arguments.settings]
    rows = []
    with bench.busy(arguments.busy):
        for threads in arguments.threads:
            for ending in arguments.endings:
                rows.append([f"{threads:,}", ending] + [
                    "; ".join(run(arguments, threads, ending, settings(*way))
                              for _ in range(arguments.rounds))
                    for way in ways])
                bench.progress(" | ".join(rows[-1]))
    report.add(f"### CPU time beside the threads' clocks, in percent "
               f"({arguments.busy} busy processes)")
    report.add(bench.table(["threads", "ending"] +
                           [f"{trigger}, {setting}" for trigger, setting
                            in ways], rows, left=2))
    report.save()


main()
