# SPDX-License-Identifier: MIT
"""Reads a spool (src/store/layout.h) for the measurements: samples, stacks,
counters. It takes finished, killed and growing files, stops at the first record
that is not whole, and trusts the product's own reader for everything finer.

Run by itself it prints a summary: spool.py FILE.
"""
import struct
import sys
from collections import namedtuple

HEADER = struct.Struct("<8sIIQQII")
HEAD = struct.Struct("<BBHI")
PROCESS, MODULE, MODULE_END, THREAD, THREAD_END, NODE, SAMPLE, COUNTS = \
    range(2, 10)
TEXT = 12
NODE_RETURN, NODE_ELIDED, NODE_TRUNCATED = 1, 2, 4
TRIGGERS = ("none", "perf", "timer", "ask", "kept")
NONE, KEPT = 0, 4
RUNNING, SAMPLE_OPEN = 0, 1
LOSSES = ("ring full", "exited", "silent", "forked", "spool full")

Module = namedtuple("Module", "id base start end path")
Node = namedtuple("Node", "parent module flags offset")
Sample = namedtuple("Sample", "time duration wall cpu count thread node label "
                              "system_call state trigger stopped depth "
                              "waits_on flags age")
Counts = namedtuple("Counts", "time ticks asked taken parked kept peeked "
                              "unsure skipped rules process_cpu sampler_cpu "
                              "stopped lost cut missed")

_MODULE = struct.Struct("<IIQQQQHHI")
_NODE = struct.Struct("<IIIIQ")
_THREAD_END = struct.Struct("<IIQQQ")
_SAMPLE = struct.Struct("<QQQQQIIIHBBIIIIQ")
_TEXT = struct.Struct("<IHH")
_COUNTS = struct.Struct("<13QII")


class Spool:
    """One spool in memory: modules, nodes and texts by id, samples, counts; USED
    is where its last whole record ends."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:7] != b"SPROFSP":
            raise ValueError(f"{path}: not a spool")
        self.period = 0
        self.modules, self.nodes, self.samples = {}, {}, []
        self.texts, self.ends = {0: ""}, {}
        self.counts = None
        self.used = self._read(HEADER.unpack_from(self.data)[2])
        self._extend_waits()
        self._complete = {0: False}

    def _read(self, offset):
        readers = {PROCESS: self._process, MODULE: self._module,
                   NODE: self._node, SAMPLE: self._sample,
                   COUNTS: self._counts, TEXT: self._text,
                   THREAD_END: self._thread_end}
        while offset + HEAD.size <= len(self.data):
            kind, _, _, size = HEAD.unpack_from(self.data, offset)
            if kind == 0 or size < 8 or offset + size > len(self.data):
                break
            if kind in readers:
                readers[kind](offset + HEAD.size)
            offset += size
        return offset

    def _process(self, at):
        self.period = struct.unpack_from("<Q", self.data, at)[0]

    def _module(self, at):
        (number, _, base, start, end, _, id_length, path_length,
         _) = _MODULE.unpack_from(self.data, at)
        at += _MODULE.size + id_length
        path = self.data[at:at + path_length].rstrip(b"\0").decode()
        self.modules[number] = Module(number, base, start, end, path)

    def _node(self, at):
        number, *rest = _NODE.unpack_from(self.data, at)
        self.nodes[number] = Node(*rest)

    def _sample(self, at):
        self.samples.append(Sample(*_SAMPLE.unpack_from(self.data, at)))

    def _counts(self, at):
        *fixed, losses, cuts = _COUNTS.unpack_from(self.data, at)
        end = at - HEAD.size + HEAD.unpack_from(self.data, at - HEAD.size)[3]
        at += _COUNTS.size
        lost = struct.unpack_from(f"<{losses}Q", self.data, at)
        cut = struct.unpack_from(f"<{cuts}Q", self.data, at + 8 * losses)
        # After EXPIRED; older files end before it.
        late = at + 8 * (losses + cuts + 1)
        missed = (struct.unpack_from("<Q", self.data, late)[0]
                  if late + 8 <= end else 0)
        self.counts = Counts(*fixed, lost, cut, missed)

    def _text(self, at):
        number, length, _ = _TEXT.unpack_from(self.data, at)
        at += _TEXT.size
        self.texts[number] = self.data[at:at + length].rstrip(b"\0").decode()

    def _thread_end(self, at):
        thread, _, time, _, _ = _THREAD_END.unpack_from(self.data, at)
        self.ends[thread] = time

    def _extend_waits(self):
        """Open waits reach to the last tick or the end of their thread."""
        tick = self.counts.time if self.counts else 0
        for i, sample in enumerate(self.samples):
            if not sample.flags & SAMPLE_OPEN or sample.state == RUNNING:
                continue
            more = min(tick, self.ends.get(sample.thread, tick)) - (
                sample.time + sample.duration)
            if more > 0:
                self.samples[i] = sample._replace(
                    wall=sample.wall + more,
                    count=sample.count + more // max(self.period, 1))

    def taken(self):
        """Samples of threads that were interrupted, not kept ones."""
        return [sample for sample in self.samples
                if sample.trigger not in (NONE, KEPT)]

    def is_complete(self, node):
        """Whether the stack of NODE has no mark that it ended early."""
        chain = []
        while node not in self._complete:
            chain.append(node)
            entry = self.nodes[node]
            if entry.flags & NODE_TRUNCATED or entry.parent == 0:
                self._complete[node] = not entry.flags & NODE_TRUNCATED
            else:
                node = entry.parent
        for below in chain:
            self._complete[below] = self._complete[node]
        return self._complete[node]

    def root(self, node):
        """The outermost frame of the stack of NODE, None for no stack."""
        entry = None
        while node:
            entry = self.nodes[node]
            node = entry.parent
        return entry


def read_all(directory):
    """Every spool in DIRECTORY."""
    return [Spool(path) for path in sorted(directory.glob("*.sprof"))]


def main():
    for path in sys.argv[1:]:
        spool = Spool(path)
        triggers = {}
        for sample in spool.samples:
            name = TRIGGERS[sample.trigger]
            triggers[name] = triggers.get(name, 0) + sample.count
        complete = sum(spool.is_complete(s.node) for s in spool.samples)
        print(f"{path}: period {spool.period} ns, {len(spool.modules)} modules,"
              f" {len(spool.nodes)} nodes, {len(spool.samples)} samples "
              f"{triggers}, {complete} complete\n{spool.counts}")


if __name__ == "__main__":
    main()
