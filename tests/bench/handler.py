# SPDX-License-Identifier: MIT
"""How long is a thread stopped? Time in the handler against depth.

depth.c computes at the bottom of a stack of a known depth. Every sample record
of the spool holds the time that the thread spent in the handler. The first
second of each run is left out, because unwind rules are learned then. "Parked"
is the share of samples of the later time whose thread had to wait for the
sampler. "Missed" are samples whose handler lacked a rule, so that the sampler
finished their walk; an older library does not count them. For both the spool's
counters are read from the growing file after one second and again at the end.
The second table is the same for the real programs. The samples of all rounds
are counted together. The third is of interpreters of Python (--pythons), which
compute 20 functions deep in deep.py: with the functions of Python, and without.
With --against another build has rows of its own, and its runs are in turns with
those of this one.
"""
import os
import sys
import threading

import bench
import programs
import spool

SETTLED = 1.0
PERCENTS = (50, 90, 99, 99.9, 100)


def counts_now(directory):
    """[taken, parked, missed] as the growing spools have it, zeros before."""
    try:
        counts = [one.counts for one in spool.read_all(directory)]
    except (OSError, ValueError):
        counts = []
    counts = [one for one in counts if one]
    return [sum(getattr(one, word) for one in counts)
            for word in ("taken", "parked", "missed")]


def watch_once(program, rate, build, **variables):
    """(spools at the end; taken, parked and missed after the first second)."""
    early = [[0, 0, 0]]
    with bench.scratch() as directory:
        def look():
            early.append(counts_now(directory))
        timer = threading.Timer(SETTLED, look)
        timer.start()
        program.run(bench.preloaded(
            build, directory, SPROF_FREQUENCY=rate, SPROF_SYMBOLIZE="off",
            SPROF_ONLY=program.only or "*", **variables))
        timer.join()
        late = counts_now(directory)
        spools = spool.read_all(directory)
    return spools, *(b - a for a, b in zip(early[-1], late))


def watch(program, arguments):
    """{word: what watch_once found in all rounds} for each build."""
    found = {word: ([], 0, 0, 0) for word in bench.builds(arguments)}
    for _ in range(arguments.rounds):
        for word, build in bench.builds(arguments).items():
            now = watch_once(program, arguments.rate, build)
            found[word] = tuple(a + b for a, b in zip(found[word], now))
    return found


def rows_of(label, program, arguments, depth=1):
    return [row(f"{label}{word}", found, depth)
            for word, found in watch(program, arguments).items()]


def row(label, found, depth=1):
    """One line; samples of less DEPTH are of the time around the work."""
    spools, taken, parked, missed = found
    late = [(one, s) for one in spools for s in one.taken()
            if s.time >= SETTLED * 1e9 and s.depth >= depth and s.stopped]
    if not late:
        return [label] + ["-"] * 10
    stopped = [s.stopped / 1e3 for _, s in late]
    complete = sum(one.is_complete(s.node) for one, s in late)
    return [label, bench.number(bench.median(s.depth for _, s in late), 0),
            bench.number(len(late), 0),
            *(bench.number(bench.percentile(stopped, p)) for p in PERCENTS),
            f"{parked:,} of {taken:,}",
            bench.number(1000 * missed / taken if taken else None, 1),
            bench.number(100 * complete / len(late), 2, " %")]


def depth_rows(arguments):
    rows = []
    for depth in (int(text) for text in arguments.depths.split(",")):
        bench.progress(f"handler: depth {depth}")
        program = programs.Program("depth", [
            bench.compiled("depth"), depth, arguments.seconds + SETTLED])
        rows += rows_of(depth, program, arguments, depth)
    return rows


def program_rows(arguments):
    rows = []
    for program in programs.build(arguments.programs, arguments.scale):
        bench.progress(f"handler: {program.name}")
        rows += rows_of(program.name, program, arguments)
    return rows


def python_rows(arguments):
    rows = []
    for path in filter(None, arguments.pythons.split(",")):
        name = os.path.basename(os.path.realpath(path))
        for word in (1, 0):
            bench.progress(f"handler: {name}, SPROF_PYTHON={word}")
            program = programs.Program("python", [
                os.path.realpath(path), bench.HERE / "deep.py", 20,
                arguments.seconds + SETTLED])
            for mark, build in bench.builds(arguments).items():
                found = watch_once(program, arguments.rate, build,
                                   SPROF_PYTHON=word)
                rows.append(row(f"{name}, {word}{mark}", found))
    return rows


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=1)
    parser.add_argument("--depths", default="5,10,20,50,100,200,500")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--programs", type=programs.names,
                        default=programs.HANDLER)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--pythons", default="",
                        help="paths of interpreters, parted by commas")
    bench.add_against(parser)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    rest = ["depth", "samples", "median us", "p90 us", "p99 us", "p99.9 us",
            "max us", "parked after 1 s", "missed of 1000", "reach root"]
    report = bench.Report(arguments.out)
    report.add(f"### Time in the handler at {arguments.rate:,} Hz")
    if arguments.depths:
        report.add(bench.table(["frames in depth.c", *rest],
                               depth_rows(arguments)))
    if arguments.programs:
        report.add(bench.table(["program", *rest], program_rows(arguments)))
    if arguments.pythons:
        report.add(bench.table(["interpreter, SPROF_PYTHON", *rest],
                               python_rows(arguments)))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
