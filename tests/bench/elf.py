# SPDX-License-Identifier: MIT
"""What the comparison of two profilers needs to know of an ELF file: to which
function an address belongs, independent of either profiler's symbols.

The start of a function is taken from the unwind table's search index
(.eh_frame_hdr), which stripped files have too. Names come from .symtab, the
separate debug file found by build-id, or .dynsym.
"""
import bisect
import functools
import struct
from collections import defaultdict
from pathlib import Path

DEBUG = Path("/usr/lib/debug/.build-id")
SYMTAB, DYNSYM, NOTE = 2, 11, 7
PT_LOAD, PT_EH_FRAME = 1, 0x6474E550


class Elf:
    """One 64-bit little-endian ELF file."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not a 64-bit little-endian ELF file")
        self.entry, segments, self._sections_at = struct.unpack_from(
            "<QQQ", self.data, 24)
        size, count, _, self._section_count = struct.unpack_from(
            "<HHHH", self.data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", self.data,
                                      segments + i * size)
                   for i in range(count)]
        self.loads = [h for h in headers if h[0] == PT_LOAD]
        self.first = self.loads[0][3] & ~0xFFF
        self.starts = self._unwind_starts(headers)

    def address_of(self, offset):
        """The address (as in st_value) of a file OFFSET."""
        for _, _, at, address, _, size, _, _ in self.loads:
            if at <= offset < at + size:
                return offset - at + address
        return offset

    def function_start(self, address):
        """Where the function that holds ADDRESS begins, ADDRESS if unknown."""
        index = bisect.bisect_right(self.starts, address) - 1
        return self.starts[index] if index >= 0 else address

    def _unwind_starts(self, headers):
        for kind, _, offset, address, _, size, _, _ in headers:
            # Encodings: 4-byte pc-relative pointer, 4-byte count, and a table
            # of 4-byte values relative to this header. All linkers write it.
            if kind == PT_EH_FRAME and size >= 12 and \
                    self.data[offset:offset + 4] == b"\x01\x1b\x03\x3b":
                count = struct.unpack_from("<I", self.data, offset + 8)[0]
                words = struct.unpack_from(f"<{2 * count}i", self.data,
                                           offset + 12)
                return [word + address for word in words[::2]]
        return []

    def _sections(self):
        for i in range(self._section_count):
            yield struct.unpack_from("<IIQQQQIIQQ", self.data,
                                     self._sections_at + i * 64)

    def build_id(self):
        for _, kind, _, _, offset, size, *_ in self._sections():
            note = self.data[offset:offset + size]
            if kind == NOTE and note[4:16] == (b"\x14\0\0\0\x03\0\0\0GNU\0"):
                return note[16:36].hex()
        return ""

    def symbols(self):
        """{address: {names}} of the functions in both symbol tables."""
        sections, found = list(self._sections()), defaultdict(set)
        for _, kind, _, _, offset, size, link, *_ in sections:
            if kind not in (SYMTAB, DYNSYM) or link >= len(sections):
                continue
            names = sections[link][4]
            for name, info, _, index, value, _ in struct.iter_unpack(
                    "<IBBHQQ", self.data[offset:offset + size]):
                if info & 15 in (2, 10) and index:
                    found[value].add(self._string(names + name))
        return found

    def _string(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()


@functools.lru_cache(maxsize=None)
def load(path):
    """The Elf of PATH, None for a name that is no such file ([vdso])."""
    try:
        return Elf(path)
    except (OSError, ValueError):
        return None


@functools.lru_cache(maxsize=None)
def names(path):
    """{address: {names}} for PATH, its separate debug file's included."""
    file = load(path)
    if not file:
        return {}
    found, identity = file.symbols(), file.build_id()
    debug = load(str(DEBUG / identity[:2] / f"{identity[2:]}.debug"))
    for address, more in (debug.symbols() if debug else {}).items():
        found[address] |= more
    return found


@functools.lru_cache(maxsize=None)
def _sorted_names(path):
    return sorted(names(path))


def names_before(path, address):
    """The names of the last function that starts at or before ADDRESS. Unlike
    the unwind table this knows assembly that has no entry there."""
    starts = _sorted_names(path)
    index = bisect.bisect_right(starts, address) - 1
    return names(path)[starts[index]] if index >= 0 else set()
