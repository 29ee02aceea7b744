# SPDX-License-Identifier: MIT
"""Is the profile right where the truth is known? truth.c at 1,000 Hz.

With --cost the library may cost so much (SPROF_COST); by default any price is
paid, so that the rate is the same for all tools. Runs must then be long enough
for the rate to change (--scale 8).

Every workload reads the clocks around its own parts, and prints where its time
went. A round runs each workload once under every tool, in turn. A run is
compared with its own truth, never with another run.

The trigger "auto" is what users have. A trigger that is named stays with a
thread, so only "auto" shows the errors of changes from one to another.

The workloads are:

* functions: 50/30/15/5 % in random order and lengths.
* threads: four with CPU of 1:2:3:4.
* loop: 100 us of work (70/30) and 900 us of epoll_wait. It runs free; with the
  whole process and its sampler on one CPU (pinned); and on a CPU that a
  computing thread has, as all CPUs have one (crowded).
* short: 400 threads of 3 ms; tiny: 8,000 of 25 us.
* burst: 400 and 100 us of work, then a sleep until the next millisecond.
* pure: a loop of exactly 1 ms of CPU time, 700/300 us.
* workers: four on two CPUs, 60/40.
* mutex: four threads with one lock that is held 200 us at a time.
* syscalls: 50/30/20 % in system calls.
* phases: 30 % of the CPU time in one function, and then the rest in another.
* fork: a third of the CPU time before a fork, and then two functions in turn in
  the parent and two in the child. fork, threads: the same, but after the fork
  a thread of each process computes.
* crowd: 256 threads of 3 ms that compute at once. ends raw: functions, and the
  process ends by the system call exit_group(2).
* calls: 50 ms of computing, and as much in system calls of some 8 ms each.
* deep: 50 ms of computing, and as much 20,000 frames deep.
* waits: poll for 7 ms, a condition for 3, a sleep of 0.5, a write with fsync,
  and 0.1 ms of work, in turns.

The columns are:

* The error of a share is in percentage points, the largest of the workload's
  functions. "Limit" is what 95 % of honest random samples of that number would
  stay within, 1.96 sqrt(p(1-p)/n). "Of limit" is the error in units of it. By
  itself such a maximum is 0.4 to 1.2, and the goal is 1.5 or less. "All
  rounds" is the same with the samples of all rounds as one, where chance
  weighs least.
* CPU in profile is the profile's sum over what the threads' clocks say. For
  the peers the sum is samples times the period that they claim. Worst thread
  is the thread (of 50 ms or more) that is farthest from 1.
* A sample counts for the nearest enclosing known function; the peers' leaves
  are those functions themselves. gperftools expires at most CONFIG_HZ times a
  CPU second. perf record ran with -e cpu-clock -F 1000 -g, and async-profiler
  with event=cpu,interval=1ms.
* Wall is the sum over all threads beside their real lives. Its error is the
  largest error of the wall share of a part (waits are parts, too). "State
  right" and "waits_on told" are shares of the waiting time. In the first the
  state label is the system call of the wait; in the second waits_on is told.
  "Run queue" is the time labelled runnable over the time in which the threads
  neither ran nor slept.

Values are medians over the rounds with minimum and maximum. The peers, and the
workloads that are less likely to surprise, have three of seven rounds.
"""
import math
import sys
from collections import Counter
from dataclasses import dataclass, field

import bench
import tools

RATE = 1000
IMPORTANT_ROUNDS = 7
LARGE_THREAD = 50e6
PEERS = {"gperftools": tools.gperftools, "perf record": tools.perf_record,
         "async-profiler": tools.async_profiler}
CALLS = {"wait_event": {"epoll_wait", "epoll_pwait"},
         "wait_burst": {"clock_nanosleep"}, "wait_lock": {"futex"},
         "wait_poll": {"poll"}, "wait_cond": {"futex"},
         "wait_sleep": {"clock_nanosleep"},
         "wait_fsync": {"fsync", "pwrite64"}}


@dataclass
class Workload:
    """A row of the tables. SHARES are the functions that are compared."""
    name: str
    command: str
    shares: tuple
    seconds: float = 1.0
    important: bool = False
    cpus: int = 0
    queue: bool = False


FUNCTIONS = ("share_50", "share_30", "share_15", "share_5")
QUOTAS = ("quota_1", "quota_2", "quota_3", "quota_4")
FORK = ("before", "parent_first", "parent_last", "child_first", "child_last")
LOOP, BRIEF, STEPS = ("loop_a", "loop_b"), ("brief_a", "brief_b"), \
    ("step_a", "step_b")
WORKLOADS = (
    Workload("functions", "functions", FUNCTIONS, 1.2, True),
    Workload("threads", "threads", QUOTAS),
    Workload("loop, free", "loop", LOOP, 1.5, True),
    Workload("loop, pinned", "loop", LOOP, 1.5, True, cpus=1),
    Workload("loop, crowded", "crowded", LOOP, 1.5, True),
    Workload("short", "short", BRIEF),
    Workload("tiny", "tiny", BRIEF),
    Workload("burst", "burst", STEPS, 1.0, True),
    Workload("pure", "pure", STEPS, 1.0, True),
    Workload("workers", "workers", ("worker_a", "worker_b"), queue=True),
    Workload("mutex", "mutex", ("under_lock", "out_of_lock")),
    Workload("syscalls", "syscalls",
             ("calls_copy", "calls_getpid", "calls_seek")),
    Workload("phases", "phases", ("early", "late"), 1.5),
    Workload("fork", "fork", FORK, 1.5, True),
    Workload("fork, threads", "fork_threads", FORK, 1.5),
    Workload("crowd", "crowd", BRIEF, important=True),
    Workload("ends raw", "end_raw", FUNCTIONS, 1.2),
    Workload("calls", "calls", ("call_user", "call_read"), 2.0, True),
    Workload("deep", "deep", ("shallow_half", "deep_half"), 1.5, True),
    Workload("waits", "waits", STEPS, 4.0, True),
)


class Truth:
    """What a run printed: times in ns by function and by tid."""

    def __init__(self, lines):
        self.cpu, self.wall, self.waits = {}, {}, {}
        self.threads = {}
        for kind, name, cpu, wall in (w for w in lines if len(w) == 4):
            if kind == "thread":
                old = self.threads.get(int(name), (0, 0))
                self.threads[int(name)] = (old[0] + int(cpu),
                                           old[1] + int(wall))
                continue
            self.cpu[name], self.wall[name] = int(cpu), int(wall)
            if kind == "wait":
                self.waits[name] = int(wall)

    def total(self, column):
        return sum(times[column] for times in self.threads.values())

    def queued(self):
        """Neither running nor in a wait."""
        waiting = sum(self.wall[n] - self.cpu[n] for n in self.waits)
        live = sum(wall - cpu for cpu, wall in self.threads.values()
                   if cpu > LARGE_THREAD)
        return live - waiting


@dataclass
class Found:
    """One run of one tool, compared."""
    truth: dict          # {function: true CPU}
    weights: dict        # {function: CPU in the profile}
    samples: int         # in those functions
    cpu: float           # CPU in profile / true
    worst: float = None
    wall: dict = field(default_factory=dict)


def shares(values, names):
    total = sum(values.get(name, 0) for name in names)
    return {name: values.get(name, 0) / total if total else 0
            for name in names}


def ratio(part, whole):
    return part / whole if whole else None


def errors(truth, weights, samples, names):
    """(largest error in points, limit there, largest error over limit)."""
    if not samples:
        return None, None, None
    true, seen = shares(truth, names), shares(weights, names)
    apart = {n: 100 * abs(seen[n] - true[n]) for n in names}
    limits = {n: 196 * math.sqrt(true[n] * (1 - true[n]) / samples)
              for n in names}
    largest = max(names, key=apart.get)
    over = [apart[n] / limits[n] for n in names if limits[n]]
    return apart[largest], limits[largest], max(over, default=None)


def farthest(ratios):
    return max(ratios, key=lambda value: abs(value - 1), default=None)


def by_thread(pairs):
    found = Counter()
    for sample, value in pairs:
        found[sample.labels.get("tid")] += value
    return found


def worst_thread(seen, truth, column):
    return farthest([seen.get(tid, 0) / times[column]
                     for tid, times in truth.threads.items()
                     if times[0] > LARGE_THREAD])


def values_of(profiles, kind):
    return [pair for profile in profiles if kind in profile.types
            for pair in profile.values(kind)]


def compare_sprof(workload, result):
    if not result.profiles:
        return None
    truth, known = Truth(result.lines), set(workload.shares)
    weights, samples = Counter(), 0
    counts = result.profile.types.index("samples")
    pairs = values_of(result.profiles, "cpu")
    for sample, value in pairs:
        name = tools.enclosing(sample, known)
        if name and value:
            weights[name] += value
            samples += sample.values[counts]
    found = Found(truth.cpu, weights, samples,
                  ratio(sum(v for _, v in pairs), truth.total(0)),
                  worst_thread(by_thread(pairs), truth, 0))
    if "wall" in result.profile.types:
        found.wall = compare_wall(workload, truth,
                                  values_of(result.profiles, "wall"))
    return found


def compare_wall(workload, truth, pairs):
    """What the second table says of one run."""
    known = {name for name in truth.cpu
             if name in workload.shares or name in truth.waits}
    parts, waiting, named, told, queued = Counter(), 0, 0, 0, 0
    for sample, value in pairs:
        name = tools.enclosing(sample, known)
        state = sample.labels.get("state", "")
        parts[name] += value
        queued += value if state == "runnable" else 0
        if name in truth.waits and not tools.on_cpu(sample):
            waiting += value
            named += value if state in CALLS[name] else 0
            told += value if sample.labels.get("waits_on") else 0
    true, seen = shares(truth.wall, known), shares(parts, known)
    return {"sum": ratio(sum(v for _, v in pairs), truth.total(1)),
            "worst": worst_thread(by_thread(pairs), truth, 1),
            "error": max((100 * abs(seen[n] - true[n]) for n in known),
                         default=None),
            "named": ratio(100 * named, waiting),
            "told": ratio(100 * told, waiting),
            "queued": ratio(queued, truth.queued())
            if workload.queue else None}


def compare_peer(workload, result):
    truth = Truth(result.lines)
    weights, samples = Counter(), 0
    for name, weight, count in result.leaves:
        if name in workload.shares:
            weights[name] += weight
            samples += count
    total = sum(weight for _, weight, _ in result.leaves)
    return Found(truth.cpu, weights, samples, ratio(total, truth.total(0)))


def measure(workload, tool, arguments):
    program = bench.compiled("truth", "-no-pie", "-fno-optimize-sibling-calls",
                             beside=("slices",))
    argv = [program, workload.command, workload.seconds * arguments.scale]
    if tool in PEERS:
        result = PEERS[tool](argv, RATE, cpus=workload.cpus)
        return compare_peer(workload, result) if result else None
    result = tools.sprof(arguments.build, tool, argv, cpus=workload.cpus,
                         SPROF_FREQUENCY=RATE, SPROF_MODE=arguments.mode,
                         SPROF_COST=arguments.cost)
    return compare_sprof(workload, result) if result else None


def label(tool):
    return tool if tool in PEERS else f"libsprof {tool}"


def share_row(workload, tool, runs):
    if not runs:
        return [workload.name, label(tool)] + ["-"] * 7
    each = [errors(r.truth, r.weights, r.samples, workload.shares)
            for r in runs]
    together = errors(sum((Counter(r.truth) for r in runs), Counter()),
                      sum((Counter(r.weights) for r in runs), Counter()),
                      sum(r.samples for r in runs), workload.shares)
    return [workload.name, label(tool),
            bench.number(bench.median(r.samples for r in runs), 0),
            tools.spread([e[0] for e in each], 1),
            bench.number(bench.median(e[1] for e in each
                                      if e[1] is not None), 1),
            tools.spread([e[2] for e in each]),
            bench.number(together[2]),
            tools.spread([r.cpu for r in runs], 3),
            bench.number(farthest([r.worst for r in runs
                                   if r.worst is not None]), 3)]


def wall_row(workload, tool, runs):
    def values(key):
        return [r.wall.get(key) for r in runs]

    worst = [value for value in values("worst") if value is not None]
    return [workload.name, label(tool), tools.spread(values("sum"), 3),
            bench.number(farthest(worst), 3), tools.spread(values("error"), 1),
            tools.spread(values("named"), 0), tools.spread(values("told"), 0),
            tools.spread(values("queued"), 2)]


def gather(chosen, names, arguments):
    """{(workload, tool): [Found of each round]}."""
    runs = {(w.name, tool): [] for w in chosen for tool in names}
    important = arguments.rounds or IMPORTANT_ROUNDS
    for number in range(important):
        for workload in chosen:
            early = number < important * 3 / 7
            if not early and not workload.important:
                continue
            bench.progress(f"truth: round {number + 1}, {workload.name}")
            turn = number % len(names)
            for tool in names[turn:] + names[:turn]:
                if not early and tool in PEERS:
                    continue
                found = measure(workload, tool, arguments)
                if found:
                    runs[workload.name, tool].append(found)
    return runs


def verdict(chosen, tool, runs):
    """The largest median of error over limit, of one tool."""
    medians = []
    for workload in chosen:
        over = [errors(r.truth, r.weights, r.samples, workload.shares)[2]
                for r in runs[workload.name, tool]]
        over = [value for value in over if value is not None]
        if over:
            medians.append((bench.median(over), workload.name))
    worst = max(medians, default=(None, "-"))
    return f"{label(tool)} {bench.number(worst[0])} ({worst[1]})"


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--workloads", help="names, separated by semicolons")
    parser.add_argument("--triggers", type=tools.triggers,
                        default=["auto", *tools.TRIGGERS])
    parser.add_argument("--peers", type=int, default=1, help="0: none")
    parser.add_argument("--mode", default="wall", choices=("wall", "cpu"))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--cost", default="off")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    wanted = arguments.workloads.split(";") if arguments.workloads else None
    chosen = [w for w in WORKLOADS if not wanted or w.name in wanted]
    names = arguments.triggers + (list(PEERS) if arguments.peers else [])
    runs = gather(chosen, names, arguments)
    report = bench.Report(arguments.out)
    rounds = arguments.rounds or IMPORTANT_ROUNDS
    report.add(f"### CPU beside the truth at {RATE:,} Hz ({rounds} rounds, "
               f"of some {math.ceil(rounds * 3 / 7)})")
    report.add(bench.table(
        ["workload", "tool", "samples", "largest error, points", "limit",
         "of limit", "all rounds", "CPU in profile / true", "worst thread"],
        [share_row(w, tool, runs[w.name, tool])
         for w in chosen for tool in names], left=2))
    report.add("Largest median of limit: " + ", ".join(
        verdict(chosen, tool, runs) for tool in names) + ".")
    if arguments.mode == "wall":
        report.add("### Wall time beside the truth")
        report.add(bench.table(
            ["workload", "tool", "wall in profile / true", "worst thread",
             "largest error, points", "state right, %", "waits_on told, %",
             "run queue / true"],
            [wall_row(w, tool, runs[w.name, tool])
             for w in chosen for tool in arguments.triggers], left=2))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
