# SPDX-License-Identifier: MIT
"""Computes DEPTH functions deep for SECONDS: deep.py DEPTH SECONDS.

The functions differ, so that each has code of its own.
"""
import sys
import time


def work(seconds):
    end = time.process_time() + seconds
    total = 0
    while time.process_time() < end:
        for i in range(5000):
            total += i * i % 7
    return total


def grow(depth):
    text = ["def f0(seconds):\n    return work(seconds)\n"]
    for level in range(1, depth - 2):
        text.append(f"def f{level}(seconds):\n"
                    f"    return f{level - 1}(seconds)\n")
    space = {"work": work}
    exec(compile("".join(text), "deep", "exec"), space)
    return space[f"f{max(0, depth - 3)}"]


def main():
    sys.setrecursionlimit(10000)
    grow(int(sys.argv[1]))(float(sys.argv[2]))


main()
