# SPDX-License-Identifier: MIT
"""Is the CPU time of forks in the profile, as much as there was?

tests/workload/fork_time.c forks 25 times with 150 MiB of small pages, and
computes before and after. It reads its own CPU clock around each fork. The
share that it prints is compared with the profile of the same run: the share of
stacks with `fork`, in percent of the CPU time. The tables have the median of
all rounds, in brackets the greatest difference of one.
"""
import csv
import io
import subprocess

import bench


def cpu(sprofile, profile, *focus):
    """ns of CPU time in PROFILE."""
    done = subprocess.run([sprofile, "report", "--csv", "-n", "0", *focus,
                           profile], capture_output=True, text=True,
                          check=False)
    return sum(int(row["cpu_flat_ns"])
               for row in csv.DictReader(io.StringIO(done.stdout)))


def one(build, trigger, children):
    """The share that the program says, and that of the profile."""
    with bench.scratch() as directory:
        env = bench.preloaded(build, directory, SPROF_TRIGGER=trigger,
                              SPROF_FORK=children,
                              SPROF_OUTPUT=directory / "p.pb.gz")
        program = build / "tests" / "workload" / "fork_time"
        done = subprocess.run([program], env=env, capture_output=True,
                              text=True, check=True)
        said = float(done.stdout.split("fork: ")[1].split()[0])
        found = [cpu(build / "sprofile", directory / "p.pb.gz", *focus)
                 for focus in (("--focus", "^(__libc_)?fork$"), ())]
        return said, 100 * found[0] / max(found[1], 1)


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    rows = []
    for trigger in "perf", "timer", "ask":
        for children in "follow", "off":
            bench.progress(f"forks: {trigger}, {children}")
            all_rounds = [one(arguments.build.resolve(), trigger, children)
                          for _ in range(arguments.rounds)]
            worst = max(abs(said - found) for said, found in all_rounds)
            rows.append([trigger, children,
                         bench.number(bench.median(a for a, _ in all_rounds),
                                      1),
                         bench.number(bench.median(b for _, b in all_rounds),
                                      1) + f" ({bench.number(worst, 1)})"])
    report = bench.Report(arguments.out)
    report.add(bench.table(["trigger", "children", "fork, by the program, %",
                            "by the profile, %"], rows, left=2))
    report.save()


if __name__ == "__main__":
    main()
