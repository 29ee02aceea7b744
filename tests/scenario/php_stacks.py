# SPDX-License-Identifier: MIT
"""Holds the stacks of a pprof profile against what a program of PHP knows.

Usage: php_stacks.py KNOWN PROFILE

KNOWN has for each leaf function its callers with the lines of their calls, the
outermost first, and the leaf itself. A sample in a leaf must have the same ones.
The leaf may be in any of its lines.
"""
import json
import os
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "bench"))
import pprof  # noqa: E402

LEAST = 99.9


def is_php(file):
    return file.endswith(".php") or "eval()'d code" in file


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        known = {leaf: [tuple(frame) for frame in chain[:-1]]
                 for leaf, chain in json.load(file).items()}
    right, wrong, examples = Counter(), Counter(), {}
    for sample, count in pprof.Profile(sys.argv[2]).values("samples"):
        lines = [line for frame in sample.frames for line in frame.lines]
        chain = [(name, line) for name, file, line in lines[::-1]
                 if is_php(file)]
        at = next((i for i, (name, _) in enumerate(chain) if name in known),
                  None)
        if at is None or any(name == "note" for name, _ in chain):
            continue
        leaf = chain[at][0]
        if chain[:at] == known[leaf] and at == len(chain) - 1:
            right[leaf] += count
        else:
            wrong[leaf] += count
            examples[leaf] = chain
    total = sum(right.values()) + sum(wrong.values())
    for leaf in known:
        if not right[leaf]:
            print(f"{leaf}: no sample is right; expected {known[leaf]}")
    for leaf, chain in examples.items():
        print(f"{leaf}: {wrong[leaf]} wrong of {right[leaf] + wrong[leaf]}: "
              f"{chain} in place of {known[leaf]}")
    print(f"{sum(right.values())} of {total} are right")
    return (not total or set(known) != set(right) or
            100 * sum(right.values()) / total < LEAST)


if __name__ == "__main__":
    sys.exit(main())
