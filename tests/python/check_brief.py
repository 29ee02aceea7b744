# SPDX-License-Identifier: MIT
"""Holds the stacks of short functions against what brief.py can have called.

Usage: check_brief.py TRUTH PROFILE

Of in_NAME and what it calls, each function of Python must be called NAME_...,
and one of those must be there in a part of the samples. Fewer than 1 in 10,000
samples may have a function that is not known, and one more for two parts: a
native function that calls one of Python becomes known by a sample. The twins must have equal
shares. A function stands once in a stack, also with -X perf. Nothing stands
between dropped_f and its caller, but what it frees calls dropped_del.
"""
import json
import math
import re
import sys
from collections import Counter

import check

UNKNOWN = re.compile(r"^\[python function, ")
OTHER = ("<module>", "<listcomp>", "<lambda>")
FILES = ("brief.py", "<made>")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    calls = truth["calls"]
    parts, own, wrong, twins = Counter(), Counter(), Counter(), Counter()
    unknown = 0
    for frames, count, labels in check.stacks_of_pprof(sys.argv[2]):
        if labels.get("state") != "running":
            continue
        names = [check.last_name(frame) for frame in frames]
        start = next((i for i, name in enumerate(names) if name in calls), None)
        if start is None and labels.get("tid", 0) in (0, truth["tid"]):
            continue
        part = "bare" if start is None else names[start][3:]
        inner = frames if start is None else frames[start + 1:]
        parts[part] += count
        unknown += count * any(UNKNOWN.match(one.name) for one in frames)
        called = [check.last_name(one) for one in inner
                  if check.base(one) in FILES]
        own[part] += count * any(one.startswith(part + "_") for one in called)
        for one in called:
            if not (one.startswith(part + "_") or one in OTHER):
                wrong[f"{part}: {one}"] += count
        if any(one == "dropped_f" and other != "in_dropped"
               for one, other in zip(names[1:], names)):
            wrong["dropped: dropped_f in the place of another one"] += count
        if part != "again" and len(set(called)) != len(called):
            wrong[f"{part}: twice in {' > '.join(called)}"] += count
        if part == "twin" and called:
            twins[called[0]] += count
    samples = sum(parts.values())
    one, other = twins["twin_a"], twins["twin_b"]
    print(f"{samples} samples, {unknown} with a function that is not known, "
          f"{sum(wrong.values())} wrong; twins {one} and {other}")
    for what, count in wrong.most_common(5):
        print(f"    {count}: {what}")
    missing = [name for name in calls if own[name[3:]] == 0]
    if missing:
        print("    never seen:", *missing)
    return bool(wrong or missing or unknown > len(calls) / 2 + samples / 10000
                or abs(one - other) > 5 * math.sqrt(one + other))


if __name__ == "__main__":
    sys.exit(main())
