# SPDX-License-Identifier: MIT
"""How long does it take to ask what all threads of a process are doing? What
does the process notice?

waits_in_circle has the number of idle threads that the table says, and eight
others. These are a deadlock, one that blocks the signal, one stopped by a
tracer, two that compute and two more. It is sampled at 1,000 Hz.
`sprofile stacks` is run again and again. The first time is when most threads
were not yet looked at. Then comes the median of --rounds, in brackets the
least and the greatest. *Looked at* is the time in which the profiler looked at
all threads, as the dump tells. 0.06 s of it is to be sure that the thread with
the blocked signal does not answer. *Whole* is the wall time of the command,
names and text included. *Switches* are those of the idle threads during all
dumps. *Early* are the waits that ended early.
"""
import re
import subprocess
import sys
import time

import bench


def dump(build, pid):
    """(whole, looked) in seconds, and the number of threads told of."""
    start = time.monotonic()
    done = subprocess.run([build / "sprofile", "stacks", str(pid)], check=True,
                          capture_output=True, text=True)
    whole = time.monotonic() - start
    threads, looked, unit = re.search(
        r"^threads  ([\d,]+) in .*looked at within ([\d.]+) (m?s)", done.stdout,
        re.MULTILINE).groups()
    looked = float(looked) / (1000 if unit == "ms" else 1)
    return whole, looked, int(threads.replace(",", ""))


def measure(build, idle, rounds):
    with bench.scratch() as directory:
        program = subprocess.Popen(
            [build / "tests/workload/waits_in_circle", str(idle)],
            env=bench.preloaded(build, directory, SPROF_SYMBOLIZE="off"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while not (line := program.stdout.readline()).startswith("ready"):
            pass
        pid = int(line.split()[1])
        dumps = [dump(build, pid) for _ in range(rounds + 1)]
        out, _ = program.communicate("\n")
    seen = dict(line.split(maxsplit=1) for line in out.splitlines()
                if " " in line)
    return dumps, seen


def cell(values):
    return (f"{bench.number(bench.median(values), 3)} "
            f"({bench.number(min(values), 3)} - {bench.number(max(values), 3)})")


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--threads", default="100,1000,10000",
                        help="idle threads (default: 100,1000,10000)")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    rows = []
    for idle in map(int, arguments.threads.split(",")):
        bench.progress(f"stacks: {idle} threads")
        dumps, seen = measure(arguments.build, idle, arguments.rounds)
        rows.append([f"{dumps[0][2]:,}", bench.number(dumps[0][0], 3),
                     cell([one[0] for one in dumps[1:]]),
                     cell([one[1] for one in dumps[1:]]),
                     seen["switches"], seen["early"]])
    report = bench.Report(arguments.out)
    report.add(f"### The stacks of all threads, s ({arguments.rounds} rounds)")
    report.add(bench.table(["threads", "first, whole", "whole", "looked at",
                            "switches", "early"], rows))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
