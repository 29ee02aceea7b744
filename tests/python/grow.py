# SPDX-License-Identifier: MIT
"""Writes a Python module whose stacks certify themselves.

Usage: grow.py SEED FUNCTIONS DIRECTORY [WITHOUT]: tree.py and tree.json are
made there. WITHOUT is a way to call that is left out.

The module is a random tree of calls. Each function is called at one place
only, in one of the ways of EDGES. So its name and line fix the whole stack
above it, and every sample can be checked alone, whenever it was taken. Native
functions (native.c) are called at one place each, too: a stack with one of
them fixes where it lies between the Python functions.

tree.json has, by function: its name, its first and last line, its parent, the
lines at which the parent calls it, and the frames that lie between. These may
be limited to versions of Python.
"""
import json
import random
import sys
from dataclasses import dataclass, field

NATIVES = [f"{tens}{ones}" for tens in range(1, 9) for ones in range(8)]
DEEPEST = 14

PRELUDE = '''\
# Made by grow.py.
import contextlib
import ctypes
import functools
import os
import re

WHERE = os.environ["TRUTH_NATIVE"]
native = ctypes.PyDLL(WHERE)
free = ctypes.CDLL(WHERE)
Callback = ctypes.CFUNCTYPE(None)
UNITS = int(os.environ.get("TRUTH_UNITS", "40"))


class Planned(Exception):
    pass


def passed(function):
    @functools.wraps(function)
    def call(*rest):
        return function(*rest)
    return call


def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


for tens in range(1, 9):
    for ones in range(8):
        function = getattr(native, f"through_{tens}{ones}")
        function.restype = ctypes.py_object
        function.argtypes = [ctypes.py_object]


'''


@dataclass
class Edge:
    """A way to call. CODE is the caller's, with {f} for what is called; "#@"
    ends the lines at which the call may stand, all of them without it. STYLE
    is how the callee is defined, RESULT what it returns, VIA the frames that
    lie between: (names, file, first version, version without it)."""
    code: str
    style: str = "function"
    result: str = "0"
    via: tuple = ()
    parents: tuple = ("function", "method", "generator", "async", "agen")


ASYNC = ("async", "agen")
YIELDING = ("generator", "agen")
COMPREHENSION = (("<listcomp>", "tree.py", "", "3.12"),)
GENEXPR = (("<genexpr>", "tree.py", "", ""),)
SUB = (("sub", "re.py", "", "3.11"), ("sub", "__init__.py", "3.11", ""))
EDGES = {
    "plain": Edge("{f}(0)"),
    "star": Edge("{f}(*(0,))"),
    "keyword": Edge("{f}(**{{'rest': 0}})"),
    "lines": Edge("{f}(\n    0,\n)"),
    "twice": Edge("for turn in range(2):\n    {f}(turn)#@"),
    "sorted": Edge("sorted((0,), key={f})"),
    "map": Edge("list(map({f}, (0,)))"),
    "filter": Edge("list(filter({f}, (0,)))"),
    "partial": Edge("functools.partial({f}, 0)()"),
    "sub": Edge("re.sub('x', {f}, 'x')", result="''", via=SUB),
    "through": Edge("native.through_{n}({f})"),
    "enter": Edge("free.enter_{n}(Callback({f}))"),
    "generator": Edge("for part in {f}(0):\n    pass", "generator"),
    "listed": Edge("list({f}(0))", "generator"),
    "delegated": Edge("yield from {f}(0)", "generator",
                      parents=("generator",)),
    "dropped": Edge("for part in {f}(0):\n    break", "closing"),
    "manager": Edge("with contextlib.contextmanager({f})():\n    pass",
                    "managed",
                    via=(("__enter__|__exit__", "contextlib.py", "", ""),)),
    "genexpr": Edge("sum({f}(0) for turn in (1,))", via=GENEXPR),
    "listcomp": Edge("[{f}(0) for turn in (1,)]", via=COMPREHENSION),
    "lambda": Edge("(lambda: {f}(0))()", via=(("<lambda>", "tree.py", "", ""),)),
    "exec": Edge("exec(MADE_{i}, globals())",
                 via=(("<module>", "<made {i}>", "", ""),)),
    "wrapped": Edge("{f}(0)", "wrapped", via=(("call", "tree.py", "", ""),)),
    "nested": Edge("{f}(0)", "nested"),
    "init": Edge("{f}()", "method:__init__", "None"),
    "call": Edge("{f}()(0)", "method:__call__"),
    "property": Edge("{f}().value", "method:value"),
    "missing": Edge("{f}().missing", "method:__getattr__"),
    "greater": Edge("max({f}(), {f}())", "method:__gt__", "True"),
    "hashed": Edge("{{{f}(): 0}}", "method:__hash__"),
    "formatted": Edge("'{{}}'.format({f}())", "method:__format__", "''"),
    "finalized": Edge("{f}()", "method:__del__"),
    "with": Edge("with {f}():\n    pass", "method:__enter__"),
    "left": Edge("with {f}():\n    raise Planned", "method:__exit__", "True"),
    "caught": Edge("try:\n    raise Planned\nexcept Planned:\n    {f}(0)#@"),
    "finally": Edge("try:\n    try:\n        raise Planned\n    finally:\n"
                    "        {f}(0)#@\nexcept Planned:\n    pass"),
    "raised": Edge("try:\n    {f}(0)#@\nexcept Planned:\n    pass",
                   "raising"),
    "driven": Edge("drive({f}(0))", "async",
                   via=(("drive", "tree.py", "", ""),)),
    "awaited": Edge("await {f}(0)", "async", parents=ASYNC),
    "async for": Edge("async for part in {f}(0):\n    pass", "agen",
                      parents=ASYNC),
    "async with": Edge("async with {f}():\n    pass", "method:__aenter__",
                       parents=ASYNC),
}
LEAVES = (
    "for i in range(UNITS * 2):\n    x = i * 3\n    x ^= i",
    "n = UNITS\nwhile n > 0:\n    n -= 1\n    n += 0 if n else 0",
    "x = sum(range(UNITS * 20))",
    "x = sorted(range(UNITS * 10), key=abs)",
    "x = []\nfor i in range(UNITS):\n    x.append(str(i))\nx = ''.join(x)",
    "for i in range(UNITS // 2):\n    try:\n        raise Planned\n"
    "    except Planned:\n        x = i",
    "x = {{i: i for i in range(UNITS)}}\nx = [x[i] for i in range(UNITS)]",
    "free.burn_{n}(UNITS)",
    "native.burn_{n}(UNITS)",
)


@dataclass
class Node:
    """A function of the tree."""
    number: int
    parent: int = -1
    edge: str = "plain"
    children: list = field(default_factory=list)
    depth: int = 0
    facts: dict = field(default_factory=dict)

    @property
    def style(self):
        return EDGES[self.edge].style if self.parent >= 0 else "function"

    @property
    def kind(self):
        """What it can be as a caller."""
        style = self.style
        if style == "method:__aenter__":
            return "async"
        if style.startswith("method:"):
            return "method"
        return style if style in (*ASYNC, *YIELDING) else "function"


class Writer:
    """The text of the module, and what is known of it."""

    def __init__(self, seed, count, without):
        self.edges = [edge for edge in EDGES if edge != without]
        self.random = random.Random(seed)
        self.lines = PRELUDE.split("\n")[:-1]
        self.natives = {}
        self.free_natives = {kind: list(NATIVES)
                             for kind in ("burn", "enter", "through")}
        self.nodes = self._grow(count)

    def _grow(self, count):
        """Every way of calling once, then by chance."""
        nodes = [Node(0)]
        wanted = list(self.edges)
        self.random.shuffle(wanted)
        while len(nodes) < count or wanted:
            parent = self.random.choice(nodes[-30:])
            if parent.depth >= DEEPEST or len(parent.children) >= 4:
                parent = self.random.choice(nodes)
            edge = self._edge(parent, wanted)
            if not edge or parent.depth >= DEEPEST:
                continue
            node = Node(len(nodes), parent.number, edge,
                        depth=parent.depth + 1)
            parent.children.append(node)
            nodes.append(node)
        return nodes

    def _edge(self, parent, wanted):
        for edge in wanted:
            if parent.kind in EDGES[edge].parents:
                wanted.remove(edge)
                return edge
        edge = self.random.choice(self.edges)
        if edge in ("enter", "through"):
            return None
        return edge if parent.kind in EDGES[edge].parents else None

    def put(self, text, indent):
        for line in text.split("\n"):
            self.lines.append(" " * indent + line if line else line)

    def native(self, kind):
        return self.free_natives[kind].pop(0)

    def all(self):
        for node in reversed(self.nodes):
            if node.style != "nested":
                self.put("\n", 0)
                self.definition(node, 0)
        text = "\n".join(self.lines) + "\n"
        return text, {"functions": [node.facts for node in self.nodes],
                      "natives": self.natives}

    def definition(self, node, indent):
        style, name = node.style, f"n{node.number}"
        if EDGES[node.edge].via and node.edge == "exec":
            self.put(f'MADE_{node.number} = compile("\\n\\n{name}(0)\\n", '
                     f'"<made {node.number}>", "exec")\n', indent)
        first = self.here()
        if style.startswith("method:"):
            method = style.split(":")[1]
            self.put(f"class {name}:", indent)
            indent, name = indent + 4, method
            self.others(method, indent)
            first = self.here()
            if method == "value":
                self.put("@property", indent)
            word = "async def" if method == "__aenter__" else "def"
            self.put(f"{word} {method}(self, *rest):", indent)
        else:
            if style == "wrapped":
                self.put("@passed", indent)
            word = "async def" if style in ASYNC else "def"
            self.put(f"{word} {name}(rest=0):", indent)
        node.facts.update(id=node.number, name=name, parent=node.parent,
                          first=first)
        self.body(node, indent + 4)
        node.facts["last"] = len(self.lines)
        node.facts.setdefault("lines", [])
        node.facts.setdefault("via", [])

    def here(self):
        """The number of the line that is put next."""
        return len(self.lines) + 1

    def others(self, method, indent):
        """The methods that a class must have besides."""
        more = {"__enter__": "def __exit__(self, *rest): pass\n",
                "__exit__": "def __enter__(self): pass\n",
                "__aenter__": "async def __aexit__(self, *rest): pass\n",
                "__hash__": "def __eq__(self, other): return self is other\n"}
        if method in more:
            self.put(more[method], indent)

    def body(self, node, indent):
        style = node.style
        if style == "closing":
            self.put("try:\n    yield 0\nfinally:", indent)
            indent += 4
        elif style in YIELDING and self.random.random() < 0.5:
            self.put("yield 0", indent)
        if not node.children or self.random.random() < 0.4:
            self.leaf(node, indent)
        for child in node.children:
            if self.random.random() < 0.3:
                self.put("\n" * self.random.choice((1, 5, 130, 300)), indent)
            self.call(node, child, indent)
        if style in (*YIELDING, "managed"):
            self.put("yield 0", indent)
        elif style == "raising":
            self.put("raise Planned", indent)
        elif style != "closing":
            result = EDGES[node.edge].result if node.parent >= 0 else "0"
            self.put(f"return {result}", indent)

    def leaf(self, node, indent):
        text = self.random.choice(LEAVES)
        if "{n}" in text:
            number = self.native("burn") if self.free_natives["burn"] else ""
            if not number:
                return self.put(LEAVES[0], indent)
            self.natives[f"burn_{number}"] = {
                "owner": node.number, "line": self.here(), "child": -1}
            text = text.format(n=number)
        else:
            text = text.format()
        return self.put(text, indent)

    def call(self, node, child, indent):
        edge, name = EDGES[child.edge], f"n{child.number}"
        if edge.style == "nested":
            self.definition(child, indent)
        number = ""
        if "{n}" in edge.code:
            number = self.native(child.edge)
            self.natives[f"{child.edge}_{number}"] = {
                "owner": node.number, "line": self.here(),
                "child": child.number}
        start = self.here()
        text = edge.code.format(f=name, n=number, i=child.number)
        marked = [start + i for i, line in enumerate(text.split("\n"))
                  if line.endswith("#@")]
        self.put(text.replace("#@", ""), indent)
        child.facts["lines"] = marked or list(range(start, self.here()))
        child.facts["via"] = [[name, where.format(i=child.number), low, high]
                              for name, where, low, high in edge.via]
        child.facts["edge"] = child.edge


def make(seed, count, directory, without=None):
    text, facts = Writer(seed, count, without).all()
    with open(f"{directory}/tree.py", "w", encoding="utf-8") as file:
        file.write(text)
    with open(f"{directory}/tree.json", "w", encoding="utf-8") as file:
        json.dump(facts, file)


if __name__ == "__main__":
    make(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
