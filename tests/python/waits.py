# SPDX-License-Identifier: MIT
"""Threads that wait, each in its own way, for CPython from 3.9.

Usage: waits.py FILE SECONDS. FILE gets the stack of every thread as the
interpreter itself has it: {tid: [[name, file, line], ...]}, root first, and
which thread has the lock that a thread waits for: {tid: tid}. From
then on no thread leaves its wait, for so many seconds. The last word of the output is
the time from the process's start until then, in seconds.
"""
import asyncio
import concurrent.futures
import json
import multiprocessing.connection
import os
import queue
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time

TIDS = {}
HELD = threading.Lock()
OWNED = threading.RLock()
OWNED_WAITS = []
NEVER = threading.Event()
WAITS = []


def wait(function):
    WAITS.append(function)
    return function


@wait
def sleeping():
    time.sleep(600)


@wait
def locked():
    HELD.acquire()


@wait
def locked_in_time():
    HELD.acquire(timeout=600)


@wait
def within_with():
    with HELD:
        pass


@wait
def with_reentrant():
    lock = threading.RLock()
    taken = threading.Event()

    def hold():
        with lock:
            taken.set()
            time.sleep(600)

    other = threading.Thread(target=hold, daemon=True)
    other.start()
    taken.wait()
    OWNERS[threading.get_native_id()] = other.native_id
    lock.acquire()


def owned(function):
    """The main thread has the lock for which FUNCTION waits."""
    OWNED_WAITS.append(function)
    return wait(function)


@owned
def reentrant():
    OWNED.acquire()


@owned
def reentrant_in_time():
    OWNED.acquire(timeout=600)


@owned
def within_reentrant():
    with OWNED:
        pass


@wait
def event():
    NEVER.wait()


@wait
def event_in_time():
    NEVER.wait(600)


@wait
def condition():
    one = threading.Condition()
    with one:
        one.wait_for(lambda: False)


@wait
def semaphore():
    threading.Semaphore(0).acquire()


@wait
def barrier():
    threading.Barrier(2).wait()


@wait
def queued():
    queue.Queue().get()


@wait
def simply_queued():
    queue.SimpleQueue().get()


@wait
def received():
    pair = socket.socketpair()
    pair[0].recv(1)


@wait
def accepted():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    server.accept()


@wait
def selected():
    pair = socket.socketpair()
    select.select([pair[0]], [], [])


@wait
def polled():
    poll = select.poll()
    poll.poll()


@wait
def with_selectors():
    pair = socket.socketpair()
    selector = selectors.DefaultSelector()
    selector.register(pair[0], selectors.EVENT_READ)
    selector.select()


@wait
def from_pipe():
    ends = os.pipe()
    os.read(ends[0], 1)


@wait
def from_file():
    ends = os.pipe()
    with open(ends[0], encoding="utf-8") as file:
        for line in file:
            print(line)


@wait
def connected():
    pair = multiprocessing.connection.Pipe()
    pair[0].recv()


@wait
def child():
    with subprocess.Popen(["sleep", "600"]) as process:
        CHILDREN.append(process)
        process.wait()


@wait
def joined():
    other = threading.Thread(target=time.sleep, args=(600,), daemon=True)
    other.start()
    other.join()


@wait
def future():
    concurrent.futures.Future().result()


@wait
def looping():
    async def inner():
        await asyncio.sleep(600)

    asyncio.run(inner())


@wait
def signalled():
    signal.sigwait([signal.SIGUSR2])


@wait
def in_generator():
    def parts():
        yield 1
        time.sleep(600)

    for part in parts():
        sum([part])


@wait
def sorted_by():
    sorted([1, 2], key=lambda part: time.sleep(600))


@wait
def recursive(depth=200):
    if depth:
        recursive(depth - 1)
    else:
        time.sleep(600)


@wait
def executed():
    exec(compile("\n\ndef made():\n    time.sleep(600)\nmade()\n", "<made>",
                 "exec"), {"time": time})


CHILDREN = []
OWNERS = {}


def enter(function):
    TIDS[threading.get_ident()] = threading.get_native_id()
    if function in OWNED_WAITS:
        OWNERS[threading.get_native_id()] = os.getpid()
    function()


def age():
    """Seconds since this process was started."""
    with open("/proc/self/stat", encoding="utf-8") as file:
        ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    return (time.clock_gettime(time.CLOCK_BOOTTIME)
            - ticks / os.sysconf("SC_CLK_TCK"))


def all_stacks():
    stacks = {}
    for ident, frame in sys._current_frames().items():
        frames = []
        while frame:
            code = frame.f_code
            frames.append([code.co_name, code.co_filename, frame.f_lineno])
            frame = frame.f_back
        if ident in TIDS:
            stacks[TIDS[ident]] = frames[::-1]
    return stacks


def observe(path, seconds):
    """By a thread of its own, so that the main thread has its stack, too."""
    before, stacks = None, {}
    while before != stacks or len(stacks) <= len(WAITS):
        time.sleep(0.3)
        before, stacks = stacks, all_stacks()
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"stacks": stacks, "owners": OWNERS}, file)
    settled = age()
    time.sleep(seconds)
    for process in CHILDREN:
        process.kill()
    print(f"ok\nsettled {settled}", flush=True)
    os._exit(0)


def main():
    TIDS[threading.get_ident()] = threading.get_native_id()
    HELD.acquire()
    OWNED.acquire()
    OWNED.acquire()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    for function in WAITS:
        threading.Thread(target=enter, args=(function,), daemon=True).start()
    threading.Thread(target=observe,
                     args=(sys.argv[1], float(sys.argv[2]))).start()
    time.sleep(600)


if __name__ == "__main__":
    main()
