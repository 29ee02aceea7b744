# SPDX-License-Identifier: MIT
"""What does the sampler's work for one sample cost? ns a sample.

record.c puts stacks into the journal as the sampler does, and writes a sample
for each. Files are flushed every 64 samples. It is linked with the archives of
the build, and has no other thread. A stack may be the same as the last one of
its thread, or differ from it in the leaf, in the inner half, or in all frames.
What differs was seen before, or is new. Each cell is the median of all rounds,
in brackets the least and the greatest; each round is the median of batches of
64 samples.
"""
import subprocess
import sys

import bench

ARCHIVES = ("journal", "labels", "capture", "signals", "unwind_x86_64",
            "unwind", "process", "store", "base_x86_64", "base")


def program(build):
    archives = [build / f"libsprof_{name}.a" for name in ARCHIVES]
    return bench.compiled(
        "record", "-I", bench.HERE.parent.parent / "src",
        libraries=["-Wl,--start-group", *archives,
                   *build.glob("libunwind_private.a"), "-Wl,--end-group"])


def times(build, depth, samples):
    """Kind of stack: ns of one sample."""
    with bench.scratch() as directory:
        done = subprocess.run(
            [str(word) for word in (program(build), directory / "record.sprof",
                                    depth, samples)],
            check=True, capture_output=True, text=True)
    rows = (line.split("|") for line in done.stdout.splitlines())
    return {name: float(value) for name, value in rows}


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=5)
    parser.add_argument("--depth", type=int, default=50)
    parser.add_argument("--samples", type=int, default=64000)
    arguments = parser.parse_args()
    rounds = []
    for i in range(arguments.rounds):
        bench.progress(f"record: round {i + 1}")
        rounds.append(times(arguments.build, arguments.depth,
                            arguments.samples))
    report = bench.Report(arguments.out)
    report.add(f"### Recording a sample of {arguments.depth} frames, ns "
               f"({arguments.rounds} rounds)")
    rows = []
    for name in rounds[0]:
        each = [one[name] for one in rounds]
        rows.append([name, f"{bench.number(bench.median(each), 0)} "
                           f"({bench.number(min(each), 0)} - "
                           f"{bench.number(max(each), 0)})"])
    report.add(bench.table(["stack", "ns a sample"], rows))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
