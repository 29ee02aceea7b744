# SPDX-License-Identifier: MIT
"""What do an exec and an end cost that have a profile to write?

* A chain of images is started in turn with and without the library. Each image
  computes for some milliseconds and replaces itself. The difference, divided
  by the number of images, is the price of one image: its start, its samples
  and its profile. SPROF_SYMBOLIZE=off leaves the last of these out.
* libsprof-report.so alone runs on the spools that short programs leave, from
  its start to its end. `sprofile convert` on the same spool reads all debug
  information.
* Shell scripts of many short commands, and a build, run with LD_PRELOAD and by
  `sprofile record`. The table says how many times as long they take.

A debug file of libc makes the difference (Debian: libc6-dbg). The tables say
whether it is there.
"""
import os
import subprocess
import sys
from pathlib import Path

import bench

SCRIPT = """
i=0
while [ $i -lt 60 ]; do
    echo "main = $i" | sed 's/main/other/' | grep -c other >/dev/null
    expr $i + 1 >/dev/null
    i=$((i + 1))
done
"""

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int part_%d(const char *text) { return printf("%%zu", strlen(text)); }
"""


def chain_variants(build, directory):
    """(label, environment words for spawn.c)."""
    library = bench.library(build)
    output = f"SPROF_OUTPUT={directory}/%e.%p.pb.gz"
    return [("unprofiled", "-"),
            ("SPROF_SYMBOLIZE=off", f"{library},{output},SPROF_SYMBOLIZE=off"),
            ("profiles written", f"{library},{output}")]


def measure_chain(build, rounds, execs, milliseconds):
    rows = []
    with bench.scratch() as directory:
        found = chain_variants(build, directory)
        done = subprocess.run(
            [bench.compiled("spawn"), str(rounds), *(v for _, v in found),
             "--", bench.compiled("exec_chain"), str(execs),
             str(int(1000 * milliseconds))],
            env=bench.environment(), capture_output=True, text=True,
            check=True)
    lines = [[int(word) for word in line.split()]
             for line in done.stdout.splitlines()]
    for index, (label, _) in enumerate(found):
        walls = [line[2 * index] / 1e6 / (execs + 1) for line in lines]
        added = [(line[2 * index] - line[0]) / 1e6 / (execs + 1)
                 for line in lines]
        rows.append([f"{execs + 1} x {milliseconds:g} ms", label,
                     bench.number(bench.median(walls)),
                     bench.number(bench.median(added)),
                     bench.number(min(added))])
    return rows


def make_spools(build, directory):
    """(label, spool) of short programs."""
    commands = [("3 ms of C", [bench.compiled("exec_chain"), "0", "3000"]),
                ("dash, 20,000 turns of a loop",
                 ["dash", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); "
                  "done"]),
                ("perl, 100,000 turns",
                 ["perl", "-e", "for ($i = 0; $i < 100000; $i++) { $x .= $i }"]),
                ("gcc's compiler on one function",
                 ["gcc", "-c", str(directory / "part.c"), "-o", "/dev/null"])]
    (directory / "part.c").write_text(SOURCE % 0)
    for label, command in commands:
        if not bench.have(str(command[0])):
            continue
        before = set(directory.glob("*.sprof"))
        bench.run(command, bench.preloaded(build, directory))
        new = sorted(set(directory.glob("*.sprof")) - before,
                     key=lambda path: path.stat().st_size)
        if new:
            yield label, new[-1]


def measure_report(build, rounds):
    rows = []
    build = Path(build).resolve()
    with bench.scratch() as directory:
        for label, spool in make_spools(build, directory):
            out = directory / "out.pb.gz"
            report = [build / "libsprof-report.so", "1", "1", spool, out]
            convert = [build / "sprofile", "convert", spool, out]
            usages = {"end": [], "convert": []}
            for _ in range(rounds):
                usages["end"].append(bench.run(report, bench.environment()))
                usages["convert"].append(
                    bench.run(convert, bench.environment()))
            rows.append([label] + [
                bench.number(1e3 * bench.median(getattr(u, field)
                                                for u in usages[kind]))
                for kind in ("end", "convert") for field in ("wall", "cpu")])
    return rows


def prepare_build(directory, files):
    (directory / "script.sh").write_text(SCRIPT)
    names = [f"part_{number}" for number in range(files)]
    for number, name in enumerate(names):
        (directory / f"{name}.c").write_text(SOURCE % number)
    objects = " ".join(f"{name}.o" for name in names)
    (directory / "Makefile").write_text(
        f"all: {objects}\n%.o: %.c\n\t$(CC) -O2 -c $< -o $@\n")


def measure_commands(build, rounds, files):
    """A script and a build, in turn without and with."""
    sprofile = Path(build).resolve() / "sprofile"
    commands = [("sh, 180 short commands", ["sh", "script.sh"])]
    if bench.have("make") and bench.have("gcc"):
        commands.append((f"make -B -j2, {files} files",
                         ["make", "-s", "-B", "-j2"]))
    rows = []
    for label, command in commands:
        times = {"unprofiled": [], "LD_PRELOAD": [], "record": []}
        for number in range(rounds):
            bench.progress(f"exec_cost: {label}, round {number + 1} of "
                           f"{rounds}")
            for kind, walls in times.items():
                with bench.scratch() as directory:
                    prepare_build(directory, files)
                    env = bench.environment()
                    if kind == "LD_PRELOAD":
                        env = bench.environment(
                            LD_PRELOAD=bench.library(build),
                            SPROF_OUTPUT=f"{directory}/%e.%p.pb.gz")
                    words = ["env", "-C", directory, *command]
                    if kind == "record":
                        words = [sprofile, "record", "-q", "-o",
                                 directory / "all.pb.gz", "--", *words]
                    walls.append(bench.run(words, env).wall)
        plain = bench.median(times["unprofiled"])
        for kind, walls in times.items():
            rows.append([label, kind, bench.number(bench.median(walls)),
                         bench.number(bench.median(walls) / plain)])
    return rows


def has_libc_debug():
    done = subprocess.run(["file", "-L", "/lib/x86_64-linux-gnu/libc.so.6"],
                          capture_output=True, text=True, check=False)
    _, _, rest = done.stdout.partition("BuildID[sha1]=")
    build_id = rest.partition(",")[0]
    return bool(build_id) and Path(
        f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    ).exists()


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=5)
    parser.add_argument("--execs", type=int, default=20,
                        help="images in a chain, less one")
    parser.add_argument("--files", type=int, default=24,
                        help="that are compiled")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    there = "there" if has_libc_debug() else "not there"
    report.add(f"### Execs and ends with a profile (libc's debug file is "
               f"{there})")
    rows = []
    for milliseconds in (0.2, 3):
        rows += measure_chain(arguments.build, 4 * arguments.rounds,
                              arguments.execs, milliseconds)
    report.add(bench.table(["images", "variant", "ms for one", "added, median",
                            "added, least"], rows))
    report.add("### Names at the end of a short program, ms")
    report.add(bench.table(["program", "at its end", "CPU", "convert", "CPU"],
                           measure_report(arguments.build,
                                          4 * arguments.rounds)))
    report.add(f"### Many short processes ({arguments.rounds} rounds in turns)")
    report.add(bench.table(["command", "variant", "s, median", "times"],
                           measure_commands(arguments.build, arguments.rounds,
                                            arguments.files)))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.umask(0o077)
    main()
