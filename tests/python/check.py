# SPDX-License-Identifier: MIT
"""Holds the stacks of pprof profiles against what is known of cases.py.

Usage: check.py [--least PERCENT] [--samples N] DIRECTORY PROFILE...
       check.py --self DIRECTORY

DIRECTORY has tree.py and tree.json. To be run by the interpreter that ran the
program: the lines and names of library modules are those of its own compiler.

A sample is equal to the truth if every frame of it may be where it is, with
its line: see grow.py and cases.py. Samples that have none of their functions
(the program's start, the end, a child's) are "outside", and only the names and
lines of their Python functions are looked at.

With --self the truth is tried first: the interpreter's own frames, at each call
of the tree, must pass, and must not once they are changed.
"""
import argparse
import json
import os
import re
import sys
from collections import Counter, namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "bench"))
import pprof  # noqa: E402

Frame = namedtuple("Frame", "name file line")
LOOPS = re.compile(r"^_PyEval_EvalFrameDefault|^_TAIL_CALL_"
                   r"|^\[python function, not known")
BORDER = re.compile(r"ClearAndPop|_PyFrame_|^clear_|_Py_CheckFunctionResult"
                    r"|_PyEval_?Frame|_PyThreadState_PopFrame"
                    r"|_Py_EnsureFuncTstateNotNULL|_Py_EnterRecursive")
MARK = re.compile(r"^\[(?!not sampled|no |python function, not known)")
IMPORT = re.compile(r"^<frozen importlib")
NATIVE = re.compile(r"^(burn|enter|through)_\d\d$")
DEPTH = 900
LAZY = ("driven", "manager", "async for", "async with")


def is_python(frame):
    return frame.file.endswith(".py") or frame.file.startswith("<")


def last_name(frame):
    """Without module and class."""
    return frame.name.rsplit(".", 1)[-1]


def base(frame):
    return os.path.basename(frame.file)


class Wrong(Exception):
    """A stack that cannot have been; its cause."""


class Lines:
    """The lines of code that every function of a file has."""

    def __init__(self):
        self.files = {}

    def of(self, path):
        """{(name, line)} of a file, None of what is no file."""
        if path not in self.files:
            self.files[path] = None
            if os.path.exists(path):
                with open(path, "rb") as file:
                    code = compile(file.read(), path, "exec",
                                   dont_inherit=True)
                self.files[path] = set(self._pairs(code))
        return self.files[path]

    def _pairs(self, code):
        yield code.co_name, code.co_firstlineno
        if hasattr(code, "co_lines"):
            lines = {line for _, _, line in code.co_lines() if line}
        else:
            import dis
            lines = {line for _, line in dis.findlinestarts(code)}
        for line in lines:
            yield code.co_name, line
        for constant in code.co_consts:
            if hasattr(constant, "co_code"):
                yield from self._pairs(constant)


class Truth:
    """What is known of the tree and of cases.py."""

    def __init__(self, directory):
        path = os.path.join(directory, "tree.json")
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
        self.functions = {one["id"]: one for one in facts["functions"]}
        self.natives = facts["natives"]
        self.lines = Lines()
        self.by_line = {}
        for one in self.functions.values():
            for line in range(one["first"], one["last"] + 1):
                self.by_line.setdefault(line, []).append(one)
        for one in self.functions.values():
            one["lazy"] = one.get("edge") in LAZY
            one["via"] = [(names.split("|"), where)
                          for names, where, low, high in one["via"]
                          if self._within(low, high)]
        with open(os.path.join(HERE, "cases.py"), encoding="utf-8") as file:
            self.cases = [""] + file.read().split("\n")

    @staticmethod
    def _within(low, high):
        def version(text):
            return tuple(int(part) for part in text.split("."))
        return ((not low or sys.version_info >= version(low))
                and (not high or sys.version_info < version(high)))

    def function_of(self, frame):
        """The tree's function of FRAME, None if it is one that lies between."""
        for one in self.by_line.get(frame.line, ()):
            if one["name"] == last_name(frame):
                return one
        if re.match(r"n\d+$", last_name(frame)):
            raise Wrong("name and line are of two functions")
        return None

    def check(self, frames):
        """Raises Wrong, or returns whether the sample has known functions."""
        # A collection of garbage may begin anywhere; check_marked.py has those.
        frames = [f for f in frames if not re.match(
            r"\[not|\[no |\[garbage collection\]$", f.name)]
        if self._is_outside(frames):
            return False
        for frame, below in zip(frames, [*frames[1:], None]):
            if MARK.match(frame.name):
                raise Wrong(f"marked {frame.name}")
            # A loop whose function is not there yet, or no more, has no frame.
            if LOOPS.match(frame.name) and below and not BORDER.search(
                    below.name):
                raise Wrong("an interpreter loop is left")
            if is_python(frame):
                self._real(frame)
        known = False
        for part in self._parts(frames):
            known |= self._part(part)
        return known

    @staticmethod
    def _is_outside(frames):
        """Start and end, and modules that are loaded."""
        return (any(IMPORT.search(f.file) for f in frames)
                or not any(base(f) in ("cases.py", "tree.py")
                           or NATIVE.match(f.name) for f in frames))

    def _real(self, frame):
        # The first instruction of a module has no line.
        if frame.line <= 0 and last_name(frame) != "<module>":
            raise Wrong("a line of 0")
        made = re.match(r"<made (\d+)>$", frame.file)
        if made and last_name(frame).startswith("made_"):
            number = int(made.group(1))
            if last_name(frame) != f"made_{number}" or not (
                    1 <= frame.line - number % 500 <= 3):
                raise Wrong("made code of another name or line")
        pairs = self.lines.of(frame.file)
        if pairs is not None and (last_name(frame), frame.line) not in pairs:
            raise Wrong("no such function or line in the file")

    @staticmethod
    def _parts(frames):
        """What is between calls of on_event, which may be anywhere."""
        part = []
        for frame in frames:
            if base(frame) == "cases.py" and last_name(frame) == "on_event":
                yield part
                part = []
            else:
                part.append(frame)
        yield part

    def _part(self, frames):
        caller, between, natives = None, [], []
        for frame in frames:
            name = base(frame)
            if NATIVE.match(frame.name):
                natives.append(frame.name)
            if not is_python(frame):
                continue
            one = self.function_of(frame) if name == "tree.py" else None
            if one:
                self._tree_call(caller, between, one, frame.line)
            elif name == "cases.py":
                self._case_call(caller, frame)
            else:
                between.append(frame)
                continue
            self._passed(natives, caller, one)
            caller, between, natives = (one, frame), [], []
        self._last(natives, caller)
        if natives and natives[-1] == "burn_87":
            self._whole_recursion(frames)
        return bool(caller)

    def _tree_call(self, caller, between, one, line):
        if not caller:
            raise Wrong("no function above the tree's")
        if one["id"] == 0:
            self._case_call(caller, Frame("n0", "tree.py", 0))
            return
        function, frame = caller
        if not function or function["id"] != one["parent"]:
            raise Wrong("not called by that function")
        if frame.line not in one["lines"]:
            raise Wrong(f"not called at that line ({one['edge']})")
        # What only makes a generator is called from elsewhere.
        if line == one["first"] and one["lazy"]:
            return
        if len(between) != len(one["via"]) or any(
                last_name(seen) not in names
                or os.path.basename(seen.file) != where
                for seen, (names, where) in zip(between, one["via"])):
            raise Wrong(f"other frames lie between ({one['edge']})")

    def _case_call(self, caller, frame):
        if not caller:
            return
        function, above = caller
        if function:
            raise Wrong("the tree calls nothing of cases.py")
        name, text = last_name(frame), self.cases[above.line]
        if name in ("<genexpr>", "<listcomp>", "<lambda>"):
            return
        if (not re.search(rf"\b{name}\b", text) and "any case" not in text
                and last_name(above) not in ("<genexpr>", "<listcomp>")):
            raise Wrong(f"{last_name(above)} does not call {name} there")

    def _passed(self, natives, caller, one):
        """Native functions between CALLER and ONE."""
        for name in natives:
            fact = self.natives.get(name)
            if not fact or not caller or not caller[0] or (
                    caller[0]["id"] != fact["owner"]
                    or not one or one["id"] != fact["child"]):
                raise Wrong("a native function between others")

    def _last(self, natives, caller):
        for name in natives:
            if name == "burn_87":
                continue
            fact = self.natives.get(name)
            if not fact or not caller or not caller[0] or (
                    caller[0]["id"] != fact["owner"]
                    or caller[1].line != fact["line"]):
                raise Wrong("a native function below another")

    @staticmethod
    def _whole_recursion(frames):
        count = sum(last_name(f) == "descend" for f in frames)
        if count != DEPTH:
            raise Wrong("a recursion of another depth")


def stacks_of_pprof(path):
    """(frames from the root, count, labels) of each sample."""
    profile = pprof.Profile(path)
    for sample, count in profile.values("samples"):
        frames = [Frame(*line) for frame in sample.frames
                  for line in (frame.lines or [("", "", 0)])]
        yield frames[::-1], count, sample.labels


def show(frames):
    """The end of a stack, or what is around an interpreter loop in it."""
    at = next((i for i, f in enumerate(frames) if LOOPS.match(f.name)
               or MARK.match(f.name)), len(frames))
    return " > ".join(f"{f.name}@{base(f)}:{f.line}" if is_python(f)
                      else f.name for f in frames[max(0, at - 7):][:16])


class Sums:
    """Samples by what was found."""

    def __init__(self):
        self.equal = self.outside = self.loops = 0
        self.wrong, self.examples = Counter(), {}

    def add(self, truth, frames, count):
        try:
            if truth.check(frames):
                self.equal += count
            else:
                self.outside += count
                self.loops += count * any(LOOPS.match(f.name) for f in frames)
        except Wrong as cause:
            self.wrong[str(cause)] += count
            self.examples.setdefault(str(cause), frames)

    def judged(self):
        return self.equal + sum(self.wrong.values())

    def share(self):
        return 100 * self.equal / self.judged() if self.judged() else 0

    def print(self):
        print(f"{self.judged()} samples, {self.share():.3f} % equal, "
              f"{self.outside} outside, {self.loops} of them with a loop")
        for cause, count in self.wrong.most_common():
            print(f"    {count} {cause}")
            print(f"        {show(self.examples[cause])}")


def changed(frames):
    """Stacks that never were, made of one that was."""
    tree = [i for i, f in enumerate(frames) if base(f) == "tree.py"]
    middle = tree[len(tree) // 2]
    yield frames[:middle] + frames[middle + 1:]
    yield frames[:middle] + frames[middle:middle + 1] + frames[middle:]
    for apart in (-1, 1, 40):
        frame = frames[middle]
        yield [*frames[:middle], frame._replace(line=frame.line + apart),
               *frames[middle + 1:]]
    yield frames[:tree[0]] + frames[tree[0] + 1:]
    yield [*frames, Frame("burn_10", "native.c", 1)]


def try_truth(truth):
    """Whether the interpreter's own frames pass, and changed ones do not."""
    import tree
    sums, accepted = Sums(), Counter()

    def look(frame, event, _):
        frames = []
        while frame and event == "call":
            frames.append(Frame(frame.f_code.co_name,
                                frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        if sum(base(f) == "tree.py" for f in frames) < 4:
            return
        frames = [f for f in frames[::-1] if base(f) != "check.py"]
        frames.insert(0, Frame("loop", "cases.py", truth.cases.index(
            "        tree.n0(0)", 1)))
        sums.add(truth, frames, 1)
        for number, wrong in enumerate(changed(frames)):
            try:
                truth.check(wrong)
                accepted[number] += 1
            except Wrong:
                accepted[number] += 0

    sys.settrace(look)
    tree.n0(0)
    sys.settrace(None)
    sums.print()
    print("changed ones that pass:", *sorted(accepted.items()))
    return sums.wrong or not sums.equal or max(accepted.values()) * 4 \
        > sums.equal


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--least", type=float, default=99.9)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("directory")
    parser.add_argument("--self", action="store_true", dest="own")
    parser.add_argument("profiles", nargs="*")
    arguments = parser.parse_args()
    truth, sums = Truth(arguments.directory), Sums()
    if arguments.own:
        return bool(try_truth(truth))
    for path in arguments.profiles:
        for frames, count, _ in stacks_of_pprof(path):
            sums.add(truth, frames, count)
    sums.print()
    return (sums.share() < arguments.least
            or sums.judged() < arguments.samples)


if __name__ == "__main__":
    sys.exit(main())
