# SPDX-License-Identifier: MIT
"""Programs whose Python stacks are known, to be run by any CPython from 3.9.

Usage: cases.py CASE SECONDS, with the directory of tree.py (made by
grow.py) first in PYTHONPATH and TRUTH_NATIVE naming native.c's
library. "ok" is printed at the end; a case that this interpreter cannot run
prints "skipped: WHY".

In this file the rule that check.py holds stacks against is: the line at which
a function calls another one of this file or of tree.py names it, in the call
or in a comment. on_event is called from anywhere.
"""
import asyncio
import os
import subprocess
import sys
import threading
import time

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def loop(seconds):
    """The tree again and again."""
    import tree
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tree.n0(0)


def in_threads(count, seconds):
    threads = [threading.Thread(target=loop, args=(seconds,))
               for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case
def plain(seconds):
    loop(seconds)


@case
def threads(seconds):
    in_threads(4, seconds)


@case
def crowd(seconds):
    in_threads(200, seconds)


@case
def waves(seconds):
    """Threads that come and go."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        in_threads(8, 0.01)


@case
def deep(seconds):
    """Recursion of 900, with a native function at its end."""
    import ctypes
    burn = ctypes.CDLL(os.environ["TRUTH_NATIVE"]).burn_87

    def descend(depth):
        if depth == 1:
            burn(200)
            return 0
        return descend(depth - 1) + 1

    sys.setrecursionlimit(5000)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        descend(900)


@case
def tasks(seconds):
    """Twenty tasks in turns, each some awaits deep."""
    import tree

    async def inner():
        tree.n0(0)
        await asyncio.sleep(0)
        tree.n0(0)

    async def middle():
        await inner()

    async def outer(end):
        while time.monotonic() < end:
            await asyncio.gather(middle(), middle())

    async def everything():
        end = time.monotonic() + seconds
        await asyncio.gather(*(outer(end) for _ in range(10)))

    asyncio.run(everything())  # runs middle, outer, inner


def on_event(*rest):
    """Called by the interpreter and by signals, wherever that is."""
    return on_event if len(rest) == 3 else None


@case
def traced(seconds):
    sys.settrace(on_event)
    loop(seconds)
    sys.settrace(None)


@case
def observed(seconds):
    sys.setprofile(on_event)
    loop(seconds)
    sys.setprofile(None)


@case
def profiled(seconds):
    import cProfile
    profile = cProfile.Profile()
    profile.runcall(loop, seconds)


@case
def monitored(seconds):
    """sys.monitoring rewrites the instructions."""
    if not hasattr(sys, "monitoring"):
        return "no sys.monitoring"
    tool, events = sys.monitoring.PROFILER_ID, sys.monitoring.events
    sys.monitoring.use_tool_id(tool, "cases")
    for event in (events.PY_START, events.LINE, events.CALL):
        sys.monitoring.register_callback(tool, event, on_event)
    sys.monitoring.set_events(tool, events.PY_START | events.LINE
                              | events.CALL)
    loop(seconds)
    sys.monitoring.set_events(tool, 0)
    return None


@case
def alarmed(seconds):
    """Python's handlers of signals run in between."""
    import signal
    signal.signal(signal.SIGALRM, on_event)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    loop(seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)


@case
def collected(seconds):
    """Garbage is collected all the time."""
    import gc
    gc.set_threshold(10)
    loop(seconds)


@case
def forked(seconds):
    """Generations of children, from a thread too."""
    def child():
        pid = os.fork()
        if pid == 0:
            loop(seconds / 4)
            os._exit(0)
        os.waitpid(pid, 0)

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        child()
        thread = threading.Thread(target=child)
        thread.start()
        thread.join()


def start_by(method, seconds):
    import multiprocessing
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=loop, args=(seconds,))  # loop
                 for _ in range(3)]
    for process in processes:
        process.start()  # fork: loop
    for process in processes:
        process.join()


@case
def by_fork(seconds):
    start_by("fork", seconds)


@case
def by_forkserver(seconds):
    start_by("forkserver", seconds)


@case
def by_spawn(seconds):
    start_by("spawn", seconds)


@case
def raised(seconds):
    """The tree while exceptions are in flight: in finally, in except, in a
    generator into which one is thrown, in __exit__, far below their origin."""
    import tree

    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, *what):
            tree.n0(0)
            return True

    def unwound(depth):
        try:
            if depth > 0:
                unwound(depth - 1)
            raise KeyError(depth)
        finally:
            tree.n0(0)

    def thrown():
        try:
            yield
        except ValueError:
            tree.n0(0)
            raise

    def handled():
        try:
            unwound(3)
        except KeyError as error:
            generator = thrown()
            next(generator)  # thrown
            try:
                generator.throw(ValueError())  # thrown
            except ValueError:
                tree.n0(0)
            raise LookupError from error

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with Manager():  # __exit__
            handled()  # __exit__


def freed_code(count):
    """Code of its own name, file and line, freed once it has run."""
    space = {"time": time}
    text = "\n" * (count % 500) + (
        f"def made_{count}(end):\n"
        "    while time.monotonic() < end:\n"
        "        sum(range(100))\n"
        f"made_{count}(time.monotonic() + 0.0007)\n")
    exec(compile(text, f"<made {count}>", "exec"), space)


@case
def freed(seconds):
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += 1
        freed_code(count)


@case
def interpreters(seconds):
    """Two interpreters with two threads, beside the main one."""
    try:
        import _interpreters as api
        kind = ("legacy",)
    except ImportError:
        try:
            import _xxsubinterpreters as api
        except ImportError:
            return "no sub-interpreters"
        kind = ()
    code = (f"import sys; sys.path[:] = {sys.path!r}\n"
            f"import cases; cases.loop({seconds})\n")

    def within():
        number = api.create(*kind) if kind else api.create(isolated=False)
        api.run_string(number, code)  # loop
        api.destroy(number)

    threads = [threading.Thread(target=within) for _ in range(2)]
    for thread in threads:
        thread.start()
    loop(seconds)
    for thread in threads:
        thread.join()
    return None


@case
def greens(seconds):
    """Greenlets that switch in the middle of their stacks."""
    try:
        import greenlet
    except ImportError:
        return "no greenlet"
    import tree
    end = time.monotonic() + seconds
    ring = []

    def turn(number):
        tree.n0(0)
        ring[(number + 1) % len(ring)].switch(number + 1)

    def green(number):
        while time.monotonic() < end:
            turn(number % len(ring))
        return number

    ring += [greenlet.greenlet(green) for _ in range(5)]
    ring[0].switch(0)  # green
    return None


@case
def arrays(seconds):
    """numpy calls back."""
    try:
        import numpy
    except ImportError:
        return "no numpy"
    import tree

    def element(value):
        tree.n0(0)
        return value

    numbers = numpy.arange(3.0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        numpy.vectorize(element)(numbers)
        numpy.frompyfunc(element, 1, 1)(numbers)
        numpy.apply_along_axis(element, 0, numbers)
        numpy.sort(numbers.reshape(1, 3), axis=0).dot(numbers)
    return None


@case
def cython(seconds):
    """A module that Cython compiled (called.pyx) calls back."""
    try:
        import called
    except ImportError:
        return "no compiled called.pyx"
    called.again(loop, seconds)
    return None


@case
def children(seconds):
    """Programs that are started in between."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        loop(0.05)


def main():
    name, seconds = sys.argv[1], float(sys.argv[2])
    why = CASES[name](seconds)  # any case
    print(f"skipped: {why}" if why else "ok", flush=True)


if __name__ == "__main__":
    main()
