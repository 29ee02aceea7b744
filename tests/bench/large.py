#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Large inputs: how long `sprofile` takes and how much memory it needs.

    large.py BUILD [SAMPLES]

Makes a spool of SAMPLES (10 million) running samples in 10,000 stacks that are
up to 64 frames deep, converts it to each format, and prints for each the CPU
time, the time that passed, the peak of resident memory and the size of the
file; then the same for `report` on a tenth of the samples, and for reading the
pprof file that was written. Ends with 1 if anything needs more than 1 GiB. CPU
time is what counts where the machine has other work.
"""
import os
import sys
import tempfile
import time

MEMORY_MOST = 1 << 30
FORMATS = ("pb.gz", "folded", "json", "speedscope.json", "txt", "sprof")


def run(title, command, output=None):
    """Runs COMMAND; returns whether it stayed within its memory."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    passed = time.monotonic() - start
    size = os.path.getsize(output) if status == 0 and output else 0
    print(f"| {title} | {usage.ru_utime + usage.ru_stime:.2f} s "
          f"| {passed:.2f} s | {usage.ru_maxrss / 1024:.0f} MiB "
          f"| {size / 2**20:.1f} MiB |", flush=True)
    if status != 0:
        print(f"{title}: failed", file=sys.stderr)
    return status == 0 and usage.ru_maxrss * 1024 <= MEMORY_MOST


def main():
    build = sys.argv[1]
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    sprofile = os.path.join(build, "sprofile")
    make_spool = os.path.join(build, "tests/workload/make_spool")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        def make(name, count):
            os.spawnv(os.P_WAIT, make_spool, [make_spool, name, str(count)])

        make(path("large.sprof"), samples)
        make(path("small.sprof"), samples // 10)
        print("| what | CPU time | passed | peak memory | file |")
        print("| --- | --- | --- | --- | --- |")
        for ending in FORMATS:
            out = path("out." + ending)
            good &= run(f"{samples:,} samples to .{ending}",
                        [sprofile, "convert", path("large.sprof"), out], out)
            if ending not in ("pb.gz", "sprof") and os.path.exists(out):
                os.unlink(out)
        good &= run(f"report of {samples:,} samples",
                    [sprofile, "report", path("large.sprof")])
        good &= run(f"report of {samples // 10:,} samples",
                    [sprofile, "report", path("small.sprof")])
        good &= run("report of the .pb.gz",
                    [sprofile, "report", path("out.pb.gz")])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
