# SPDX-License-Identifier: MIT
"""What does a call cost that libsprof has a hook for? Microseconds a call,
with the library at 1,000 Hz and without.

hooks.c makes each call in a loop. poll, ppoll, pselect and epoll_pwait find
a descriptor that is ready; sigtimedwait finds no signal. Clock readings around a
loop are of the thread's own CPU time. So samples that fall into the loop are
in it. For calls that wait for a thread or a process the readings are of the
time that passed. A child of `fork` is profiled, and writes what it has. A
child of `vfork` and the program that is started are not. Programs with and
without the library take turns. Each cell is the median of all rounds, in
brackets the least and the greatest.
"""
import subprocess
import sys

import bench


def times(program, env):
    """Call: microseconds."""
    done = subprocess.run([str(word) for word in program], env=env, check=True,
                          capture_output=True, text=True)
    rows = (line.split("|") for line in done.stdout.splitlines())
    return {name: float(value) for name, value in rows}


def cell(each):
    return (f"{bench.number(bench.median(each))} "
            f"({bench.number(min(each))} - {bench.number(max(each))})")


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--processes", type=int, default=100)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    program = [bench.compiled("hooks"), arguments.calls, arguments.processes]
    plain, loaded = [], []
    for i in range(arguments.rounds):
        bench.progress(f"hooks: round {i + 1}")
        plain.append(times(program, bench.environment()))
        with bench.scratch() as directory:
            loaded.append(times(program, bench.preloaded(
                arguments.build, directory)))
    report = bench.Report(arguments.out)
    report.add(f"### Calls with a hook, us ({arguments.rounds} rounds)")
    rows = []
    for name in plain[0]:
        without, with_it = ([one[name] for one in rounds]
                            for rounds in (plain, loaded))
        more = bench.median(with_it) - bench.median(without)
        rows.append([name, cell(with_it), cell(without), bench.number(more)])
    report.add(bench.table(["call", "preloaded", "not preloaded", "more"],
                           rows))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
