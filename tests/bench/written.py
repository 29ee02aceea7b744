# SPDX-License-Identifier: MIT
"""How long after a program's end is its profile there?

CPython with its debug file, and libc with its own, run stdlib.py at several
frequencies. So the profile has some thousand addresses. What libsprof says at
SPROF_LOG=info ("writing took") is from the program's exit to the finished
file. Addresses are counted in the profile. The cells are medians of all
rounds, in brackets the least and the greatest.
"""
import re

import bench
import pprof

PYTHON = "/usr/bin/python3"
RATES = (1000, 10000)


def addresses(path):
    """How many places of CPython and libc are in the profile, and of others."""
    known, others = set(), set()
    for sample in pprof.Profile(path).samples:
        for frame in sample.frames:
            module = frame.module.path if frame.module else ""
            is_known = "/python3." in module or "/libc.so" in module
            (known if is_known else others).add(frame.address)
    return len(known), len(others)


def run(build, rate, seconds):
    """Addresses of one run, and ms that writing took."""
    with bench.scratch() as directory:
        env = bench.preloaded(build, directory, SPROF_LOG="info",
                              SPROF_FREQUENCY=rate, SPROF_KEEP_SPOOL=0,
                              SPROF_OUTPUT=f"{directory}/p.pb.gz")
        usage = bench.run([PYTHON, bench.HERE / "stdlib.py", seconds], env,
                          stderr=directory / "said")
        said = (directory / "said").read_text()
        took = re.search(r"writing took (\d+) ms", said)
        if usage.status != 0 or took is None:
            raise SystemExit(f"written: no profile: {said}")
        return (*addresses(directory / "p.pb.gz"), int(took.group(1)))


def cell(values):
    return (f"{bench.median(values):,.0f} "
            f"({min(values):,.0f} - {max(values):,.0f})")


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=7)
    parser.add_argument("--seconds", type=float, default=5,
                        help="CPU time of each run (5)")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    runs = {rate: [] for rate in RATES}
    for i in range(arguments.rounds):
        bench.progress(f"written: round {i + 1}")
        for rate in RATES:
            runs[rate].append(run(arguments.build, rate, arguments.seconds))
    report = bench.Report(arguments.out)
    report.add(f"### From exit to profile ({arguments.rounds} rounds)\n")
    report.add(bench.table(
        ["samples a second", "addresses in CPython and libc", "in others",
         "writing, ms"],
        [[f"{rate:,}", *map(cell, zip(*runs[rate]))] for rate in RATES]))
    report.save()


if __name__ == "__main__":
    main()
