# SPDX-License-Identifier: MIT
"""Collections of garbage, for CPython from 3.9.

Usage: marked.py FILE SECONDS. FILE gets {"tid": the thread that collects,
"collected": the seconds of CPU time that its collections took}. Functions whose
names begin with "inside" run within a collection, those with "outside" do not.
Another thread waits for the interpreter's lock meanwhile.
"""
import gc
import json
import sys
import threading
import time

taken, begun, end = 0.0, 0.0, 0.0


def on_collection(phase, _):
    global taken, begun
    if phase == "start":
        begun = time.thread_time()
    else:
        taken += time.thread_time() - begun


def spin(seconds):
    limit = time.thread_time() + seconds
    while time.thread_time() < limit:
        pass


class Inside:
    """It refers to itself, so a collection frees it."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        inside_finalizer()


class Outside:
    def __del__(self):
        outside_finalizer()


def inside_finalizer():
    spin(0.001)
    sorted(range(300), key=inside_key)


def inside_key(number):
    return -number


def outside_finalizer():
    spin(0.001)


def outside_work():
    spin(0.01)


def explicit():
    gc.collect()


def automatic():
    """Each few hundred of the lists are too many for the youngest part."""
    return [[number] for number in range(20000)]


def other():
    while time.monotonic() < end:
        time.sleep(0.002)


def main():
    global end
    kept = [[number, [number]] for number in range(100000)]
    end = time.monotonic() + float(sys.argv[2])
    thread = threading.Thread(target=other)
    thread.start()
    gc.callbacks.append(on_collection)
    while time.monotonic() < end:
        Outside()
        Inside()
        explicit()
        automatic()
        outside_work()
    gc.callbacks.clear()
    thread.join()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"tid": threading.get_native_id(), "collected": taken,
                   "kept": len(kept)}, file)
    print("ok")


if __name__ == "__main__":
    main()
