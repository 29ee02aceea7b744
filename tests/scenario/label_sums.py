# SPDX-License-Identifier: MIT
"""What a pprof file says of a label, by a reader that knows nothing of ours.

    label_sums.py PROFILE KEY [OTHER=VALUE]

prints "VALUE SAMPLES CPU WALL" for each value of KEY, "-" for samples without
it, and last "total", of the samples that have the label OTHER.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "bench"))
from pprof import Profile  # noqa: E402


def main():
    profile = Profile(sys.argv[1])
    key, sums = sys.argv[2], {"total": [0, 0, 0]}
    assert profile.types == ["samples", "cpu", "wall"]
    for sample in profile.samples:
        if len(sys.argv) > 3:
            other, value = sys.argv[3].split("=", 1)
            if sample.labels.get(other) != value:
                continue
        name = str(sample.labels.get(key, "-"))
        for row in (sums.setdefault(name, [0, 0, 0]), sums["total"]):
            for i, value in enumerate(sample.values):
                row[i] += value
    total = sums.pop("total")
    for name, row in sorted(sums.items()) + [("total", total)]:
        print(name, *row)


if __name__ == "__main__":
    main()
