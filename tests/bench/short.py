# SPDX-License-Identifier: MIT
"""What do short processes pay?

* One process: `true` with and without the library, in turn, by spawn.c
  (posix_spawn to wait4), and the system calls that are ours (strace).
* Many: a shell script that tests for things as ./configure does (sed, grep,
  expr and small compilations), and `make -j4` of a generated C project; plain,
  by `sprofile record`, and with LD_PRELOAD; in turn, medians.

Usage: short.py BUILD [ROUNDS]
"""
import re
import subprocess
import sys
import time
from pathlib import Path

import bench

FILES = 120

CONFIGURE = r"""
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


def variants(build, directory):
    """(label, what stands before a command)."""
    library = bench.library(build)
    output = f"SPROF_OUTPUT={directory}/out/%e.%p.%t.pb.gz"
    return [("plain", []),
            ("record", [str(Path(build) / "sprofile"), "record", "-q", "-o",
                        f"{directory}/recorded.sprof", "--"]),
            ("LD_PRELOAD", ["env", f"LD_PRELOAD={library}", output])]


def run(before, command, directory):
    for left in (directory / "out").iterdir():
        left.unlink()
    for left in [*directory.glob("*.o"), *directory.glob("recorded*")]:
        left.unlink()
    start = time.monotonic()
    subprocess.run([*before, *command], cwd=directory, check=True,
                   env=bench.environment(), stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def measure_one(build, rounds):
    with bench.scratch() as directory:
        library = bench.library(build)
        off = f"SPROF_SYMBOLIZE=off,SPROF_OUTPUT={directory}/%e.%p.%t.pb.gz"
        found = [("plain", "-"), ("LD_PRELOAD", f"{library},{off}"),
                 ("as record does", f"{library},{off},SPROF_KEEP_SPOOL=2")]
        done = subprocess.run(
            [bench.compiled("spawn"), str(rounds), *(v for _, v in found),
             "--", "/bin/true"], env=bench.environment(), capture_output=True,
            text=True, check=True)
    lines = [[int(word) for word in line.split()]
             for line in done.stdout.splitlines()]
    for index, (label, _) in enumerate(found):
        more = bench.median([(line[2 * index] - line[0]) / 1e3
                             for line in lines])
        print(f"true, {label}: {bench.number(more, 0)} us more")


def calls_of(before):
    done = subprocess.run(["strace", "-f", "-c", *before, "/bin/true"],
                          env=bench.environment(), capture_output=True,
                          text=True, check=True)
    return int(re.search(r"(\d+)\s+(?:\d+\s+)?total$", done.stderr,
                         re.M).group(1))


def measure_calls(build):
    with bench.scratch() as directory:
        plain = calls_of(["env", "A=b"])
        ours = calls_of(["env", f"LD_PRELOAD={bench.library(build)}",
                         f"SPROF_OUTPUT={directory}/%p.pb.gz"])
    print(f"true: {ours - plain} system calls more")


def measure_many(build, rounds):
    with bench.scratch() as scratch:
        directory = Path(scratch)
        (directory / "out").mkdir()
        write_project(directory)
        for name, command in [("configure", ["sh", "./configure"]),
                              ("make -j4", ["make", "-s", "-j4"])]:
            times = {label: [] for label, _ in variants(build, directory)}
            for _ in range(rounds):
                for label, before in variants(build, directory):
                    times[label].append(run(before, command, directory))
            base = bench.median(times["plain"])
            for label, all_times in times.items():
                middle = bench.median(all_times)
                print(f"{name}, {label}: {middle:.2f} s, "
                      f"{middle / base:.2f} times")


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    measure_one(build, rounds * 30)
    measure_calls(build)
    measure_many(build, rounds)


main()
