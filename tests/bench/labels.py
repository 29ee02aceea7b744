# SPDX-License-Identifier: MIT
"""What does a label cost? ns of CPU time a call, with the library and without.

labels.c has a loop for each call. It sets the label "request" to one of two
values that it had before, opens and ends scopes, and sets marks. Clock
readings around a loop are of the thread's own CPU time. Without the library
each call is a test of a pointer. Programs with and without it take turns. Each
cell is the median of all rounds, in brackets the least and the greatest.
"""
import subprocess
import sys

import bench


def times(program, env):
    """Operation: ns a call; of several threads the mean."""
    done = subprocess.run([str(word) for word in program], env=env, check=True,
                          capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        name, ns = line.split("|")
        found.setdefault(name, []).append(float(ns))
    return {name: sum(each) / len(each) for name, each in found.items()}


def cell(rounds, name):
    each = [one[name] for one in rounds]
    return (f"{bench.number(bench.median(each), 1)} "
            f"({bench.number(min(each), 1)} - {bench.number(max(each), 1)})")


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--calls", type=int, default=1000000)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    include = bench.HERE.parent.parent / "include"
    program = [bench.compiled("labels", f"-I{include}"), arguments.calls]
    plain, loaded = [], []
    for i in range(arguments.rounds):
        bench.progress(f"labels: round {i + 1}")
        plain.append(times(program, bench.environment()))
        with bench.scratch() as directory:
            loaded.append(times(program, bench.preloaded(
                arguments.build, directory, SPROF_SYMBOLIZE="off")))
    report = bench.Report(arguments.out)
    report.add(f"### Labels and marks, ns a call ({arguments.rounds} rounds)")
    report.add(bench.table(["call", "preloaded", "not preloaded"],
                           [[name, cell(loaded, name), cell(plain, name)]
                            for name in plain[0]]))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
