# SPDX-License-Identifier: MIT
"""Short functions that native code calls, for CPython from 3.9.

Usage: brief.py FILE SECONDS. FILE gets {"calls": {NAME: how often it ran},
"tid": the main thread's}. Each function in_NAME calls what calls functions
NAME_..., and no others. Threads beside the main one are of in_bare. Most of the
time of such a function is its begin and its end. The twins do the same, and the
same number of times.
"""
import _thread
import functools
import json
import os
import re
import sys
import time

DATA = list(range(200))
TEXT = "ab " * 100
calls = {}


def in_key():
    def key_f(number):
        return -number

    sorted(DATA, key=key_f)


def in_map():
    def map_f(number):
        return number + 1

    list(map(map_f, DATA))


def in_listed():
    def listed_f():
        return lambda number: number + 1

    def listed_all(function):
        return [function(number) for number in DATA]

    listed_all(listed_f())


def in_yield():
    def yield_f():
        for number in DATA:
            yield number

    sum(yield_f())


def in_both():
    """Native code calls a generator and a function in turns."""
    def both_yield():
        for number in DATA:
            yield number

    def both_f(number):
        return number

    list(map(both_f, both_yield()))


class Less:
    def __init__(self, number):
        self.number = number

    def less_lt(self, other):
        return self.number < other.number

    __lt__ = less_lt


LESS = [Less(number * 7919 % 200) for number in DATA]


def in_less():
    sorted(LESS)


def in_again():
    def again_f(depth):
        return depth and max([depth - 1], key=again_f)

    again_f(30)


def in_reduce():
    def reduce_f(one, other):
        return one + other

    functools.reduce(reduce_f, DATA)


def in_sub():
    def sub_f(match):
        return "x"

    re.sub("a", sub_f, TEXT)


def in_made():
    """A function that is made anew in each call."""
    name = f"made_{calls['in_made']}"
    space = {}
    exec(compile(f"def {name}(number): return -number",
                 "<made>", "exec"), space)
    sorted(DATA, key=space[name])


class Dropped:
    def dropped_del(self):
        pass

    __del__ = dropped_del


def in_dropped():
    """A function is left, and what that frees calls another one."""
    def dropped_f():
        kept = Dropped()
        return kept is None

    def dropped_g(number):
        kept = Dropped()
        return kept is number

    for _ in DATA:
        dropped_f()
    list(map(dropped_g, DATA))


def in_bare():
    """A thread that runs no other function of Python."""
    def bare_f(number):
        return number or done.release() or number

    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(sorted, (range(50000, -1, -1),), {"key": bare_f})
    done.acquire()


def in_twin():
    def twin_a(number):
        return number + 1

    def twin_b(number):
        return number + 1

    for _ in zip(map(twin_a, DATA), map(twin_b, DATA)):
        pass


def main():
    functions = [value for name, value in globals().items()
                 if name.startswith("in_")]
    for function in functions:
        name = function.__name__
        calls[name] = 0
        end = time.process_time() + float(sys.argv[2]) / len(functions)
        while time.process_time() < end:
            calls[name] += 1
            function()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"calls": calls, "tid": os.getpid()}, file)
    print("ok", flush=True)


main()
