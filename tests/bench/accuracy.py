# SPDX-License-Identifier: MIT
"""Is the profile right? Five real programs at 1,000 Hz, against perf.

Each round runs every program once under `perf record -e cpu-clock -F 1000 -g`
and once under libsprof, in turn. Then it compares where the CPU time went.

* A function is the pair of file and start address of the unwind table. It is
  computed here from both tools' addresses, so that neither tool's symbols
  decide. The names that both tools print are compared apart ("same name").
* perf's kernel samples count for the user function at the bottom of the
  kernel's call chain. This is how libsprof presents kernel time. Samples
  without any user frame (starting and tearing down the process) stay in perf's
  total.
* libsprof runs with SPROF_INLINES=0, because perf names the function whose
  code it is. Its values are those of the sample type cpu.
* Roots: "reach root" counts on-CPU samples whose stack carries no mark that it
  ended early. "start or clone" is checked apart from what the profiler says:
  the outermost frame is the entry point of its file or glibc's clone.
"""
import os
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import bench
import elf
import perf
import pprof
import programs
import spool

RATE = 1000
THREAD_ROOTS = {"clone", "__clone", "clone3", "__clone3"}


@dataclass
class Evidence:
    """What the rounds of one program gave."""
    perf: list = field(default_factory=list)    # one {key: share} a round
    sprof: list = field(default_factory=list)
    perf_names: dict = field(default_factory=lambda: defaultdict(Counter))
    sprof_names: dict = field(default_factory=lambda: defaultdict(Counter))
    spools: list = field(default_factory=list)
    profile_cpu: list = field(default_factory=list)
    opened: str = "-"


def key_of(path, address, name):
    """(file, function start) where the file can be read, else by name. The
    vdso has no file and few names: it counts as one function."""
    file = elf.load(path)
    if file and address:
        return os.path.realpath(path), file.function_start(address)
    if "vdso" in path:
        return "[vdso]", "all of it"
    return path, name


def plain_name(name):
    """A function's name without what compilers and demanglers hang on it."""
    return name.split("(")[0].split("@")[0].partition(".")[0].strip()


def shares(counter):
    total = sum(counter.values()) or 1
    return {key: value / total for key, value in counter.items()}


def run_perf(program, evidence):
    with bench.scratch() as directory:
        data = directory / "perf.data"
        program.run(bench.environment(), perf.record(RATE, data, "fp"))
        counter = Counter()
        for leaf in perf.leaves(data, program.only):
            key = key_of(*leaf) if leaf else ("[kernel]", "without user frame")
            counter[key] += 1
            if leaf:
                evidence.perf_names[key][leaf.name] += 1
        evidence.perf.append(shares(counter))


def run_sprof(program, build, evidence, with_go):
    with bench.scratch() as directory:
        env = bench.preloaded(build, directory, SPROF_FREQUENCY=RATE,
                              SPROF_INLINES=0, SPROF_ONLY=program.only or "*")
        program.run(env)
        profiles = sorted(directory.glob("*.pb.gz"))
        if not profiles:
            bench.progress(f"{program.name}: libsprof wrote no profile")
            return
        counter = Counter()
        for path in profiles:
            add_profile(pprof.Profile(path), counter, evidence)
        evidence.sprof.append(shares(counter))
        evidence.profile_cpu.append(sum(counter.values()) / 1e9)
        evidence.spools.append(spool.read_all(directory))
        if with_go:
            evidence.opened = opens(profiles[0])


def add_profile(profile, counter, evidence):
    for sample, value in profile.values("cpu"):
        if not value:
            continue
        if not sample.frames:
            counter["[none]", "no stack"] += value
            continue
        leaf = sample.frames[0]
        name = leaf.functions[0] if leaf.functions else ""
        key = key_of(*place(leaf), name)
        counter[key] += value
        evidence.sprof_names[key][name] += value


def place(frame):
    """The file of a frame and its address in the file's own numbering."""
    module = frame.module
    file = elf.load(module.path) if module else None
    if not file:
        return (module.path if module else "[none]"), 0
    into = frame.address - module.start
    if module.offset:
        return module.path, file.address_of(into + module.offset)
    return module.path, into + file.first


def go_command():
    """Debian's go where it is there, since that one is the promise."""
    return next((c for c in ("/usr/bin/go", "go") if bench.have(c)), None)


def opens(path):
    go = go_command()
    if not go:
        return "-"
    done = subprocess.run([go, "tool", "pprof", "-top", str(path)],
                          env=bench.environment(),
                          capture_output=True, text=True, check=False)
    return "yes" if done.returncode == 0 and "flat%" in done.stdout else "no"


def is_start(spools, node):
    """Whether the outermost frame of NODE is where programs and threads
    begin, judged by the file's own entry point and symbols."""
    entry = spools.root(node)
    module = spools.modules.get(entry.module) if entry else None
    file = elf.load(module.path) if module else None
    if not file:
        return False
    return (file.function_start(entry.offset - 1) ==
            file.function_start(file.entry) or
            bool(elf.names_before(module.path, entry.offset - 1)
                 & THREAD_ROOTS))


def percent(part, whole, digits=2):
    return bench.number(100 * part / whole, digits, " %") if whole else "-"


def stacks_row(program, evidence):
    """One line of the first table, over all rounds."""
    spools = [one for run in evidence.spools for one in run]
    if not spools:
        return [program.name] + ["-"] * 9
    pairs = [(one, s) for one in spools for s in one.samples if s.cpu]
    total = sum(s.count for _, s in pairs)
    complete = sum(s.count for one, s in pairs if one.is_complete(s.node))
    rooted = sum(s.count for one, s in pairs if is_start(one, s.node))
    taken = sum(one.counts.taken for one in spools)
    asked = sum(one.counts.asked for one in spools)
    clock = sum(one.counts.process_cpu - one.counts.sampler_cpu
                for one in spools) / 1e9
    stopped = [s.stopped for _, s in pairs if s.stopped]
    return [program.name, f"{total / len(evidence.spools):,.0f}",
            bench.number(clock / len(evidence.spools), 2, " s"),
            percent(sum(evidence.profile_cpu), clock, 1),
            percent(complete, total), percent(rooted, total),
            percent(sum(one.counts.parked for one in spools), taken),
            percent(asked - taken, asked),
            f"{bench.median(stopped) / 1e3:.2f} / "
            f"{bench.percentile(stopped, 99) / 1e3:.2f} us",
            evidence.opened]


def mean_share(rounds, key):
    return sum(one.get(key, 0) for one in rounds) / len(rounds)


def spread(rounds, key):
    values = [100 * one.get(key, 0) for one in rounds]
    return max(values) - min(values)


def hottest(rounds, count=5):
    keys = {key for one in rounds for key in one}
    return sorted(keys, key=lambda k: -mean_share(rounds, k))[:count]


def common_name(names):
    """The name that most samples had, '' if there is none."""
    found = [n for n, _ in names.most_common() if n != "[unknown]"]
    return found[0] if found else ""


def shown(key, evidence):
    """A label for people: the better of the tools' names, the file."""
    base = Path(key[0]).name
    name = common_name(evidence.perf_names[key])
    if name.endswith("@plt"):
        return f"PLT of {base}"
    if isinstance(key[1], str):
        return f"{base}: {key[1]}"
    name = name or common_name(evidence.sprof_names[key])
    return f"{name} ({base})" if name else f"{base}+0x{key[1]:x}"


def same_name(key, evidence):
    """Whether the name that libsprof gives most samples of a function is the
    name that perf gives it, or another that the file's symbols have there."""
    ours = plain_name(common_name(evidence.sprof_names[key]))
    theirs = {plain_name(n) for n in evidence.perf_names[key]} - {"[unknown]"}
    if not theirs or "@plt" in common_name(evidence.perf_names[key]):
        return f"none, {ours}"
    theirs |= {plain_name(n) for n in elf.names(key[0]).get(key[1], ())}
    return "yes" if ours in theirs else f"no, {ours or 'nothing'}"


def function_rows(program, evidence):
    """The hottest five of each tool; (rows, largest difference)."""
    keys = hottest(evidence.perf)
    keys += [k for k in hottest(evidence.sprof) if k not in keys]
    rows, largest = [], 0.0
    for key in keys:
        theirs = 100 * mean_share(evidence.perf, key)
        ours = 100 * mean_share(evidence.sprof, key)
        largest = max(largest, abs(ours - theirs))
        rows.append([program.name, shown(key, evidence), f"{theirs:.1f} %",
                     f"{ours:.1f} %", f"{ours - theirs:+.1f}",
                     f"{spread(evidence.perf, key):.1f}",
                     same_name(key, evidence)])
    return rows, largest


def gather(chosen, arguments):
    evidence = {program.name: Evidence() for program in chosen}
    for number in range(arguments.rounds):
        for program in chosen:
            bench.progress(f"accuracy: round {number + 1}, {program.name}")
            if perf.available():
                run_perf(program, evidence[program.name])
            run_sprof(program, arguments.build, evidence[program.name],
                      number == 0)
    return evidence


def write(report, chosen, evidence, rounds):
    report.add(f"### Stacks and totals at {RATE:,} Hz")
    report.add(bench.table(
        ["program", "samples a run", "CPU time", "CPU in profile",
         "reach root", "start or clone", "parked", "lost",
         "in handler, median / p99", "go tool pprof -top"],
        [stacks_row(p, evidence[p.name]) for p in chosen]))
    report.add(f"### Hottest functions beside perf ({rounds} runs each)")
    rows, verdict = [], []
    for program in chosen:
        found = evidence[program.name]
        if not found.perf or not found.sprof:
            verdict.append(f"{program.name} -")
            continue
        more, largest = function_rows(program, found)
        rows += more
        verdict.append(f"{program.name} {largest:.1f}")
    report.add(bench.table(
        ["program", "function", "perf", "libsprof", "points apart",
         "perf between its runs", "same name"], rows, left=2))
    report.add("Largest difference in percentage points: "
               + ", ".join(verdict) + ".")


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=5)
    parser.add_argument("--programs", type=programs.names,
                        default=programs.REAL)
    parser.add_argument("--scale", type=float, default=0.8)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    chosen = programs.build(arguments.programs, arguments.scale)
    report = bench.Report(arguments.out)
    write(report, chosen, gather(chosen, arguments), arguments.rounds)
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
