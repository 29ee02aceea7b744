# SPDX-License-Identifier: MIT
"""Computes for some seconds of CPU time with what lies in the standard library:
parses, compiles, matches, sorts, packs and prints its own files, so that many
functions of the interpreter run, and many places in each."""
import ast
import bz2
import collections
import datetime
import decimal
import difflib
import fractions
import glob
import hashlib
import io
import json
import os
import pickle
import re
import struct
import sys
import textwrap
import time
import zlib


def use(text):
    tree = ast.parse(text)
    compile(tree, "text", "exec")
    ast.dump(tree)
    words = re.findall(r"\w+", text)
    counts = collections.Counter(words)
    sorted(words, key=str.lower)
    "".join(reversed(words)).upper().split("a")
    json.loads(json.dumps(counts))
    pickle.loads(pickle.dumps(counts))
    data = text.encode()
    hashlib.sha256(data).hexdigest()
    zlib.decompress(zlib.compress(data))
    bz2.compress(data[:5000])
    for word in words[:200]:
        decimal.Decimal(len(word)) / 7 + int(fractions.Fraction(9, 7))
        int(str(len(word)) * 20) * 3**50 // 7
        f"{len(word) / 3:.3f} {10**30:,} {word!r:>20}"
    struct.pack("100i", *range(100))
    datetime.datetime(2000, 1, 1).isoformat()
    textwrap.wrap(text[:2000])
    difflib.SequenceMatcher(None, text[:300], text[300:600]).ratio()
    set(words) & set(words[::2])
    io.StringIO(text).readlines()


def main():
    end = time.process_time() + float(sys.argv[1])
    paths = [path for path in
             sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))
             if os.path.getsize(path) < 60000]
    while time.process_time() < end:
        for path in paths:
            if time.process_time() < end:
                with open(path, encoding="utf-8", errors="replace") as file:
                    use(file.read())


if __name__ == "__main__":
    main()
