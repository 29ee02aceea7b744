# SPDX-License-Identifier: MIT
"""Python with two daemon threads is interrupted by Ctrl-C at a terminal.

typed_interrupt.py COUNT [LIBRARY]: with LIBRARY preloaded, if it is given.
Prints "ok", or how many programs did not end within some seconds.
"""
import os
import pty
import random
import signal
import sys
import time

PROGRAM = """
import threading
import time

def compute():
    while True:
        pass

def nap():
    while True:
        time.sleep(0.001)

for work in compute, nap:
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
try:
    time.sleep(600)
except KeyboardInterrupt:
    pass
"""
PATIENCE = 60.0


def start(library):
    pid, terminal = pty.fork()
    if pid == 0:
        if library:
            os.environ["LD_PRELOAD"] = library
        os.execvp(sys.executable, [sys.executable, "-c", PROGRAM])
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1000)
    return pid, terminal


def has_ended(pid):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if os.waitpid(pid, os.WNOHANG)[0] != 0:
            return True
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def main():
    count = int(sys.argv[1])
    library = sys.argv[2] if len(sys.argv) > 2 else None
    stuck = 0
    for _ in range(count):
        pid, terminal = start(library)
        time.sleep(0.02 + random.random() * 0.1)
        os.write(terminal, b"\x03")
        stuck += not has_ended(pid)
        os.close(terminal)
    print(f"{stuck} of {count} did not end" if stuck else "ok")


main()
