# SPDX-License-Identifier: MIT
"""What does profiling cost a program that is switched all the time?

switches.c hands a byte to and fro, 300,000 times, on one CPU: between two
processes, each of which is profiled, and between two threads. A round runs
every variant once, in an order that rotates. A ratio is taken within a round.
CPU is what wait4 tells of the program and its children. An event of perf has a
timer that the kernel stops and starts at each switch. (It does not do so
between threads that have equal events.) `auto` stops using perf events when it
sees that.
"""
import bench
import tools

RATE, COUNT = 1000, 300000
KINDS = ("processes", "threads")
TRIGGERS = ("auto", "perf", "timer", "ask")


def variants(build):
    found = {"unprofiled": lambda argv: tools.plain(argv)}
    for name in TRIGGERS:
        found[f"libsprof {name}"] = lambda argv, name=name: tools.sprof(
            build, name, argv, symbolize=False, SPROF_FREQUENCY=RATE)
    found["gperftools"] = lambda argv: tools.gperftools(argv, RATE)
    found["perf record"] = lambda argv: tools.perf_record(argv, RATE)
    return found


def gather(build, rounds):
    """{(kind, variant): [Usage of each round, None where it did not work]}."""
    program, tried = bench.compiled("switches", "-no-pie"), variants(build)
    labels, runs = list(tried), {}
    for number in range(rounds):
        for kind in KINDS:
            bench.progress(f"switches: round {number + 1}, {kind}")
            turn = number % len(labels)
            for label in labels[turn:] + labels[:turn]:
                result = tried[label]([program, kind, str(COUNT)])
                runs.setdefault((kind, label), []).append(
                    result.usage if result else None)
    return runs


def cost(mine, base, field):
    pairs = [(getattr(a, field), getattr(b, field))
             for a, b in zip(mine, base) if a and b]
    return tools.spread([100 * (a / b - 1) for a, b in pairs], 1, " %")


def main():
    arguments = bench.options(__doc__, rounds=7).parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    runs = gather(arguments.build, arguments.rounds)
    rows = []
    for (kind, label), found in runs.items():
        base = runs[kind, "unprofiled"]
        if label == "unprofiled":
            cpu, wall = (bench.number(bench.median(getattr(u, f)
                                                   for u in base), 2, " s")
                         for f in ("cpu", "wall"))
        else:
            cpu, wall = (cost(found, base, f) for f in ("cpu", "wall"))
        rows.append([kind, label, cpu, wall])
    report.add(f"### {COUNT:,} hand-overs at {RATE:,} Hz "
               f"({arguments.rounds} rounds)")
    report.add(bench.table(["between", "variant", "CPU cost", "wall cost"],
                           rows, left=2))
    report.save()


if __name__ == "__main__":
    main()
