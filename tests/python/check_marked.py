# SPDX-License-Identifier: MIT
"""Holds the marks of collections against what marked.py wrote.

Usage: check_marked.py TRUTH PROFILE

Each sample in a function that runs within a collection must have the mark
between that function and its callers, and no other function may have it there.
The CPU time on stacks with the mark must be what the program's own clock says,
within a tenth and three samples' standard deviations. A thread that waits for
the interpreter's lock while garbage is collected must say so. It is the other
thread: the one that collects waits only where a function within the collection
has given the lock away for a moment.
"""
import json
import math
import sys
from collections import Counter

import check
import pprof

MARK = "[garbage collection]"
MARKED_WAIT = ", garbage collection"


def is_right(names):
    """Whether the frames NAMES, from the root, have marks where they must."""
    marks = 0
    for name in names:
        marks += name == MARK
        if name.startswith("inside") and marks != 1:
            return False
        if name.startswith("outside") and marks != 0:
            return False
    return marks <= 1


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    right, wrong, kinds = 0, Counter(), Counter()
    for frames, count, _ in check.stacks_of_pprof(sys.argv[2]):
        names = [check.last_name(frame) for frame in frames]
        if is_right(names):
            right += count
        else:
            wrong[" > ".join(names[-9:])] += count
        kinds[names[-1].split("_")[0] if MARK not in names else MARK] += count
    marked = samples = 0
    waits = Counter()
    profile = pprof.Profile(sys.argv[2])
    for sample, value in profile.values("cpu"):
        if any(line[0] == MARK for frame in sample.frames
               for line in frame.lines):
            marked += value / 1e9
            samples += 1
        wait = sample.labels.get("waits_on", "")
        if wait.startswith("GIL of ") and wait.endswith(MARKED_WAIT):
            waits[sample.labels["tid"] == truth["tid"],
                  f"({truth['tid']})" in wait] += 1
    points = kinds[MARK]
    allowed = truth["collected"] * (0.1 + 3 / math.sqrt(max(points, 1)))
    print(f"{right} samples right, {sum(wrong.values())} wrong; collections "
          f"took {truth['collected']:.3f} s, marked {marked:.3f} s in {points} "
          f"samples; waits for the GIL during one: {waits[False, True]}, "
          f"and {waits[True, False]} of the one that collects")
    for names, count in wrong.most_common(5):
        print(f"    {count}: {names}")
    return bool(wrong or abs(marked - truth["collected"]) > allowed
                or points < 100 or waits[False, True] == 0
                or waits[False, False] + waits[True, True] > 0)


if __name__ == "__main__":
    sys.exit(main())
