# SPDX-License-Identifier: MIT
"""What does it cost to be there? Start, memory, exit.

* Start: `true` with and without the library, in turn, by spawn.c (posix_spawn
  to wait4). The table has the median of the differences within a round.
  SPROF_ONLY set to another name shows what an excluded child pays.
* Memory: the same program with and without, at 1,000 Hz, after ten seconds. It
  is the resident and the proportional size from /proc/PID/smaps_rollup. File
  pages of the spool are counted with the rest.
* Exit: from the moment at which job.py prints its last line to the end of the
  process. It is measured unprofiled, with SPROF_SYMBOLIZE=off, and with the
  profile written.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

import bench
import programs

FIELDS = ("Rss", "Pss", "Private_Clean", "Private_Dirty")


def start_variants(build, directory):
    """(label, environment words for spawn.c)."""
    library = bench.library(build)
    output = f"SPROF_OUTPUT={directory}/%e.%p.pb.gz"
    found = [("unprofiled", "-"), ("libsprof", f"{library},{output}"),
             ("libsprof, excluded by SPROF_ONLY",
              f"{library},{output},SPROF_ONLY=other")]
    if bench.gperftools():
        found.append(("gperftools", f"{bench.gperftools()},"
                      f"CPUPROFILE={directory}/cpu.prof"))
    return found


def measure_start(build, runs):
    with bench.scratch() as directory:
        found = start_variants(build, directory)
        done = subprocess.run(
            [bench.compiled("spawn"), str(runs), *(v for _, v in found), "--",
             "/bin/true"], env=bench.environment(), capture_output=True,
            text=True, check=True)
    lines = [[int(word) for word in line.split()]
             for line in done.stdout.splitlines()]
    rows = []
    for index, (label, _) in enumerate(found):
        walls = [line[2 * index] / 1e3 for line in lines]
        wall = [(line[2 * index] - line[0]) / 1e3 for line in lines]
        cpu = [line[2 * index + 1] - line[1] for line in lines]
        rows.append([label, bench.number(bench.median(walls), 0),
                     bench.number(bench.median(wall), 0),
                     bench.number(bench.percentile(wall, 90), 0),
                     bench.number(bench.median(cpu), 0)])
    return rows


def memory_of(pid):
    """Sizes in KiB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    words = [line.split() for line in text.splitlines()[1:]]
    sizes = {line[0].rstrip(":"): int(line[1]) for line in words}
    return {name: sizes[name] for name in FIELDS}


def memory_after(command, env, seconds):
    pid = bench.start(command, env)
    time.sleep(seconds)
    try:
        return memory_of(pid)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def measure_memory(build, seconds):
    commands = {
        "depth.c, 50 frames": [bench.compiled("depth"), 50, seconds + 30],
        "python3 job.py": ["/usr/bin/python3", bench.HERE / "job.py",
                           int((seconds + 30) * 100)],
    }
    rows = []
    for label, command in commands.items():
        bench.progress(f"startup: memory of {label}")
        with bench.scratch() as directory:
            plain = memory_after(command, bench.environment(), seconds)
            env = bench.preloaded(build, directory, SPROF_FREQUENCY=1000)
            with_it = memory_after(command, env, seconds)
            spooled = sum(path.stat().st_blocks * 512
                          for path in directory.glob("*.sprof"))
        rows.append([label, *(f"{plain[name]:,} + "
                              f"{with_it[name] - plain[name]:,}"
                              for name in FIELDS), f"{spooled // 1024:,}"])
    return rows


def exit_time(env, units):
    """(milliseconds from the last line of job.py to its end, CPU seconds)."""
    ours, theirs = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, theirs, 1),
               (os.POSIX_SPAWN_CLOSE, ours), (os.POSIX_SPAWN_CLOSE, theirs)]
    pid = os.posix_spawn("/usr/bin/python3",
                         ["python3", str(bench.HERE / "job.py"), str(units)],
                         env, file_actions=actions)
    os.close(theirs)
    os.read(ours, 100)
    said = time.perf_counter()
    usage = bench.wait(pid, said)
    os.close(ours)
    return 1e3 * usage.wall, usage.cpu


def measure_exit(build, rounds, scale):
    units = programs.make_python(scale).command[-1]
    kinds = {"unprofiled": None, "SPROF_SYMBOLIZE=off": {
        "SPROF_SYMBOLIZE": "off"}, "profile written": {}}
    walls = {kind: [] for kind in kinds}
    cpus = {kind: [] for kind in kinds}
    sizes = {kind: "-" for kind in kinds}
    for number in range(rounds):
        bench.progress(f"startup: exit, round {number + 1} of {rounds}")
        for kind, more in kinds.items():
            with bench.scratch() as directory:
                env = bench.environment() if more is None else \
                    bench.preloaded(build, directory, **more)
                wall, cpu = exit_time(env, units)
                walls[kind].append(wall)
                cpus[kind].append(cpu)
                if more is not None:
                    sizes[kind] = file_sizes(directory)
    return [[kind, bench.number(bench.median(walls[kind]), 1),
             bench.number(min(walls[kind]), 1),
             bench.number(max(walls[kind]), 1),
             bench.number(bench.median(cpus[kind])), sizes[kind]]
            for kind in kinds]


def file_sizes(directory):
    found = sorted(path for path in directory.iterdir() if path.is_file())
    return ", ".join(f"{path.name.rpartition('.')[2]} "
                     f"{path.stat().st_size / 1024:,.0f} KiB"
                     for path in found) or "no file"


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=5)
    parser.add_argument("--runs", type=int, default=300,
                        help="starts of true for each variant")
    parser.add_argument("--seconds", type=float, default=10,
                        help="before memory is read")
    parser.add_argument("--scale", type=float, default=0.6)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    report.add(f"### Start of `true` ({arguments.runs} starts each, in turn)")
    report.add(bench.table(
        ["variant", "wall us, median", "added us, median", "added us, p90",
         "CPU added us, median"],
        measure_start(arguments.build, arguments.runs)))
    report.add(f"### Memory after {arguments.seconds:g} s at 1,000 Hz "
               "(KiB: unprofiled + added)")
    report.add(bench.table(
        ["program", *FIELDS, "spool on disk"],
        measure_memory(arguments.build, arguments.seconds)))
    report.add(f"### Time at exit of job.py ({arguments.rounds} runs each)")
    report.add(bench.table(
        ["variant", "ms, median", "min", "max", "CPU s of the run", "files"],
        measure_exit(arguments.build, arguments.rounds, arguments.scale)))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
