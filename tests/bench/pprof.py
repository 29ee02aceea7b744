# SPDX-License-Identifier: MIT
"""Reads a pprof profile (.pb.gz) as far as the measurements need it: samples
with values by type, the frames of each with functions, lines and addresses.

The format is a protocol buffer; the few wire types that occur are decoded here,
so that no package is needed.
"""
import gzip
from collections import namedtuple

Frame = namedtuple("Frame", "address module functions lines")
Module = namedtuple("Module", "start limit offset path")
Sample = namedtuple("Sample", "frames values labels")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field of a message; bytes for nested ones."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = 8 if wire == 1 else 4
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def packed(data):
    """The integers of a packed field."""
    at = 0
    while at < len(data):
        item, at = varint(data, at)
        yield signed(item)


def numbers(message, wanted):
    """The integers of repeated field WANTED, packed or not."""
    out = []
    for number, value in fields(message):
        if number != wanted:
            continue
        if isinstance(value, int):
            out.append(signed(value))
        else:
            out += packed(value)
    return out


def single(message):
    """The scalar fields of a message as a dictionary, last one wins."""
    return dict(fields(message))


class Profile:
    """A whole profile; types is the list of sample type names, comments are
    what the recorder says of itself."""

    def __init__(self, path):
        with gzip.open(path) as file:
            parts = list(fields(file.read()))
        self.strings = [v.decode() for n, v in parts if n == 6]
        self.types = [self.strings[single(v).get(1, 0)]
                      for n, v in parts if n == 1]
        self.comments = [self.strings[index] for number, value in parts
                         if number == 13
                         for index in ([value] if isinstance(value, int)
                                       else packed(value))]
        self._functions = self._by_id(parts, 5)
        self._modules = {number: self._module(fields_of) for number, fields_of
                         in self._by_id(parts, 3).items()}
        self._frames = dict(self._frame(v) for n, v in parts if n == 4)
        self.samples = [self._sample(v) for n, v in parts if n == 2]

    @staticmethod
    def _by_id(parts, wanted):
        messages = (single(v) for n, v in parts if n == wanted)
        return {message[1]: message for message in messages}

    def _module(self, message):
        return Module(message.get(2, 0), message.get(3, 0), message.get(4, 0),
                      self.strings[message.get(5, 0)])

    def _frame(self, data):
        message = single(data)
        lines = [single(v) for n, v in fields(data) if n == 4]
        lines = [self._line(line) for line in lines
                 if line.get(1) in self._functions]
        return message[1], Frame(message.get(3, 0),
                                 self._modules.get(message.get(2, 0)),
                                 [name for name, _, _ in lines], lines)

    def _line(self, message):
        """(function, file, line)"""
        function = self._functions[message[1]]
        return (self.strings[function.get(2, 0)],
                self.strings[function.get(4, 0)], message.get(2, 0))

    def _sample(self, data):
        labels = {}
        for number, value in fields(data):
            if number == 3:
                label = single(value)
                text = self.strings[label.get(2, 0)]
                labels[self.strings[label.get(1, 0)]] = text or label.get(3, 0)
        frames = [self._frames[number] for number in numbers(data, 1)]
        return Sample(frames, numbers(data, 2), labels)

    def values(self, kind):
        """(sample, value) of the sample type KIND."""
        column = self.types.index(kind)
        return [(sample, sample.values[column]) for sample in self.samples]
