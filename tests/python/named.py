# SPDX-License-Identifier: MIT
"""Tasks of asyncio, each of which calls a function that no other one calls.

Usage: named.py TRUTH [SECONDS]

TRUTH gets the name of the task by the name of its function, null for functions
that no task calls. Two loops in two threads run the same coroutines. Some tasks
have the name that asyncio gives them, which CPython makes when it is asked for.
"""
import asyncio
import itertools
import json
import sys
import threading
import time

NAMES = ("first", "größe 日本 😀", "x" * 100, None)
REST = 0.5  # seconds: the sampler has found the module by then
truth, tasks = {}, {}
numbers = itertools.count()


def function(kind):
    """A new function that computes, or that sleeps in the middle of a task."""
    name = f"{kind}_{next(numbers)}"
    truth[name] = None
    body = "time.sleep(0.004)" if kind == "sleeps" else \
        "sum(i * i for i in range(20000))"
    source = f"def {name}():\n    {body}\n"
    space = {"time": time}
    exec(compile(source, f"/{name}.py", "exec"), space)
    return space[name]


async def inner(work):
    work()
    await asyncio.sleep(0)
    work()


async def turns(work, end):
    while time.monotonic() < end:
        await inner(work)


def start(loop, end, name=None, kind="works"):
    work = function(kind)
    task = loop.create_task(turns(work, end))
    if name is not None:
        task.set_name(name)
    tasks[work.__name__] = task


async def renamed(work, end):
    """It has another name from the middle on: both functions are told apart."""
    asyncio.current_task().set_name("early")
    await turns(work[0], time.monotonic() + (end - time.monotonic()) / 2)
    asyncio.current_task().set_name("late")
    await turns(work[1], end)


async def eager(end):
    """A task that runs before the one that made it goes on."""
    loop, outer, within = asyncio.get_running_loop(), function("works"), \
        function("works")
    asyncio.current_task().set_name("outer")
    truth[outer.__name__], truth[within.__name__] = "outer", "within"
    while time.monotonic() < end:
        outer()
        await asyncio.eager_task_factory(loop, turns(within, 0.0),
                                         name="nothing")
        one = asyncio.eager_task_factory(
            loop, turns(within, time.monotonic() + 0.002), name="within")
        outer()
        await one


async def everything(end, prefix):
    loop = asyncio.get_running_loop()
    for name in NAMES:
        start(loop, end, name and prefix + name)
    start(loop, end, prefix + "sleeper", "sleeps")
    work = function("works"), function("works")
    truth[work[0].__name__], truth[work[1].__name__] = "early", "late"
    more = [renamed(work, end)]
    if hasattr(asyncio, "eager_task_factory"):
        more.append(eager(end))
    none = function("works")

    def callback():
        none()
        if time.monotonic() < end:
            loop.call_later(0.002, callback)

    loop.call_soon(callback)
    await asyncio.gather(*more, *tasks_of(loop))


def tasks_of(loop):
    return [task for task in list(tasks.values()) if task.get_loop() is loop]


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    time.sleep(REST)
    end = time.monotonic() + seconds
    threads = [threading.Thread(
        target=lambda p: asyncio.run(everything(end, p)), args=(prefix,))
        for prefix in ("", "second ")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    end, outside = time.monotonic() + 0.1, function("works")
    while time.monotonic() < end:
        outside()
    for name, task in tasks.items():
        truth[name] = task.get_name()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(truth, file)
    print("ok")


if __name__ == "__main__":
    main()
