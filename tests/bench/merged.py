# SPDX-License-Identifier: MIT
"""Python and native functions in one stack: ours beside py-spy and memray.

The program (merged_job.py) calls outer_N, which calls a native function
enter_N, which calls inner_N, which calls a native function work_N. Which N it
is, is drawn. A stack that has work_N is whole if it has these four in this
order and none of another N. memray takes a stack for each allocation, and
work_N makes one; the others take one for each ms.

* Pauses: work_N reads the clock all the time. Time in which it did not run for
  5 us and more, per second of its work, and the longest such time.
* Cost: CPU time of the process beside an unprofiled run of the same work before
  it. py-spy is a process of its own, whose CPU time is in the second number.
* Waiting: 16 threads wait for a lock in such stacks, while the main thread
  computes. `sprofile stacks` and `py-spy dump --native` look at them. What is
  whole has waiter_N, enter_N and held_N. The pause is the longest of the main
  thread in that run.

A round runs each in turn; the numbers are medians with the least and the
greatest. py-spy and memray come from PyPI, into an environment of their own, and
are left out if they cannot be had.
"""
import json
import re
import subprocess
import time
from collections import Counter

import bench
from pypi import PATH, PYTHON, command, fetch

PARTS = re.compile(r"\b(outer|enter|inner|work|waiter|held)_(\d)\b")
WAITERS = 16
# Calls of a program that a dump looks at after a second.
DUMP_CALLS = 25000
MEMRAY = """
import sys
from memray import AllocatorType, FileReader
for record in FileReader(sys.argv[1]).get_allocation_records():
    if record.allocator == AllocatorType.MALLOC:
        stack = [frame[0] for frame in record.hybrid_stack_trace()]
        print(";".join(reversed(stack)), record.n_allocations)
"""


def is_whole(stack, words):
    """Whether STACK has WORDS, in order, all of one number."""
    found = PARTS.findall(stack)
    return [word for word, _ in found] == words and \
        len({number for _, number in found}) == 1


def shares(lines):
    """(whole, all) of the folded LINES in which work is done."""
    counts = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        if re.search(r"\bwork_\d\b", stack):
            counts[is_whole(stack, ["outer", "enter", "inner", "work"])] += \
                int(count)
    return counts[True], counts[True] + counts[False]


def job(library, calls, waiters=0):
    return [PYTHON, str(bench.HERE / "merged_job.py"), str(library),
            str(calls), str(waiters)]


def timed(argv, env, output):
    """(CPU seconds of the process and its children, its printed numbers).
    py-spy now and then fails to attach: then once more."""
    for _ in range(3):
        usage = bench.run(argv, env, stdout=output)
        if usage.status == 0:
            break
    words = [line for line in output.read_text().splitlines()
             if re.fullmatch(r"[\d.e+-]+( [\d.e+-]+){3}", line)]
    return usage.cpu, [float(word) for word in words[-1].split()]


def record_sprof(arguments, argv, directory):
    env = bench.preloaded(arguments.build, directory, SPROF_FREQUENCY=1000,
                          SPROF_OUTPUT=directory / "p.sprof", SPROF_PYTHON=1,
                          SPROF_SYMBOLIZE="off", PATH=PATH)
    cpu, said = timed(argv, env, directory / "out")
    subprocess.run([arguments.build / "sprofile", "convert",
                    directory / "p.sprof", directory / "p.folded"], check=True)
    return cpu, said, (directory / "p.folded").read_text().splitlines()


def record_spy(arguments, argv, directory):
    argv = [str(command("py-spy")), "record", "--native", "-r", "1000", "-f",
            "raw", "-o", str(directory / "p.raw"), "--", *argv]
    cpu, said = timed(argv, bench.environment(PATH=PATH), directory / "out")
    return cpu, said, (directory / "p.raw").read_text().splitlines()


def record_memray(arguments, argv, directory):
    found = directory / "p.bin"
    cpu, said = timed([PYTHON, "-m", "memray", "run", "-q", "--native", "-o",
                       str(found), *argv[1:]], bench.environment(PATH=PATH),
                      directory / "out")
    done = subprocess.run([PYTHON, "-c", MEMRAY, str(found)], check=True,
                          capture_output=True, text=True)
    return cpu, said, done.stdout.splitlines()


def ways():
    found = {"libsprof": record_sprof}
    if command("py-spy"):
        found["py-spy record --native"] = record_spy
    if command("memray"):
        found["memray run --native"] = record_memray
    return found


def spread(values, digits=1, unit=""):
    values = list(values)
    return (f"{bench.median(values):,.{digits}f}{unit} "
            f"({min(values):,.{digits}f} to {max(values):,.{digits}f})")


def measure(arguments, library):
    found = {"unprofiled": []}
    for _ in range(arguments.rounds):
        for name, record in ways().items():
            with bench.scratch() as directory:
                argv = job(library, arguments.calls)
                plain, quiet = timed(argv, bench.environment(PATH=PATH),
                                     directory / "plain")
                found["unprofiled"].append((1, 1, plain, plain, quiet))
                cpu, said, lines = record(arguments, argv, directory)
                found.setdefault(name, []).append(
                    (*shares(lines), cpu, plain, said))
    rows = []
    for name, runs in found.items():
        whole, looked = (sum(run[i] for run in runs) for i in (0, 1))
        rows.append([
            name, "-" if name == "unprofiled" else
            f"{100 * whole / looked:.2f} % of {looked:,}" if looked else "-",
            spread(run[4][0] / 1e6 / run[4][3] for run in runs),
            spread((run[4][1] / 1e3 for run in runs), 0),
            spread((100 * (run[2] / run[3] - 1) for run in runs), 1, " %"),
            spread(100 * (run[4][3] / quiet[4][3] - 1) for run, quiet in
                   zip(runs, found["unprofiled"]))
            if name != "unprofiled" else "-"])
    return rows


def whole_waiters(text):
    """How many of the WAITERS threads are whole in TEXT, which has their frames
    from the leaf, thread after thread."""
    found = PARTS.findall(text)
    threes = list(zip(found, found[1:], found[2:]))
    return sum([word for word, _ in three] == ["held", "enter", "waiter"] and
               len({number for _, number in three}) == 1 for three in threes)


def dump_sprof(arguments, pid):
    done = subprocess.run([arguments.build / "sprofile", "stacks", "--json",
                           str(pid)], check=True, capture_output=True,
                          text=True)
    text = []
    for group in json.loads(done.stdout)["groups"]:
        frames = " ".join(frame["function"]
                          for frame in group["frames"])
        text += [frames] * len(group["tids"])
    return "\n".join(text)


def dump_spy(arguments, pid):
    """It may fail as a whole, because it cannot unwind one thread."""
    del arguments
    return subprocess.run([str(command("py-spy")), "dump", "--native", "--pid",
                           str(pid)], check=False, capture_output=True,
                          text=True).stdout


def dump(arguments, library, name, take):
    """(whole, ms that the dump took, us of the longest pause)."""
    with bench.scratch() as directory:
        env = bench.environment(PATH=PATH)
        if name == "libsprof":
            env = bench.preloaded(arguments.build, directory, PATH=PATH,
                                  SPROF_PYTHON=1, SPROF_SYMBOLIZE="off")
        begun = time.perf_counter()
        pid = bench.start(job(library, DUMP_CALLS, WAITERS), env,
                          stdout=directory / "out")
        time.sleep(1)
        asked = time.perf_counter()
        text = take(arguments, pid) if take else ""
        took = time.perf_counter() - asked
        bench.wait(pid, begun)
        said = (directory / "out").read_text().split()
        return whole_waiters(text), 1e3 * took, float(said[1]) / 1e3


def measure_dumps(arguments, library):
    takes = {"unprofiled": None, "libsprof": dump_sprof}
    if command("py-spy"):
        takes["py-spy dump --native"] = dump_spy
    found = {name: [] for name in takes}
    for _ in range(arguments.rounds):
        for name, take in takes.items():
            found[name].append(dump(arguments, library, name, take))
    return [[name, "-" if name == "unprofiled" else
             f"{sum(run[0] for run in runs)} of {WAITERS * len(runs)}",
             spread((run[1] for run in runs), 0) if takes[name] else "-",
             spread((run[2] for run in runs), 0)]
            for name, runs in found.items()]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=7)
    parser.add_argument("--calls", type=int, default=15000,
                        help="default: 15000, some 3 s")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    arguments.build = arguments.build.resolve()
    fetch("py-spy", "memray")
    library = bench.compiled("merged", "-shared", "-fPIC")
    report = bench.Report(arguments.out)
    report.add(f"### A program that computes at 1,000 Hz ({arguments.rounds} "
               "rounds)")
    report.add(bench.table(
        ["profiler", "whole stacks", "pauses, ms a second", "longest, us",
         "CPU added", "time added, %"], measure(arguments, library)))
    report.add(f"### {WAITERS} threads that wait ({arguments.rounds} dumps)")
    report.add(bench.table(
        ["profiler", "whole stacks", "the dump took, ms", "longest pause, us"],
        measure_dumps(arguments, library)))
    report.save()


if __name__ == "__main__":
    main()
