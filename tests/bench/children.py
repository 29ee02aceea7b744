# SPDX-License-Identifier: MIT
"""What do many children at once cost?

* many_children: forked children that only wait, live for 2 s and then end at
  the same moment, and 64 that compute for 20 ms and get SIGTERM. The program
  reads its own clock: fork is from the first fork to the last, end is from the
  close of the pipe to the last wait. Both are in ms for each child.
* A shell script of 200 `/bin/true`, and `xargs -P 4` of as many: wall time in
  ms for each.

Each runs without the library, as `LD_PRELOAD` does, and as `sprofile record`
does, in turn: alone, and beside eight processes that compute. The cells are
medians. The last column has the lines on stderr that are the profiler's, of all
rounds.
"""
import subprocess
import time

import bench

BUSY = 8
SHORT = 200


def variants(build, directory):
    """(label, what stands before a command)"""
    output = f"SPROF_OUTPUT={directory}/%e.%p.%t.pb.gz"
    return [("plain", []),
            ("LD_PRELOAD", ["env", f"LD_PRELOAD={bench.library(build)}",
                            output]),
            ("record", [str(build / "sprofile"), "record", "-q", "-o",
                        f"{directory}/recorded.sprof", "--"])]


def programs(build, counts):
    """(label, how many children, command)"""
    many = str(build / "tests" / "workload" / "many_children")
    script = f"i=0; while [ $i -lt {SHORT} ]; do /bin/true; i=$((i + 1)); done"
    found = [(f"{count:,} that wait", count,
              [many, str(count), "0", "0", "close", "2000"])
             for count in counts]
    return found + [
        ("64 that compute, SIGTERM", 64,
         [many, "64", "64", "20", "term", "200"]),
        (f"sh, {SHORT:,} true", SHORT, ["sh", "-c", script]),
        (f"xargs -P 4, {SHORT:,} true", SHORT,
         ["sh", "-c", f"seq {SHORT} | xargs -P 4 -n 1 /bin/true"])]


def one(before, command, count, limit):
    """(fork, end or the whole, in ms for each; lines), None if it took too
    long."""
    begun = time.perf_counter()
    try:
        done = subprocess.run([*before, *command], env=bench.environment(),
                              capture_output=True, text=True, check=True,
                              timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    took = (time.perf_counter() - begun) * 1e3 / count
    lines = sum(line.startswith("sprof") for line in done.stderr.splitlines())
    words = done.stdout.split()
    if words[:1] != ["fork"]:
        return None, took, lines
    return float(words[1]) / count, float(words[4]) / count, lines


def cell(values):
    known = [value for value in values if value is not None]
    return bench.number(bench.median(known), 3) if known else "-"


def rows_of(build, arguments, count, label, command):
    """A row for each variant."""
    with bench.scratch() as directory:
        found = variants(build, directory)
        measured = {name: [] for name, _ in found}
        for _ in range(arguments.rounds):
            for name, before in found:
                measured[name].append(one(before, command, count,
                                          arguments.limit))
    for name, _ in found:
        runs = [run for run in measured[name] if run is not None]
        late = len(measured[name]) - len(runs)
        yield [label, name, cell([run[0] for run in runs]),
               cell([run[1] for run in runs]),
               str(sum(run[2] for run in runs)) +
               (f", {late} not done" if late else "")]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=5)
    parser.add_argument("--counts", default="1600,10000")
    parser.add_argument("--limit", type=int, default=300,
                        help="seconds after which a run is not done")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    build = arguments.build.resolve()
    counts = [int(count) for count in arguments.counts.split(",")]
    report = bench.Report(arguments.out)
    for peers in 0, BUSY:
        rows = []
        for label, count, command in programs(build, counts):
            bench.progress(f"children: {label}, {peers} busy")
            with bench.busy(peers):
                rows += rows_of(build, arguments, count, label, command)
        title = f"beside {peers} busy processes" if peers else "alone"
        report.add(f"### Many children, {title}, ms for each "
                   f"({arguments.rounds} rounds)\n\n" +
                   bench.table(["children", "", "fork", "end, or the whole",
                                "lines"], rows, left=2))
    report.save()


if __name__ == "__main__":
    main()
