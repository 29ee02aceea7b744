# SPDX-License-Identifier: MIT
"""Holds the stacks of waiting threads against what waits.py wrote.

Usage: check_waits.py TRUTH PROFILE

Every sample of PROFILE, which has only the time in which all threads wait,
must have the Python frames of its thread: all of them, in order, with lines.
A thread that waits for an RLock must have its owner, and no other one has.
"""
import json
import re
import sys
from collections import Counter

import check


OWNER = re.compile(r"RLock of .* \((\d+)\)$")


def owner(labels):
    """The thread that has the RLock for which a sample waits, or None."""
    found = OWNER.match(labels.get("waits_on", ""))
    return int(found.group(1)) if found else None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        written = json.load(file)
    truth = {int(tid): [(name, where, line) for name, where, line in stack]
             for tid, stack in written["stacks"].items()}
    owners = {int(tid): other for tid, other in written["owners"].items()}
    right, wrong = Counter(), {}
    for frames, count, labels in check.stacks_of_pprof(sys.argv[2]):
        tid = int(labels.get("tid", 0))
        if tid not in truth:
            continue
        seen = [(check.last_name(f), f.file, f.line) for f in frames
                if check.is_python(f)]
        left = any(check.LOOPS.match(f.name) for f in frames)
        if seen == truth[tid] and not left and owner(labels) == owners.get(tid):
            right[tid] += count
        else:
            wrong.setdefault(tid, (frames, count))
    print(f"{len(truth)} threads wait, {sum(right.values())} samples of "
          f"{len(right)} are right, {len(owners)} have an owner; "
          "wrong or without any: "
          f"{len(set(truth) - set(right))} and {len(wrong)}")
    for tid, (frames, count) in list(wrong.items())[:5]:
        name, _, line = truth[tid][-1]
        print(f"    {tid} at {name}:{line}, {count}: {check.show(frames)}")
        print(f"        owner: {owners.get(tid)}")
        seen = [f"{check.last_name(f)}:{f.line}" for f in frames
                if check.is_python(f)]
        print(f"        Python: {' > '.join(seen)}")
    for tid in set(truth) - set(right) - set(wrong):
        print(f"    {tid} at {truth[tid][-1]}: no sample")
    return bool(wrong) or set(truth) != set(right)


if __name__ == "__main__":
    sys.exit(main())
