# SPDX-License-Identifier: MIT
"""Holds the label `task` of samples against what named.py wrote.

Usage: check_named.py TRUTH PROFILE

A sample in a function of TRUTH must have the label with that name, cut to 63
bytes, or none. Each function must have samples.
"""
import json
import re
import sys
from collections import Counter

import check

MOST = 63
MINE = re.compile(r"^(works|sleeps)_\d+$")


def cut(name):
    """As much of NAME as a label has."""
    return name and name.encode()[:MOST].decode(errors="ignore")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = {name: cut(task) for name, task in json.load(file).items()}
    right, wrong = Counter(), Counter()
    for frames, count, labels in check.stacks_of_pprof(sys.argv[2]):
        mine = [name for name in map(check.last_name, frames)
                if MINE.match(name)]
        if not mine:
            continue
        name, task = mine[-1], labels.get("task")
        if task == truth[name]:
            right[name] += count
        else:
            wrong[name, task] += count
    print(f"{len(truth)} functions, {sum(right.values())} samples have the "
          f"right task, {sum(wrong.values())} have not")
    for (name, task), count in wrong.most_common(5):
        print(f"    {name}: {task} in place of {truth[name]}, {count} times")
    missing = [name for name in truth if not right[name]]
    if missing:
        print("    no sample in", *missing)
    return bool(wrong or missing)


if __name__ == "__main__":
    sys.exit(main())
