#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the symbolizer says about an address, and how fast, beside
`eu-addr2line -f -i -C`, `addr2line -f -i -C` and `llvm-symbolizer`.

All four get the same random addresses (5,500 of each program, 22,000 in all).
The programs are CPython and libc with their debug symbols, a C++ program of
templates at -O2, and a Rust program at -O.

**Answers.** Asked without demangling, so that a name is what stands in the
file. Each address has a chain of functions, files (normalised, columns left
out) and lines. It is compared with each peer's; the kinds of differences are:

* *no name*: the peer has no function, we have; *no name of ours*: the reverse;
* *clone*: the owning function but for its suffix (`.cold`, `.lto_priv.0`): we
  show the symbol, which has it, a peer may show the original's name;
* *alias*: another symbol at the same start, because the linker folds equal
  functions and libraries give them several names;
* *directory*: the peer puts a relative compilation directory before a file
  name that already begins with it (`io/io/ftw.c`);
* *fewer calls*: the peer's chain is ours without some inlined calls, *more
  calls*: the reverse;
* *place*: the same functions, another file or line; *other*: anything else.

`370 / 12` are 370 such differences from this peer, and at 12 of them another
peer says just what we say. `outvoted` are those at which no peer does and two
agree with each other. `--show N` prints N of each kind.

**Time.** Demangling is on, and each of the four runs in turn, round by round.
The cells are medians, process start included, in seconds of time. CPU time is
given, too, because a loaded machine changes it less. The symbolizer runs in
tests/bench/symbols.c. "Second time" is the symbolizer with the answers that an
earlier run has kept (SPROF_CACHE). With --against the one of another build, which is in the
folder of its sources, runs in the same rounds.
"""
import collections
import os
import platform
import random
import re
import subprocess
import sys
from pathlib import Path

import bench

PEERS = ("eu-addr2line", "addr2line", "llvm-symbolizer")
CLONE = re.compile(r"\.(cold|part|isra|constprop|lto_priv|llvm)\b.*")
KEPT = "symbols-kept"
KINDS = ("no name", "clone", "alias", "directory", "fewer calls", "more calls",
         "place", "no name of ours", "other")


def command(tool, path, demangle):
    """How TOOL is asked about PATH, addresses on its standard input."""
    if tool == "llvm-symbolizer":
        return [tool, "-a", "-f", "--inlines",
                "--demangle" if demangle else "--no-demangle", "-e", path]
    if tool == KEPT:
        return [bench.CACHE / "symbols", *(["-C"] if demangle else []), path,
                build_id(path)]
    if tool.startswith("symbols"):
        return [bench.CACHE / tool, *(["-C"] if demangle else []), path]
    return [tool, "-a", "-f", "-i", *(["-C"] if demangle else []), "-e", path]


def build_id(path):
    done = subprocess.run(["readelf", "-n", path], capture_output=True,
                          text=True, check=True)
    return re.search(r"Build ID: (\w+)", done.stdout).group(1)


def place(text):
    """FILE:LINE[:COLUMN] [(discriminator N)] as (file, line), '' and 0 where
    they are not known."""
    text = re.sub(r" \(discriminator.*", "", text)
    found = re.fullmatch(r"(.*?):(\d+|\?)(?::(\d+))?", text)
    if not found or found.group(1) in ("??", ""):
        return "", 0
    line = 0 if found.group(2) == "?" else int(found.group(2))
    return os.path.normpath(found.group(1)), line


def answers(text):
    """The chains in the output of a tool, one for each address: tuples of
    (function, file, line)."""
    chains, lines = [], text.splitlines()
    i = 0
    while i < len(lines):
        if re.fullmatch(r"0x[0-9a-f]+", lines[i]):
            chains.append([])
            i += 1
        elif lines[i] == "":
            i += 1
        else:
            name = re.sub(r" inlined at .*", "", lines[i])
            chains[-1].append(("" if name == "??" else name,
                               *place(lines[i + 1])))
            i += 2
    return [tuple(chain) for chain in chains]


def ask(tool, path, questions, demangle=False):
    done = subprocess.run([str(word) for word in command(tool, path, demangle)],
                          input=questions, capture_output=True, text=True,
                          check=False, env=bench.environment())
    return answers(done.stdout)


def is_part(short, whole):
    """Whether SHORT is WHOLE without some of its elements."""
    rest = iter(whole)
    return all(element in rest for element in short)


def without_repetition(chain, ours):
    """CHAIN with its files as in OURS where they differ by a relative directory
    that stands twice."""
    known = {frame[1] for frame in ours}
    out = []
    for function, file, line in chain:
        tail = file
        while "/" in tail and not file.startswith("/"):
            first, tail = tail.split("/", 1)
            if tail in known and tail.startswith(first):
                file = tail
        out.append((function, file, line))
    return tuple(out)


def symbols_of(path):
    """The starts of each symbol in the file and its debug file."""
    starts = collections.defaultdict(set)
    done = subprocess.run(["readelf", "-n", path], capture_output=True,
                          text=True, check=False)
    found = re.search(r"Build ID: (..)(\w+)", done.stdout)
    debug = "/usr/lib/debug/.build-id/{}/{}.debug".format(*found.groups())
    for file in (path, debug):
        done = subprocess.run(["readelf", "-sW", file], capture_output=True,
                              text=True, check=False)
        for words in map(str.split, done.stdout.splitlines()):
            if len(words) == 8 and words[0][-1] == ":" and words[6] != "UND":
                name = words[7].split("@")[0]
                starts[name].add(words[1])
                starts[CLONE.sub("", name)].add(words[1])
    return starts


def difference(ours, theirs, starts):
    """The kind of difference between two chains that are not the same."""
    if not theirs[-1][0] and ours[-1][0]:
        return "no name"
    if not ours[-1][0] and theirs[-1][0]:
        return "no name of ours"
    plain = without_repetition(theirs, ours)
    if plain == ours:
        return "directory"
    (own, *_), (other, *_) = ours[-1], plain[-1]
    kind = "alias"
    if CLONE.sub("", own) == CLONE.sub("", other):
        kind = "clone" if own != other else "place"
    elif not starts[own] & starts[other]:
        return "other"
    # The owner apart, who is who.
    names = [frame[0] for frame in ours[:-1]]
    others = [frame[0] for frame in plain[:-1]]
    if names == others:
        same = [f[1:] for f in ours] == [f[1:] for f in plain]
        return kind if same else "place"
    if is_part(others, names):
        return "fewer calls"
    return "more calls" if is_part(names, others) else "other"


class Comparison:
    """The answers for one program: CHAINS by tool, in the order of the
    addresses."""

    def __init__(self, path, addresses, chains):
        self.path, self.addresses, self.chains = path, addresses, chains
        self.starts = symbols_of(path)

    def kind(self, i, theirs):
        return difference(self.chains["symbols"][i], theirs, self.starts)

    def peer(self, peer):
        """Addresses with the same answer, and for each kind of difference how
        many there are and at how many of them another peer agrees with us."""
        same, kinds, shared = 0, collections.Counter(), collections.Counter()
        for i, ours in enumerate(self.chains["symbols"]):
            theirs = self.chains[peer][i]
            if ours == theirs:
                same += 1
                continue
            kind = self.kind(i, theirs)
            kinds[kind] += 1
            shared[kind] += any(ours == self.chains[tool][i] for tool in PEERS)
        return [bench.number(same, 0)] + [
            f"{kinds[kind]} / {shared[kind]}" if kinds[kind] else "-"
            for kind in KINDS]

    def outvoted(self, show):
        """The same for the answers that two peers share, and none with us;
        prints SHOW of each kind."""
        kinds = collections.Counter()
        for i, ours in enumerate(self.chains["symbols"]):
            said = [self.chains[tool][i] for tool in PEERS]
            common, votes = collections.Counter(said).most_common(1)[0]
            if ours in said or votes < 2:
                continue
            kind = self.kind(i, common)
            kinds[kind] += 1
            if kinds[kind] <= show:
                print(f"# {self.path} {self.addresses[i]} {kind}: ours {ours},"
                      f" {votes} peers {common}", file=sys.stderr)
        return ["-"] + [kinds[kind] or "-" for kind in KINDS]


def build_tool(name, root, build):
    """The symbolizer as the program NAME, from the sources at ROOT and BUILD's
    libraries."""
    bench.CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    archive = Path(build) / "libsprof_symbol.a"
    others = [path for name in ("util", f"base_{platform.machine()}", "base")
              if (path := Path(build) / f"libsprof_{name}.a").exists()]
    inflaters = [option for option, name in (("-ldeflate", b"libdeflate_"),
                                             ("-lzstd", b"ZSTD_"))
                 if name in archive.read_bytes()]
    iberty = [path for path in sorted(Path("/usr/lib").rglob("libiberty*.a"))
              if path.name in ("libiberty.a", "libiberty_pic.a")]
    subprocess.run(
        ["gcc", "-O2", "-D_GNU_SOURCE", f"-I{root}/src", "-o",
         bench.CACHE / name, root / "tests/bench/symbols.c",
         archive, *others,
         "-ldw", "-lelf", "-lz", *inflaters, "-pthread", *iberty[-1:]],
        check=True)


def made(source, *compiler, kind=""):
    """The program from SOURCE, made once for each state of it and each KIND."""
    source = bench.HERE / source
    target = bench.CACHE / (source.name.replace(".", "-") + kind)
    if (not target.exists() or
            target.stat().st_mtime < source.stat().st_mtime):
        subprocess.run([*compiler, source, "-o", target], check=True)
    return str(target)


def programs():
    """What can be asked about here: name and path."""
    yield "CPython", os.path.realpath("/usr/bin/python3")
    yield "libc", os.path.realpath("/lib/x86_64-linux-gnu/libc.so.6")
    if bench.have("g++"):
        yield "C++", made("templates.cc", "g++", "-std=c++20", "-O2", "-g")
    if bench.have("rustc"):
        yield "Rust", made("templates.rs", "rustc", "-g", "-O")
        yield "Rust, .dwp", made("templates.rs", "rustc", "-g", "-O", "-C",
                                 "split-debuginfo=packed", kind="-packed")


def random_addresses(path, count):
    """COUNT addresses of the section .text of PATH."""
    done = subprocess.run(["readelf", "-SW", path], capture_output=True,
                          text=True, check=True)
    found = re.search(r"\.text +PROGBITS +(\w+) \w+ (\w+)", done.stdout)
    start, size = (int(text, 16) for text in found.groups())
    pick = random.Random(1)
    return [hex(start + pick.randrange(size)) for _ in range(count)]


def time_all(path, questions, rounds, tools):
    """Seconds, CPU seconds and peak memory (MiB) of each of the TOOLS: medians
    of so many ROUNDS, in turns. A tool that takes over five seconds has one."""
    runs = collections.defaultdict(list)
    with bench.scratch() as directory:
        (directory / "questions").write_text(questions)
        if KEPT in tools:  # the first run fills the directory
            (directory / "kept").mkdir(mode=0o700)
            with open(directory / "questions", encoding="ascii") as file:
                subprocess.run(command(KEPT, path, True), stdin=file,
                               env=bench.environment(
                                   SPROF_CACHE=directory / "kept"),
                               stdout=subprocess.DEVNULL, check=True)
        for index in range(rounds):
            for tool in tools:
                if index > 0 and runs[tool][0].wall > 5:
                    continue
                runs[tool].append(bench.run(
                    command(tool, path, True),
                    bench.environment(SPROF_CACHE=directory / "kept"),
                    stdin=directory / "questions"))
    return {tool: bench.Usage(bench.median(run.wall for run in runs[tool]),
                              bench.median(run.cpu for run in runs[tool]), 0,
                              bench.median(run.memory for run in runs[tool]))
            for tool in tools}


def seconds(usage):
    return f"{usage.wall:.3f} ({usage.cpu:.3f})"


def measure(report, tools, arguments):
    """Both tables, over all programs."""
    answered, timed = [], []
    for name, path in programs():
        addresses = random_addresses(path, arguments.count)
        questions = "\n".join(addresses) + "\n"
        bench.progress(f"names: {name}, answers")
        chains = {tool: ask(tool, path, questions) for tool in tools}
        comparison = Comparison(path, addresses, chains)
        answered += [[name, peer, *comparison.peer(peer)] for peer in PEERS]
        answered.append([name, "outvoted",
                         *comparison.outvoted(arguments.show)])
        bench.progress(f"names: {name}, time")
        others = ["symbols-other"] if arguments.against else []
        times = time_all(path, questions, arguments.rounds,
                         [*tools, *others, KEPT])
        ours, kept = times["symbols"], times[KEPT]
        timed.append([name, seconds(ours), f"{ours.memory:.0f} MiB",
                      *(seconds(times[other]) for other in others),
                      *(seconds(times[peer]) for peer in PEERS),
                      f"{min(times[p].wall for p in PEERS) / ours.wall:.1f}",
                      f"{min(times[p].cpu for p in PEERS) / ours.cpu:.1f}",
                      seconds(kept),
                      f"{min(times[p].wall for p in PEERS) / kept.wall:.1f}"])
    report.add(bench.table(["program", "peer", "same", *KINDS], answered, 2))
    other = ["other build"] if arguments.against else []
    report.add(bench.table(["program", "ours", "memory", *other, *PEERS,
                            "fastest / ours", "in CPU time", "second time",
                            "fastest / second"], timed))


def large_module():
    """A library of 1,450 units with 1.03 GB of debug information, made once: a
    unit of 12 functions with thousands of inlined calls, its copies renamed.
    Its path, and the names of its functions."""
    target = bench.CACHE / "large.so"
    if target.exists():
        return str(target)
    inline = "static inline __attribute__((always_inline)) long"
    lines = [f"{inline} c0(long x, long y) {{ return x * y + (x >> 3); }}"]
    for i in range(1, 6):
        lines.append(f"{inline} c{i}(long x, long y) {{ long a = c{i - 1}(x + "
                     f"{i}, y), b = c{i - 1}(a, x ^ y); return a > b ? "
                     f"c{i - 1}(b, a - {i}) : a; }}")
    lines += [f"long f{i}(long x, long y) {{ volatile long z = {i}; "
              f"return c5(x + z, y) + z; }}" for i in range(12)]
    with bench.scratch() as directory:
        (directory / "unit.c").write_text("\n".join(lines) + "\n")
        subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-c", "unit.c"], check=True,
                       cwd=directory)
        names = [f"{i}.o" for i in range(1450)]
        for i, name in enumerate(names):
            subprocess.run(["objcopy", f"--prefix-symbols=m{i}_", "unit.o",
                            name], check=True, cwd=directory)
        (directory / "list").write_text("\n".join(names))
        subprocess.run(["gcc", "-shared", "-nostdlib", "-o", target, "@list"],
                       check=True, cwd=directory)
    return str(target)


def measure_large(report, rounds):
    """3,000 addresses in a library with 1 GB of debug information: in 100 of
    its 1,450 units, as a profile has them, and all over it."""
    bench.progress("names: a library with 1 GB of debug information")
    path = large_module()
    every = random_addresses(path, 3000)
    start = min(int(address, 16) for address in every)
    unit = (max(int(address, 16) for address in every) - start) // 1450
    pick = random.Random(2)
    chosen = pick.sample(range(1450), 100)
    some = [hex(start + pick.choice(chosen) * unit + pick.randrange(unit // 2))
            for _ in range(3000)]
    rows = []
    for name, addresses in (("in 100 of its units", some), ("all over", every)):
        times = time_all(path, "\n".join(addresses) + "\n", rounds, ["symbols"])
        ours = times["symbols"]
        rows.append([name, seconds(ours), f"{ours.memory:.0f} MiB"])
    report.add(bench.table(["3,000 addresses of 1.03 GB", "time", "memory"],
                           rows))


def main():
    parser = bench.options(__doc__.split("\n", maxsplit=1)[0], rounds=7)
    parser.add_argument("--count", type=int, default=5500,
                        help="addresses of each program (5500)")
    parser.add_argument("--show", type=int, default=0,
                        help="print so many differences of each kind")
    parser.add_argument("--full", action="store_true",
                        help="also a library with 1 GB of debug information")
    bench.add_against(parser)
    arguments = parser.parse_args()
    missing = [tool for tool in PEERS if not bench.have(tool)]
    if missing:
        sys.exit(f"bench: no {missing[0]}; see tests/bench/install.sh")
    build_tool("symbols", bench.ROOT, arguments.build)
    if arguments.against:
        build_tool("symbols-other", arguments.against.resolve().parent,
                   arguments.against)
    report = bench.Report(arguments.out)
    measure(report, ("symbols", *PEERS), arguments)
    if arguments.full:
        measure_large(report, arguments.rounds)
    report.save()


if __name__ == "__main__":
    main()
