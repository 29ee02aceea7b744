# SPDX-License-Identifier: MIT
"""Runs perf as a peer and reads what it recorded.

Two uses. For cost, `perf record --call-graph dwarf`, as people who want
stacks from stock programs must; the samples are counted in perf.data itself, no
unwinding is done. For truth, `perf record -g`: every call chain begins with
the kernel's frames and then the user-space instruction, which the kernel knows
without frame pointers; so kernel time can be given to the user function that
caused it, as libsprof does.
"""
import functools
import os
import re
import struct
import subprocess
from collections import namedtuple
from pathlib import Path

import bench
import elf

SAMPLE, LOST, LOST_SAMPLES = 9, 2, 13
KERNEL = 1 << 63
VDSO_COPIES = Path("/tmp")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")

Leaf = namedtuple("Leaf", "path address name")


@functools.lru_cache(maxsize=None)
def available():
    """Whether perf is here and may record."""
    if not bench.have("perf"):
        return False
    with bench.scratch() as directory:
        usage = bench.run([*record(100, directory / "perf.data"), "/bin/true"],
                          bench.environment())
    if usage.status != 0:
        bench.progress("perf may not record here (perf_event_paranoid); it is "
                       "left out")
    return usage.status == 0


def record(rate, output, graph="dwarf"):
    """The words to put before a command. Without the build-id scan at the end,
    which is work that the others leave to their readers, and without perf's
    side-band thread, for whose next second every run would wait."""
    how = ["-g"] if graph == "fp" else ["--call-graph", graph]
    return ["perf", "record", "-q", "-B", "-N", "--no-bpf-event", "-o",
            str(output), "-e", "cpu-clock", *how, "-F", str(rate), "--"]


def count(path):
    """(samples, lost) in a perf.data file."""
    samples = lost = 0
    with open(path, "rb") as file:
        header = file.read(104)
        at, size = struct.unpack_from("<QQ", header, 40)
        end = min(at + size, os.path.getsize(path))
        while at + 8 <= end:
            file.seek(at)
            kind, _, length = struct.unpack("<IHH", file.read(8))
            if length < 8:
                break
            samples += kind == SAMPLE
            if kind == LOST:
                lost += struct.unpack("<QQ", file.read(16))[1]
            elif kind == LOST_SAMPLES:
                lost += struct.unpack("<Q", file.read(8))[0]
            at += length
    return samples, lost


def leaves(path, only=""):
    """The first user-space frame of every sample, None where a sample has only
    kernel frames. ONLY names the one process (comm) that counts."""
    found = []
    for block in script(path).split("\n\n"):
        first, *frames = block.strip("\n").split("\n")
        if not first or (only and first.split()[0] != only):
            continue
        found.append(user_frame(frames))
    return absolute(found)


def script(path):
    """What perf script prints. It leaves its copies of the vdso behind in /tmp,
    which are removed here."""
    copies = set(VDSO_COPIES.glob("perf-vdso.so-*"))
    done = subprocess.run(
        ["perf", "script", "-i", str(path), "--no-inline", "-F",
         "comm,pid,ip,sym,symoff,dso"], capture_output=True, text=True,
        env=bench.environment(), errors="replace", check=True)
    for copy in set(VDSO_COPIES.glob("perf-vdso.so-*")) - copies:
        copy.unlink(missing_ok=True)
    return done.stdout


def user_frame(frames):
    for line in frames:
        match = FRAME.match(line)
        if match and not int(match.group(1), 16) & KERNEL:
            address, name, path = match.groups()
            return Leaf(path, int(address, 16), name)
    return None


def absolute(found):
    """Make addresses those of the ELF file's own numbering. perf prints the
    frames of a call chain as offsets in the file; a version that prints
    addresses in memory is not understood, and said so."""
    out = []
    for leaf in found:
        if leaf and leaf.address > 1 << 40 and elf.load(leaf.path):
            raise ValueError("perf script prints addresses in memory here")
        file = elf.load(leaf.path) if leaf else None
        out.append(leaf._replace(address=file.address_of(leaf.address))
                   if file else leaf)
    return out
