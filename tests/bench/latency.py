# SPDX-License-Identifier: MIT
"""Do requests wait longer? Latency of two servers under load.

latency.c drives a small epoll server of its own, and redis-server (GET). The
load is open: requests come at random instants at a fixed rate, and the time of
an answer counts from the instant at which its request was due. The rates keep
the server busy for a third to a half of one CPU. Load and server have one CPU
each. Each way runs once in a round, in rotating order, and is compared with the
unprofiled run of its round. "Unprofiled again" is the noise. All profilers are
asked for 1,000 Hz; gperftools reaches CONFIG_HZ. libsprof runs with
SPROF_COST=off, and with its default settings. perf records with -g. The last
columns are the sampler's wake-ups, which take the server's own CPU: how many a
second, and the CPU time of each.
"""
import os
import signal
import subprocess
import sys
import time

import bench
import perf
import programs
import sample_cost
import spool

RATE = 1000
PLAIN = "unprofiled"


def program():
    return bench.compiled("latency", "-Wl,--no-as-needed", "-lm")


def ways(build):
    found = [(PLAIN, "", ""), ("unprofiled again", "", "")]
    found += [("libsprof 1,000, SPROF_COST=off", "libsprof", "auto"),
              ("libsprof default", "libsprof", "")]
    if perf.available():
        found.append(("perf record -g", "perf", "fp"))
    if bench.gperftools():
        found.append(("gperftools", "gperftools", ""))
    return [sample_cost.Way(*way, build) for way in found]


class Served:
    """A server that runs on the first CPU while the block lasts."""

    def __init__(self, kind, way, directory, work):
        self.kind, self.output = kind, directory / "said"
        self.port = programs.free_port() if kind == "redis" else 0
        argv = [program(), "serve", work] if kind == "echo" else [
            "/usr/bin/redis-server", "--port", self.port, "--bind",
            "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
            directory, "--logfile", "/dev/null"]
        prefix = perf.record(RATE, directory / "perf.data", way.detail) \
            if way.kind == "perf" else []
        env = sample_cost.environment(way, programs.Program(kind, []),
                                      directory)
        # No taskset: the timer of gperftools outlives an exec, and its signal
        # then ends the server before it has a handler.
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})
        self.child = bench.start([*prefix, *argv], env, stdout=self.output,
                                 stderr=directory / "stderr")
        os.sched_setaffinity(0, cpus)

    def __enter__(self):
        if self.kind == "redis":
            self.pid = programs.server_pid(self.port)
            return self
        deadline = time.monotonic() + 10
        while not (self.output.exists() and self.output.read_text().strip()):
            if time.monotonic() > deadline:
                raise RuntimeError("latency: the server does not answer")
            time.sleep(0.02)
        self.port = int(self.output.read_text())
        self.pid = self.find(self.child)
        return self

    def find(self, pid):
        """The process that serves: PID, or its child under perf."""
        done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True,
                              text=True, check=False)
        return int(done.stdout.split()[0]) if done.stdout.split() else pid

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.child, 0)


def wake_ups(directory, seconds):
    """The sampler's wake-ups a second, and the CPU us of each."""
    counts = [one.counts for one in spool.read_all(directory) if one.counts]
    ticks = sum(one.ticks for one in counts)
    cpu = sum(one.sampler_cpu for one in counts)
    return [ticks / seconds, cpu / 1000 / ticks] if ticks else []


def measure(kind, way, arguments):
    """p50, p99, p99.9, the maximum; under libsprof also wake_ups."""
    rate = arguments.echo_rate if kind == "echo" else arguments.redis_rate
    with bench.scratch() as directory:
        begun = time.monotonic()
        with Served(kind, way, directory, arguments.work) as server:
            time.sleep(0.3)
            done = subprocess.run(
                ["taskset", "-c", "1", program(), "load", str(server.port),
                 kind, str(rate), str(arguments.seconds), "16"],
                capture_output=True, text=True, check=True)
        found = [float(word) for word in done.stdout.split()]
        return found[:4] + (wake_ups(directory, time.monotonic() - begun)
                        if way.kind == "libsprof" else [])


def rows_of(kind, arguments):
    chosen = ways(arguments.build)
    found = {way.label: [] for way in chosen}
    for number in range(arguments.rounds):
        bench.progress(f"latency: {kind}, round {number + 1} of "
                       f"{arguments.rounds}")
        turn = number % len(chosen)
        for way in chosen[turn:] + chosen[:turn]:
            found[way.label].append(measure(kind, way, arguments))
    return [row(kind, label, runs, found[PLAIN])
            for label, runs in found.items()]


def row(kind, label, runs, plain):
    cells = [bench.number(bench.median(run[i] for run in runs), 1)
             for i in range(4)]
    more = [100 * (mine[i] / other[i] - 1) for i in (1, 2)
            for mine, other in zip(runs, plain)]
    half = len(more) // 2
    return [kind, label, *cells,
            sample_cost.spread(more[:half], 1, "+") if label != PLAIN else "-",
            sample_cost.spread(more[half:], 1, "+") if label != PLAIN else "-",
            *(bench.number(bench.median(run[i] for run in runs), 0)
              if len(runs[0]) > 4 else "-" for i in (4, 5))]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=9)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--work", type=int, default=40)
    parser.add_argument("--echo-rate", type=int, default=6000)
    parser.add_argument("--redis-rate", type=int, default=15000)
    parser.add_argument("--services", default="echo,redis")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    rows = [line for kind in arguments.services.split(",")
            for line in rows_of(kind, arguments)]
    report.add(f"### Latency under load, us ({arguments.rounds} rounds of "
               f"{arguments.seconds:g} s)")
    report.add(bench.table(["server", "run", "p50", "p99", "p99.9", "max",
                            "p99 more, %", "p99.9 more, %",
                            "sampler wakes a s", "us each"], rows, left=2))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
