# SPDX-License-Identifier: MIT
"""What does a program cost while `sprofile serve` and `push` watch it?

Python and `deep` (programs.py) run under the library at 1,000 Hz: alone, and
while serve is asked for /metrics once a second and push sends what came in each
second. Both run in turns. CPU is what wait4 tells of the program itself, which
has no part in the watching. "By its clocks" is that of sample_cost.py. "CPU of
the watchers" is that of serve and push together, in percent of a core. Values
are medians over the rounds, with the least and the greatest in brackets.
"""
import sys
import threading
import time

import bench
import fleet
import programs
import sample_cost


class Watchers:
    """serve and push for the spools of DIRECTORY."""

    def __init__(self, build, directory):
        self.server = fleet.Server(("127.0.0.1", 0), fleet.Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.ended = threading.Event()
        self.commands = [
            fleet.begin_push(build, directory, self.server, "--interval", "1"),
            fleet.begin_serve(build, directory, self.ended)]

    def end(self):
        """CPU seconds of both."""
        used = sum(fleet.cpu_of(one.pid) for one in self.commands)
        self.ended.set()
        for one in self.commands:
            one.terminate()
            one.wait()
        self.server.shutdown()
        self.server.server_close()
        return used


def run(program, build, is_watched):
    """(CPU seconds, us by its clocks, % of a core of the watchers)."""
    way = sample_cost.Way("libsprof", "libsprof", "auto", build)
    with bench.scratch() as directory:
        watchers = Watchers(build, directory) if is_watched else None
        begun = time.perf_counter()
        usage = program.run(bench.preloaded(
            build, directory, SPROF_SYMBOLIZE="off",
            SPROF_ONLY=program.only or "*"))
        took = time.perf_counter() - begun
        used = watchers.end() if watchers else 0
        return (usage.cpu, sample_cost.by_its_clocks(way, directory),
                100 * used / took)


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--programs", type=programs.names,
                        default=["python", "deep"])
    parser.add_argument("--cpu-seconds", type=float, default=4)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report, rows = bench.Report(arguments.out), []
    for name in arguments.programs:
        program = sample_cost.sized(name, arguments.cpu_seconds)
        found = {"alone": [], "watched": []}
        for number in range(arguments.rounds):
            bench.progress(f"watched: {name}, round {number + 1}")
            for word, list_of in found.items():
                list_of.append(run(program, arguments.build,
                                   word == "watched"))
        for word, list_of in found.items():
            rows.append([name, word,
                         *(sample_cost.spread(column, 2)
                           for column in zip(*list_of))])
    report.add(f"### A program that is watched ({arguments.rounds} rounds)")
    report.add(bench.table(
        ["program", "run", "CPU, s", "by its clocks, us a sample",
         "CPU of the watchers, %"], rows, left=2))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
