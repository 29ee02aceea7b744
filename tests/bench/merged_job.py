# SPDX-License-Identifier: MIT
"""The program of merged.py: Python functions that native ones call, and native
ones that Python calls.

Usage: merged_job.py LIBRARY CALLS WAITERS. WAITERS threads wait for a lock that
is never free, in stacks of the same kind. The main thread makes CALLS calls,
and prints the ns in pauses, the longest one, their number, and the seconds that
the calls took.
"""
import ctypes
import os
import random
import sys
import threading
import time

CALLBACK = ctypes.CFUNCTYPE(None)
LIBRARY = ctypes.CDLL(sys.argv[1])
LOOKS = 4000
HELD = threading.Lock()
SOURCE = """
def inner_{n}():
    LIBRARY.work_{n}(LOOKS)

def outer_{n}(inner=CALLBACK(inner_{n})):
    LIBRARY.enter_{n}(inner)

def held_{n}():
    HELD.acquire()

def waiter_{n}(held=CALLBACK(held_{n})):
    LIBRARY.enter_{n}(held)
"""


def main():
    calls, waiters = int(sys.argv[2]), int(sys.argv[3])
    for n in range(4):
        exec(compile(SOURCE.format(n=n), "merged_code.py", "exec"), globals())
    HELD.acquire()
    for i in range(waiters):
        threading.Thread(target=globals()[f"waiter_{i % 4}"],
                         daemon=True).start()
    outer = [globals()[f"outer_{n}"] for n in range(4)]
    source = random.Random(1)
    begun = time.perf_counter()
    for _ in range(calls):
        source.choice(outer)()
    took = time.perf_counter() - begun
    pauses = (ctypes.c_uint64 * 3).in_dll(LIBRARY, "pauses")
    print(*pauses, took, flush=True)
    # The waiters never end.
    if waiters:
        os._exit(0)


main()
