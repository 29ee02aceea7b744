# SPDX-License-Identifier: MIT
"""What the measuring scripts share: places, starting a program and taking its
cost from wait4, medians, Markdown tables, and the statement of the machine.

Run by itself (`bench.py machine`) it prints that statement. Nothing here
fails because a number is bad: the scripts measure, they do not test.
"""
import argparse
import contextlib
import math
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("TMPDIR", "/tmp")) / f"sprof-bench-{os.getuid()}"
GPERFTOOLS = ("/usr/lib/x86_64-linux-gnu/libprofiler.so",
              "/usr/lib/x86_64-linux-gnu/libprofiler.so.0",
              "/usr/lib64/libprofiler.so.0", "/usr/lib/libprofiler.so")


@dataclass
class Usage:
    """What one run cost: wall and CPU seconds (user + system, with all
    children that were waited for), its wait status, and its peak memory in
    MiB."""
    wall: float
    cpu: float
    status: int
    memory: float


def options(description, **defaults):
    """The arguments that every script takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=Path,
                        default=Path(os.environ.get("SPROF_BUILD",
                                                    ROOT / "build")),
                        help="where libsprof.so is (default: build)")
    parser.add_argument("--out", type=Path, help="write the tables here too")
    parser.add_argument("--rounds", type=int, default=defaults.get("rounds"),
                        help=f"default: {defaults.get('rounds')}")
    return parser


def add_against(parser):
    """For a script that can measure another build in turns with this one."""
    parser.add_argument("--against", type=Path,
                        help="another build, which runs in turns with this one")


def builds(arguments):
    """The builds to measure, by the word behind the name of a row."""
    found = {"": arguments.build}
    if arguments.against:
        require_library(arguments.against)
        found[", other build"] = arguments.against
    return found


def library(build):
    """The path of libsprof.so in BUILD, None if it is not there."""
    path = Path(build).resolve() / "libsprof.so"
    return path if path.exists() else None


def gperftools():
    return next((path for path in GPERFTOOLS if os.path.exists(path)), None)


def async_profiler():
    """Of Maven Central; install.sh puts it there."""
    path = CACHE / "libasyncProfiler.so"
    return path if path.exists() else None


def have(command):
    return shutil.which(command) is not None


def environment(**variables):
    """A small environment, equal for every run. The heap is not given back:
    whether malloc does that again and again depends on what lies at its end.
    A few bytes more in the environment decide it, and with that some percent
    of the CPU time of a program such as CPython."""
    plain = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:"
                     "/bin", "HOME": str(CACHE), "LANG": "C.UTF-8",
             "TMPDIR": str(CACHE), "PYTHONHASHSEED": "0",
             "MALLOC_TRIM_THRESHOLD_": "268435456"}
    plain.update({name: str(value) for name, value in variables.items()})
    return plain


def preloaded(build, directory, **variables):
    """The environment of a run under libsprof whose files go to DIRECTORY. The
    rate is the asked one, whatever it costs, and the profile is waited for."""
    values = {"LD_PRELOAD": library(build), "SPROF_COST": "off",
              "SPROF_OUTPUT": f"{directory}/%e.%p.pb.gz",
              "SPROF_KEEP_SPOOL": 1, "SPROF_EXIT_MS": 120000}
    values.update(variables)
    return environment(**values)


@contextlib.contextmanager
def scratch():
    """A directory for the files of one run."""
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = tempfile.mkdtemp(dir=CACHE)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def busy(count):
    """COUNT processes that compute meanwhile."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                 for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def start(argv, env, stdin=None, stdout=None, stderr=None):
    """posix_spawn with the three descriptors from files; returns the pid."""
    actions = []
    for number, path, mode in ((0, stdin, os.O_RDONLY),
                               (1, stdout, os.O_WRONLY | os.O_CREAT),
                               (2, stderr, os.O_WRONLY | os.O_CREAT)):
        actions.append((os.POSIX_SPAWN_OPEN, number,
                        str(path or os.devnull), mode, 0o600))
    return os.posix_spawnp(argv[0], [str(word) for word in argv], env,
                           file_actions=actions)


def wait(pid, begun):
    """Wait for PID, which was started at perf_counter() BEGUN."""
    _, status, usage = os.wait4(pid, 0)
    return Usage(time.perf_counter() - begun,
                 usage.ru_utime + usage.ru_stime, status,
                 usage.ru_maxrss / 1024)


def run(argv, env, limit=None, **files):
    """A program that runs longer than LIMIT seconds is killed."""
    begun = time.perf_counter()
    pid = start(argv, env, **files)
    alarm = threading.Timer(limit or 0, os.kill, (pid, signal.SIGKILL))
    if limit is not None:
        alarm.start()
    try:
        return wait(pid, begun)
    finally:
        alarm.cancel()


def compiled(name, *flags, beside=(), libraries=()):
    """The program made from NAME.c and the sources BESIDE it, built once for
    each state of them. With LIBRARIES, which a build makes, it is made anew
    each time."""
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    sources, target = [HERE / f"{n}.c" for n in (name, *beside)], CACHE / name
    inputs = [*sources, *(HERE / f"{n}.h" for n in beside)]
    newest = max(path.stat().st_mtime for path in inputs)
    if libraries or not target.exists() or target.stat().st_mtime < newest:
        subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g",
                        "-pthread", "-I", ROOT / "src", *flags, *sources,
                        *libraries, "-o", target],
                       check=True)
    return target


def median(values):
    values = list(values)
    return statistics.median(values) if values else math.nan


def percentile(values, percent):
    """The nearest-rank percentile, NaN of nothing."""
    values = sorted(values)
    if not values:
        return math.nan
    rank = math.ceil(percent / 100 * len(values))
    return values[max(0, min(len(values), rank) - 1)]


def number(value, digits=2, unit=""):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:,.{digits}f}{unit}"


def table(header, rows, left=1):
    """A Markdown table, its first LEFT columns left-aligned, the others right;
    columns are padded so that it reads as text too."""
    lines = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    out = []
    for index, line in enumerate(lines):
        cells = (cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths)))
        out.append("| " + " | ".join(cells) + " |")
        if index == 0:
            rule = ("-" * width if i < left else "-" * (width - 1) + ":"
                    for i, width in enumerate(widths))
            out.append("| " + " | ".join(rule) + " |")
    return "\n".join(out)


def wrapped(text):
    """TEXT with its sentences in lines of 100 columns, as the pages of docs
    have them; tables and headings stay as they are."""
    return "\n".join(
        line if line.startswith(("|", "#")) else textwrap.fill(
            line, 100, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n"))


class Report:
    """Collects Markdown, prints it as it comes, and keeps it for --out."""

    def __init__(self, out=None):
        self.out, self.parts = out, []

    def add(self, text):
        text = wrapped(text)
        self.parts.append(text)
        print(text + "\n", flush=True)

    def save(self):
        if platform.machine() == "aarch64":
            self.add("Timings on aarch64 are not known from hardware yet. "
                     "If this machine is no emulator, please send this "
                     "report to the project.")
            self.add(machine())
        if self.out:
            self.out.write_text("\n\n".join(self.parts) + "\n")


def progress(text):
    """Where the run is; on stderr, so that tables stay clean."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def require_library(build):
    if not library(build):
        sys.exit(f"bench: no libsprof.so in {build}; build it first "
                 "(cmake -S . -B build && cmake --build build)")


def first_line(*command):
    """The first line that COMMAND prints, '' if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              env=environment(), check=False)
    except OSError:
        return ""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0].strip() if lines and done.returncode == 0 else ""


def processor():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    return found.group(1) if found else platform.machine()


def kernel_hz():
    """CONFIG_HZ of the running kernel, 'unknown' where it is not told."""
    for path in ("/proc/config.gz", f"/boot/config-{platform.release()}"):
        text = first_line("zgrep", "^CONFIG_HZ=", path)
        if text:
            return text.split("=")[1]
    return "unknown"


def system_name():
    with contextlib.suppress(OSError):
        text = Path("/etc/os-release").read_text(encoding="utf-8")
        found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.M)
        if found:
            return found.group(1)
    return platform.system()


def package(name):
    return first_line("dpkg-query", "-W", "-f", "${Version}", name) or "-"


def machine():
    """The statement of machine and versions, as a Markdown list."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    rows = [
        ("Date", time.strftime("%Y-%m-%d")),
        ("Processor", f"{processor()}, {os.cpu_count()} CPUs, "
                      f"{memory:.0f} GiB"),
        ("Kernel", f"Linux {platform.release().split('-')[0]}, "
                   f"CONFIG_HZ {kernel_hz()}, {' '.join(platform.libc_ver())}"),
        ("System", system_name()),
        ("Compiler", first_line("gcc", "--version")),
        ("perf", first_line("perf", "--version") or "-"),
        ("gperftools", package("libgoogle-perftools-dev")),
    ]
    rows += [(name, package(name)) for name in
             ("python3", "xz-utils", "sqlite3", "redis-server", "gcc")]
    return "\n".join(f"* {name}: {value}" for name, value in rows)


if __name__ == "__main__":
    if sys.argv[1:] != ["machine"]:
        sys.exit("usage: bench.py machine")
    print(machine())
