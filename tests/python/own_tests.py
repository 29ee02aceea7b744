# SPDX-License-Identifier: MIT
"""Runs CPython's own tests without and with the library, and compares the
outcome of each test.

Usage: own_tests.py [--build DIR] [--timeout SECONDS] PYTHON [MODULE...]

Without modules those run that look at stacks, threads, signals, children and
sub-interpreters. A module that an interpreter lacks, or that does not end
without the library, is left out with a line. Ends with 0, or 1 if an outcome
differs.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MODULES = ("test_sys", "test_threading", "test_generators", "test_coroutines",
           "test_asyncio", "test_gc", "test_frame", "test_code",
           "test_faulthandler", "test_interpreters",
           "test__xxsubinterpreters", "test_multiprocessing_fork")
# A verdict may stand on a later line, after what the test itself has printed.
VERDICT = re.compile(r"^(test\w* \([\w.]+\))(?:(?!^test\w* \([\w.]+\)).)*?"
                     r"\b(ok|FAIL|ERROR|skipped|expected failure)\b",
                     re.MULTILINE | re.DOTALL)
# Some installations have its tests, but not the module that names them.
FORK_MODULE = """
import test._test_multiprocessing
test._test_multiprocessing.install_tests_in_module_dict(globals(), "fork")
"""


def command(python, module, directory):
    """How to run MODULE; None if PYTHON lacks it."""
    def has(name):
        check = f"import importlib.util as u; assert u.find_spec('{name}')"
        return subprocess.run([python, "-c", check], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0
    if has("test." + module):
        return [python, "-m", "test", "-v", module]
    if module != "test_multiprocessing_fork" or \
            not has("test._test_multiprocessing"):
        return None
    (directory / "fork_tests.py").write_text(FORK_MODULE, encoding="utf-8")
    return [python, "-m", "unittest", "-v", "fork_tests"]


def outcomes(argv, directory, seconds, **variables):
    """({test: verdict}, exit status); None if it does not end in time."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("SPROF_")} | variables
    try:
        done = subprocess.run(argv, cwd=directory, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        return None
    text = done.stdout.decode(errors="replace")
    return dict(VERDICT.findall(text)), done.returncode


def compare(module, plain, ours):
    """Print what differs. Returns the number of differences."""
    verdicts, status = plain
    if ours is None:
        print(f"{module}: does not end with the library")
        return 1
    names = [name for name in verdicts.keys() | ours[0].keys()
             if verdicts.get(name) != ours[0].get(name)]
    for name in sorted(names):
        print(f"{module}: {name}: {verdicts.get(name)}, with the library "
              f"{ours[0].get(name)}")
    if status != ours[1]:
        print(f"{module}: status {status}, with the library {ours[1]}")
    if not names and status == ours[1]:
        print(f"{module}: {len(verdicts)} outcomes are the same", flush=True)
    return len(names) + (status != ours[1])


def run(arguments, module):
    """Returns the number of differences in MODULE."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        argv = command(arguments.python, module, directory)
        plain = argv and outcomes(argv, directory, arguments.timeout)
        if plain is None:
            print(f"{module}: left out,",
                  "it does not end" if argv else "not installed", flush=True)
            return 0
        (directory / "profiles").mkdir()
        ours = outcomes(
            argv, directory, arguments.timeout,
            LD_PRELOAD=str(arguments.build.resolve() / "libsprof.so"),
            SPROF_OUTPUT=str(directory / "profiles" / "%e.%p.sprof"),
            SPROF_SYMBOLIZE="off", SPROF_FREQUENCY="1000")
        if ours is not None and not any((directory / "profiles").iterdir()):
            print(f"{module}: there is no profile")
            return 1
        return compare(module, plain, ours)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path,
                        default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("python")
    parser.add_argument("modules", nargs="*", default=MODULES)
    arguments = parser.parse_args()
    # A shell starts background jobs with SIGINT ignored. Tests that interrupt
    # themselves would not end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(sum(run(arguments, module) for module in arguments.modules) != 0)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
