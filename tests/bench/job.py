# SPDX-License-Identifier: MIT
"""The job that CPython computes while it is profiled.

Usage: job.py UNITS. One unit takes about 12 ms. The work is the same in every
run: recursion, dictionaries, strings, sorting, lists of floats, generators.
"""
import sys


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def make_text(words):
    state, out = 12345, []
    for _ in range(words):
        state = (state * 1103515245 + 12345) % 2147483648
        out.append("word%d" % (state % 997))
    return " ".join(out)


def sort_records(count):
    records = [((i * 7919) % 10007, "k" + str(i)) for i in range(count)]
    records.sort(key=lambda record: (record[0] % 100, record[1]))
    return records[0]


def multiply(size):
    left = [[float(i + j) for j in range(size)] for i in range(size)]
    columns = list(zip(*left))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns]
            for row in left]


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    for n in range(2, int(limit ** 0.5) + 1):
        if flags[n]:
            flags[n * n::n] = bytes(len(range(n * n, limit + 1, n)))
    return sum(flags) - 2


def unit():
    return (fibonacci(17), len(count_words(make_text(20000))),
            sort_records(10000), multiply(36)[0][0], sieve(100000))


def main():
    for _ in range(int(sys.argv[1])):
        result = unit()
    print("done", result[0], flush=True)


main()
