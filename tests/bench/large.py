# SPDX-License-Identifier: MIT
"""How long does sprofile take for large inputs, and how much memory?

A spool of --samples running samples in 10,000 stacks of up to 64 frames is
converted to each format. `report` reads it, a tenth of it, and the pprof file
that was written. The cells are medians of --rounds: the time that passed, CPU
time, the peak of resident memory, and the size of the file. There is nothing
to symbolize: the stacks are of files that do not exist.
"""
import os

import bench

FORMATS = ("pb.gz", "folded", "json", "speedscope.json", "html", "txt", "sprof")


def measure(title, rounds, command, output=None):
    """A row of the table: COMMAND, which writes OUTPUT, ROUNDS times."""
    bench.progress(f"large: {title}")
    usages = []
    for _ in range(rounds):
        usage = bench.run(command, dict(os.environ))
        if usage.status != 0:
            raise SystemExit(f"{title}: status {usage.status}")
        usages.append(usage)
    size = output.stat().st_size / 2**20 if output else 0
    return [title, bench.number(bench.median(u.wall for u in usages)),
            bench.number(bench.median(u.cpu for u in usages)),
            bench.number(max(u.memory for u in usages), 0),
            bench.number(size, 1) if output else ""]


def main():
    parser = bench.options(__doc__, rounds=7)
    parser.add_argument("--samples", type=int, default=10_000_000)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    build, rounds = arguments.build.resolve(), arguments.rounds
    sprofile, count = build / "sprofile", arguments.samples
    report, rows = bench.Report(arguments.out), []
    with bench.scratch() as folder:
        large, small = folder / "large.sprof", folder / "small.sprof"
        for path, samples in ((large, count), (small, count // 10)):
            bench.run([build / "tests/workload/make_spool", path, samples],
                      dict(os.environ))
        for ending in FORMATS:
            out = folder / f"out.{ending}"
            rows.append(measure(f"convert to .{ending}",
                                max(1, rounds // 3),
                                [sprofile, "convert", large, out], out))
            if ending != "pb.gz":
                out.unlink()
        for title, path in ((f"report of {count:,}", large),
                            (f"report of {count // 10:,}", small),
                            ("report of the .pb.gz", folder / "out.pb.gz")):
            rows.append(measure(title, rounds, [sprofile, "report", path]))
    report.add(f"### {count:,} samples")
    report.add(bench.table(["what", "s", "CPU s", "peak MiB", "file MiB"],
                           rows))
    report.save()


if __name__ == "__main__":
    main()
