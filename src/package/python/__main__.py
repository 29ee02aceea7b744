# SPDX-License-Identifier: MIT
"""The command `sprofile`, in place of this interpreter.

A program that `sprofile record` starts must not notice that Python ran before.
Python ignores SIGPIPE and SIGXFSZ from its start on, and an exec keeps that. In
the locale C it adds LC_CTYPE to the environment (PEP 538). The environment of
this process's own start is in /proc (proc(5)).
"""
import os
import signal
import sys

from . import COMMAND


def own_environment():
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = file.read().split(b"\0")
    except OSError:
        return os.environb
    return dict(pair.split(b"=", 1) for pair in pairs if pair.find(b"=") > 0)


def main():
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(COMMAND, ["sprofile"] + sys.argv[1:], own_environment())


if __name__ == "__main__":
    main()
