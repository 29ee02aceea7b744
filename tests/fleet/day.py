# SPDX-License-Identifier: MIT
"""What happens to push in a day, in a minute; with --full, in five.

A day of a host has 5,760 intervals of 15 seconds, 288 rotations of a flight
recorder that keeps 5 minutes, and a process a minute that lives for a moment.
Here intervals are of 0.1 seconds, recorders keep 3 seconds, and five processes
end in a second. push is killed and started again after a tenth of the time.

* Memory of push, and of serve beside it, is the same after three tenths and at
  the end, but for a tenth and 4 MiB.
* The recorders' spools stay below a bound.
* Nothing is lost and nothing is sent twice: what was sent of the short
  processes is what their spools say, to the nanosecond, and what was sent of the
  recorders is their time, as it passed for all threads, within 1 %. It begins
  between their start and their spools, and ends between the signal and the end.
  Where push was kept from a CPU for that long, it says what was lost.
"""
import gzip
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "scenario")]
import push_sums  # noqa: E402

BUILD = Path(os.environ.get("SPROF_BUILD", ROOT / "build"))
RECORDERS, THREADS, KEEP = 3, 4, 3
# MiB that memory may have grown by: what is known of more threads and stacks.
LATE_MIB = 4
SPOOL_MOST = 4 << 20


def pid_of(data):
    """The pid that the first resource of a request names."""
    resource = push_sums.every(push_sums.every(data, 1)[0], 1)[0]
    pair = next(pair for pair in push_sums.every(resource, 1)
                if push_sums.every(pair, 1)[0] == b"process.pid")
    return next(push_sums.fields(push_sums.every(pair, 2)[0]))[1]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.keys = threading.Lock(), set()
        # A process that ends before it is looked at is called as its program.
        self.sums = {"recorder": {}, "awk": {}}
        self.processes = {}
        self.repeated = 0

    def handle_error(self, request, client_address):
        """push was killed."""

    def take(self, key, data):
        with self.lock:
            if key in self.keys:
                self.repeated += 1
                return
            self.keys.add(key)
            for service, sums in self.sums.items():
                for kind, value in push_sums.otlp_sums(data, service).items():
                    sums[kind] = sums.get(kind, 0) + value
                    if service == "awk" and kind in ("cpu", "wall"):
                        key = pid_of(data), kind
                        self.processes[key] = self.processes.get(key, 0) + value


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.take(self.headers["Idempotency-Key"], gzip.decompress(body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def environment(directory, service, **more):
    return {"PATH": os.environ["PATH"], "HOME": str(directory),
            "OTEL_SERVICE_NAME": service,
            "LD_PRELOAD": str(BUILD / "libsprof.so"),
            "SPROF_SYMBOLIZE": "off", "SPROF_KEEP_SPOOL": "1",
            "SPROF_OUTPUT": f"{directory}/spools/{service}.%p.pb.gz", **more}


def memory(process):
    """MiB."""
    for line in open(f"/proc/{process.pid}/status", encoding="ascii"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def push(directory, server):
    url = f"http://127.0.0.1:{server.server_address[1]}"
    return subprocess.Popen(
        [BUILD / "sprofile", "push", "--otlp", url, "--interval", "0.1",
         "--only", directory / "spools", "--state", directory / "state"],
        stdout=subprocess.DEVNULL, stderr=open(directory / "log", "ab"))


def clean(spools, processes):
    """As a host does: remove the spools of processes that ended a while ago.
    First note what they have."""
    for path in spools.glob("short.*.sprof"):
        if time.time() - path.stat().st_mtime < 5:
            continue
        report = json.loads(subprocess.run(
            [BUILD / "sprofile", "report", "--json", "-n", "1", path],
            capture_output=True, check=True).stdout)
        pid = int(path.name.split(".")[1])
        for kind in ("cpu", "wall"):
            processes[pid, kind] = report["totals"][kind + "_ns"]
        path.unlink()


def size_of(spools):
    return max((sum(path.stat().st_size for path in
                    spools.glob(f"recorder.{pid}.*"))
                for pid in {path.name.split(".")[1]
                            for path in spools.glob("recorder.*.sprof")}),
               default=0)


def compile_program(directory):
    program = directory / "recorder"
    subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-pthread",
                    ROOT / "tests" / "bench" / "fleet.c", "-o", program],
                   check=True)
    return program


def run(directory, seconds, server):
    spools = directory / "spools"
    spools.mkdir()
    program = compile_program(directory)
    pusher = push(directory, server)
    serve = subprocess.Popen(
        [BUILD / "sprofile", "serve", "--listen", "127.0.0.1:0", "--only",
         spools], stdout=subprocess.DEVNULL)
    begun = time.monotonic()
    recorders = [subprocess.Popen([program, str(seconds * 2)],
                                  env=environment(directory, "recorder",
                                                  SPROF_KEEP=f"{KEEP}s"))
                 for _ in range(RECORDERS)]
    while len(list(spools.glob("recorder.*.sprof"))) < RECORDERS:
        time.sleep(0.01)
    sampled = time.monotonic()
    processes, sizes, early = {}, [], None
    count = 0
    killed = False
    while (passed := time.monotonic() - begun) < seconds:
        short = subprocess.Popen(
            ["awk", "BEGIN { for (i = 0; i < 1000000; i++) n += i }"],
            env=environment(directory, "short"))
        time.sleep(0.1)
        short.wait()
        count += 1
        sizes.append(size_of(spools))
        clean(spools, processes)
        if passed > 0.1 * seconds and not killed:
            killed = True
            pusher.kill()
            pusher.wait()
            pusher = push(directory, server)
        if passed > 0.3 * seconds and early is None:
            early = memory(pusher), memory(serve)
    least = time.monotonic() - sampled
    for recorder in recorders:
        recorder.terminate()
    for recorder in recorders:
        recorder.wait()
    most = time.monotonic() - begun
    # Until all is reported and sent, which a loaded machine delays.
    until = time.monotonic() + 120
    while time.monotonic() < until and (
            list(spools.glob("short.*.sprof")) or any(
                server.processes.get(key, 0) != value
                for key, value in processes.items())):
        time.sleep(1)
        clean(spools, processes)
    late = memory(pusher), memory(serve)
    for process in (pusher, serve):
        process.terminate()
        process.wait()
    wall = server.sums["recorder"].get("wall", 0) / 1e9
    least, most = (RECORDERS * THREADS * lived for lived in (least, most))
    log = (directory / "log").read_text()
    gone = log.count("is gone")
    least -= min(gone, RECORDERS) * THREADS * KEEP
    sent = server.processes
    differ = [key for key in processes if sent.get(key, 0) != processes[key]]
    # One that took no sample leaves no spool.
    without = len({pid for pid, _ in sent} - {pid for pid, _ in processes})
    print(f"{count} short processes: {len(processes) // 2} left a spool with "
          f"{sum(processes.values())} ns of CPU and wall time, {without} were "
          f"sent without one; {len(differ)} values differ")
    print(f"recorders: {wall:.2f} s of {least:.2f} to {most:.2f} s, {gone} times "
          f"a file was gone; spools "
          f"at most {max(sizes) / 1e6:.2f} MB")
    print("MiB of push and serve: after three tenths "
          f"{early[0]:.1f} {early[1]:.1f}, at the end {late[0]:.1f} "
          f"{late[1]:.1f}; {len(server.keys)} requests, "
          f"{server.repeated} repeated")
    wrong = [name for name, is_right in (
        ("short", not differ and len(processes) > count and
         without < count / 20),
        ("recorders", 0.99 * least < wall < 1.01 * most),
        ("spools", max(sizes) < SPOOL_MOST),
        ("memory", all(b < 1.1 * a + LATE_MIB
                       for a, b in zip(early, late))),
    ) if not is_right]
    if wrong:
        print("wrong:", *wrong)
        print(log)
    return len(wrong)


def main():
    full = "--full" in sys.argv or os.environ.get("SPROF_TEST_FULL")
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        return run(Path(directory), 300 if full else 60, server) > 0


sys.exit(main())
