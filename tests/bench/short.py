# SPDX-License-Identifier: MIT
"""What do short processes pay?

* One process: `true`, and a program that computes for 3 ms. Both run with and
  without the library, in turn, by spawn.c (posix_spawn to wait4). The table
  also has the system calls that are ours (strace).
* Many: 300 forks whose children exit, a chain of 300 execs, a shell loop of 60
  short commands, a shell script that tests for things as ./configure does, and
  `make -j2` of a generated C project. The script runs sed, grep, expr and
  small compilations. With --tree the `./configure` and `make -j2` of a
  package's sources are added. Each runs plain, plain again (the floor), by
  `perf record -g` at 999 Hz, with gperftools (LD_PRELOAD, 1,000 Hz), by
  `sprofile record`, and with LD_PRELOAD. The variants take turns, and each
  begins a round in its turn.

The cells are medians, in brackets the least and the greatest of the rounds'
own ratios.
"""
import re
import shutil
import subprocess
from pathlib import Path

import bench

FILES = 120

LOOP = r"""#!/bin/sh
i=0
while [ $i -lt 60 ]; do
    /bin/true
    i=$((i + 1))
done
"""

FORKS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0;

    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        char text[16];

        snprintf(text, sizeof text, "%d", count - 1);
        if (count > 0)
            execl(argv[0], argv[0], "exec", text, (char *)NULL);
        return count != 0;
    }
    for (int i = 0; i < count; i++) {
        pid_t child = fork();

        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    }
    return 0;
}
"""

CONFIGURE = r"""#!/bin/sh
i=0
while [ $i -lt 60 ]; do
    i=$((i + 1))
    v=`echo "a$i" | sed 's/a/b/'`
    expr "x$v" : 'xb.*' >/dev/null
    echo "$v" | grep b >/dev/null
    if [ $((i % 6)) -eq 0 ]; then
        echo "int main(void) { return $i - $i; }" >conftest.c
        cc -o conftest conftest.c && ./conftest || exit 1
    fi
    (exit 0)
done
rm -f conftest conftest.c
"""


def write_project(directory):
    names = [f"unit{i}" for i in range(FILES)]
    for name in names:
        body = "\n".join(
            f"int {name}_{j}(int a) {{ for (int i = 0; i < a; i++) "
            f"a ^= i * {j + 3}; return a; }}" for j in range(60))
        (directory / f"{name}.c").write_text(
            f"#include <stdio.h>\n#include <stdlib.h>\n{body}\n")
    (directory / "main.c").write_text("int main(void) { return 0; }\n")
    objects = " ".join(f"{name}.o" for name in names + ["main"])
    (directory / "Makefile").write_text(
        f"all: {objects}\n\tcc -o all {objects}\n%.o: %.c\n\tcc -O2 -c $<\n")
    (directory / "configure").write_text(CONFIGURE)
    (directory / "loop").write_text(LOOP)
    for script in ("configure", "loop"):
        (directory / script).chmod(0o755)
    (directory / "forks.c").write_text(FORKS)
    subprocess.run(["gcc", "-O2", "-o", directory / "forks",
                    directory / "forks.c"], check=True)


def variants(build, directory):
    """(label, what stands before a command)."""
    output = f"SPROF_OUTPUT={directory}/%e.%p.%t.pb.gz"
    found = [("plain", []), ("plain again", [])]
    if bench.have("perf"):
        found.append(("perf record -g",
                      ["perf", "record", "-q", "-g", "-F", "999", "-o",
                       f"{directory}/perf.data", "--"]))
    if bench.gperftools():
        found.append(("gperftools",
                      ["env", f"LD_PRELOAD={bench.gperftools()}",
                       f"CPUPROFILE={directory}/cpu.prof",
                       "CPUPROFILE_FREQUENCY=1000"]))
    return found + [
        ("record", [str(Path(build).resolve() / "sprofile"), "record", "-q",
                    "-o", f"{directory}/recorded.sprof", "--"]),
        ("LD_PRELOAD", ["env", f"LD_PRELOAD={bench.library(build)}", output])]


def row(label, value, values, base):
    """A line of a table: the median, and the ratio to the median of BASE."""
    ratios = [mine / other for mine, other in zip(values, base)]
    return [label, value, f"{bench.median(values) / bench.median(base):.2f}",
            f"[{min(ratios):.2f}-{max(ratios):.2f}]"]


def one_process(build, rounds, report):
    rows = []
    for name, command in (("true", ["/bin/true"]),
                          ("3 ms of CPU",
                           [bench.compiled("exec_chain"), "0", "3000"])):
        with bench.scratch() as directory:
            output = f"SPROF_OUTPUT={directory}/%e.%p.%t.pb.gz"
            library = bench.library(build)
            found = [("plain", "-"), ("LD_PRELOAD", f"{library},{output}"),
                     ("as record does",
                      f"{library},{output},SPROF_SYMBOLIZE=off,"
                      "SPROF_KEEP_SPOOL=2")]
            done = subprocess.run(
                [bench.compiled("spawn"), str(rounds),
                 *(variables for _, variables in found), "--", *command],
                env=bench.environment(), capture_output=True, text=True,
                check=True)
        lines = [[int(word) for word in line.split()]
                 for line in done.stdout.splitlines()]
        for index, (label, _) in enumerate(found):
            wall = [line[2 * index] / 1e3 for line in lines]
            more = [(line[2 * index] - line[0]) / 1e3 for line in lines]
            cpu = [line[2 * index + 1] - line[1] for line in lines]
            rows.append([name, label, bench.number(bench.median(wall), 0),
                         bench.number(bench.median(more), 0),
                         bench.number(bench.median(cpu), 0)])
    report.add("### One process, microseconds\n\n" + bench.table(
        ["program", "", "wall", "more", "CPU more"], rows, left=2))


def calls_of(before):
    done = subprocess.run(["strace", "-f", "-c", *before, "/bin/true"],
                          env=bench.environment(), capture_output=True,
                          text=True, check=True)
    return int(re.search(r"(\d+)\s+(?:\d+\s+)?total$", done.stderr,
                         re.M).group(1))


def system_calls(build, report):
    if not bench.have("strace"):
        return
    with bench.scratch() as directory:
        plain = calls_of(["env", "A=b"])
        ours = calls_of(["env", f"LD_PRELOAD={bench.library(build)}",
                         f"SPROF_OUTPUT={directory}/%p.pb.gz"])
    report.add(f"`true` makes {ours - plain} system calls more.")


def run(before, command, tree):
    usage = bench.run(["env", "-C", tree, *before, *command],
                      bench.environment(), stdout=tree / "said",
                      stderr=tree / "complained")
    if usage.status != 0:
        text = (tree / "complained").read_text(errors="replace")
        bench.progress(f"wait status {usage.status}: {text[-300:]}")
        return None
    return usage


BUILD = [("./configure", ["./configure"]), ("make -j2", ["make", "-s", "-j2"])]
SMALL = [("300 forks", ["./forks", "fork", "300"]),
         ("300 execs", ["./forks", "exec", "300"]),
         ("shell loop", ["./loop"])]


def many_processes(build, rounds, source, report, commands):
    """COMMANDS in a copy of SOURCE for each run."""
    rows = []
    usages = {}
    for index in range(rounds):
        with bench.scratch() as directory:
            found = variants(build, directory)
            for label, before in found[index % len(found):] + \
                    found[:index % len(found)]:
                tree = directory / "tree"
                shutil.copytree(source, tree, symlinks=True)
                for name, command in commands:
                    bench.progress(f"{index + 1} of {rounds}: {name}, {label}")
                    usage = run(before, command, tree)
                    if usage:
                        usages.setdefault((name, label), []).append(usage)
                shutil.rmtree(directory)
                directory.mkdir()
    labels = [label for label, _ in variants(build, Path())]
    for name, _ in commands:
        base = usages[name, "plain"]
        for label in labels:
            mine = usages.get((name, label), [])
            if len(mine) < len(base):
                rows.append([name, label, "fails"] + ["-"] * 5)
                continue
            wall, cpu = [u.wall for u in mine], [u.cpu for u in mine]
            rows.append([name, *row(label, f"{bench.median(wall):.2f}", wall,
                                    [u.wall for u in base]),
                         *row("", f"{bench.median(cpu):.2f}", cpu,
                              [u.cpu for u in base])[1:]])
    report.add(bench.table(
        ["", "", "wall s", "times", "", "CPU s", "times", ""], rows, left=2))


def main():
    parser = bench.options(__doc__, rounds=7)
    parser.add_argument("--tree", type=Path, action="append", default=[],
                        help="sources with a ./configure, unpacked")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    report = bench.Report(arguments.out)
    one_process(arguments.build, arguments.rounds * 30, report)
    system_calls(arguments.build, report)
    with bench.scratch() as directory:
        write_project(directory)
        report.add("### Forks, execs, a script like ./configure, 121 small C files")
        many_processes(arguments.build, arguments.rounds, directory, report,
                       SMALL + BUILD)
    for tree in arguments.tree:
        report.add(f"### {tree.name}")
        many_processes(arguments.build, arguments.rounds, tree, report, BUILD)
    report.save()


main()
