# SPDX-License-Identifier: MIT
"""Are the stacks of waiting threads whole, and right?

The programs blocked_calls.* of tests/workload have threads that wait in many
system calls at stacks that are known. Each stack is printed as "expect:
a;b;c", the outermost function first. Every variant (o2, o0, and o2 with frame
pointers) runs under libsprof at 1,000 Hz with each trigger.

The shares are of the waiting wall time of stacks that have any of those
functions. Complete is the share without a mark that the stack ended early.
Wrong is the share whose known functions are not an expected stack. (For a
stack with a mark: not the innermost part of one.) Other functions between them
do not matter. "Seen" is how many of the expected stacks were found whole.
"""
import sys

import bench
import tools

RATE = 1000
VARIANTS = ("o2", "o0", "o2_fp")
MARKS = ("[truncated", "[frames elided", "[no stack")


def programs(build):
    """{variant: path} of those that are built."""
    directory = build.resolve() / "tests" / "workload"
    paths = {v: directory / f"blocked_calls.{v}" for v in VARIANTS}
    return {v: path for v, path in paths.items() if path.exists()}


def expectations(result):
    """The known stacks, outermost first. They are printed as patterns, with
    what may follow a name in parentheses."""
    texts = [" ".join(words[1:]).partition("(")[0] for words in result.lines
             if words and words[0] == "expect:"]
    return {tuple(plain(name) for name in text.split(";") if name.strip())
            for text in texts}


def plain(name):
    """The C library has many functions by two names, __read and read."""
    return name.strip().lstrip("_").removeprefix("libc_")


def names_of(sample):
    """All functions, outermost first."""
    return [plain(name) for frame in reversed(sample.frames)
            for name in reversed(frame.functions)]


def judge(profile, expected):
    """(waiting wall, complete, wrong, {stacks found whole})."""
    known = {name for stack in expected for name in stack}
    beyond = known - {"main", "start_thread"}
    wall = complete = wrong = 0
    found = set()
    for sample, value in profile.values("wall"):
        names = names_of(sample)
        if tools.on_cpu(sample) or not beyond & set(names):
            continue
        mine = tuple(name for name in names if name in known)
        wall += value
        if any(name.startswith(MARKS) for name in names):
            right = any(stack[-len(mine):] == mine for stack in expected)
        else:
            complete += value
            right = mine in expected
            if right:
                found.add(mine)
        wrong += 0 if right else value
    return wall, complete, wrong, found


def row(variant, trigger, path, arguments):
    label = [f"blocked_calls.{variant}", f"libsprof {trigger}"]
    result = path and tools.sprof(
        arguments.build, trigger, [path, int(1000 * arguments.seconds)],
        SPROF_FREQUENCY=RATE)
    if not result or not result.profile or "wall" not in result.profile.types:
        return label + ["-"] * 4
    expected = expectations(result)
    wall, complete, wrong, found = judge(result.profile, expected)
    if not wall:
        return label + ["0.0 s", "-", "-", f"0 of {len(expected)}"]
    return label + [bench.number(wall / 1e9, 1, " s"),
                    bench.number(100 * complete / wall, 2, " %"),
                    bench.number(100 * wrong / wall, 3, " %"),
                    f"{len(found)} of {len(expected)}"]


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=1)
    parser.add_argument("--triggers", type=tools.triggers,
                        default=list(tools.TRIGGERS))
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    built = programs(arguments.build)
    if not built:
        bench.progress("no blocked_calls.* in the build (SPROF_TESTS=ON)")
    rows = []
    for variant in VARIANTS:
        for trigger in arguments.triggers:
            bench.progress(f"blocked: {variant}, {trigger}")
            rows.append(row(variant, trigger, built.get(variant), arguments))
    report = bench.Report(arguments.out)
    report.add(f"### Stacks of waiting threads at {RATE:,} Hz")
    report.add(bench.table(["program", "run", "waiting wall", "complete",
                            "wrong", "seen"], rows, left=2))
    report.save()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
