# SPDX-License-Identifier: MIT
"""What do push and serve cost on a host with many profiled processes?

* The processes are fleet.c: four threads, a millisecond of work each second.
  They run for as long as the measurement. Each has a spool of its own. With
  --made they are those of fleet_spools.c, which write such spools and do no
  more: a small machine has no room for a thousand others.
* push sends every 15 seconds to a server of this program, which drops what it
  gets. serve is asked for /metrics every second and for the last 15 seconds of
  all processes every 15 seconds.
* CPU is that of the command in percent of one core, over whole intervals. The
  first interval is not counted, because names are read in it. Memory is its
  resident size at the end, and the largest that it had. Bytes are those of the
  requests, compressed as they are sent.
"""
import http.server
import os
import subprocess
import sys
import threading
import time
import urllib.request

import bench

INTERVAL = 15


class Server(http.server.ThreadingHTTPServer):
    """Takes everything, and counts it."""
    daemon_threads = True
    requests = size = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        self.server.requests += 1
        self.server.size += length
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def cpu_of(pid):
    """CPU seconds that PID has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid):
    """MiB: resident now, and at most."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        sizes = dict(line.split(":", 1) for line in file)
    return tuple(int(sizes[name].split()[0]) / 1024
                 for name in ("VmRSS", "VmHWM"))


def ask(url, ended):
    """Ask serve as servers do."""
    second = 0
    while not ended.wait(1):
        second += 1
        paths = ["/metrics"]
        if second % INTERVAL == 0:
            paths.append(f"/debug/pprof/wall?last={INTERVAL}")
        for path in paths:
            try:
                urllib.request.urlopen(url + path, timeout=60).read()
            except OSError as error:
                print(path, error, file=sys.stderr)


def begin_push(build, directory, server, *more):
    url = f"http://127.0.0.1:{server.server_address[1]}"
    return subprocess.Popen(
        [build / "sprofile", "push", "--otlp", url, "--only", directory,
         "--state", f"{directory}/state", *more], stdout=subprocess.DEVNULL)


def begin_serve(build, directory, ended):
    process = subprocess.Popen(
        [build / "sprofile", "serve", "--listen", "127.0.0.1:0", "--only",
         directory], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip().removesuffix("/debug/pprof/")
    threading.Thread(target=ask, args=(url, ended), daemon=True).start()
    return process


def begin_fleet(build, directory, count, seconds, is_made):
    """The pids of what makes COUNT spools in DIRECTORY."""
    if not is_made:
        env = bench.preloaded(build, directory, SPROF_SYMBOLIZE="off")
        return [bench.start([bench.compiled("fleet"), seconds], env)
                for _ in range(count)]
    archives = [build / f"libsprof_{name}.a"
                for name in ("store", "base_x86_64", "base")]
    program = bench.compiled(
        "fleet_spools", "-I", bench.ROOT / "src",
        libraries=["-Wl,--start-group", *archives, "-Wl,--end-group"])
    return [bench.start([program, directory, count], bench.environment())]


def measure(build, what, count, intervals, is_made):
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ended = threading.Event()
    with bench.scratch() as directory:
        seconds = (intervals + 1) * INTERVAL + 15
        fleet = begin_fleet(build, directory, count, seconds, is_made)
        time.sleep(2)
        command = (begin_push(build, directory, server) if what == "push" else
                   begin_serve(build, directory, ended))
        time.sleep(INTERVAL + 5)
        before, sent = cpu_of(command.pid), server.size
        time.sleep(intervals * INTERVAL)
        used, size = cpu_of(command.pid) - before, server.size - sent
        resident, most = memory_of(command.pid)
        ended.set()
        command.terminate()
        command.wait()
        for pid in fleet:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    server.shutdown()
    server.server_close()
    span = intervals * INTERVAL
    return [what, str(count), bench.number(100 * used / span, 1),
            bench.number(resident, 0), bench.number(most, 0),
            bench.number(size / intervals / count, 0)
            if what == "push" else "-"]


def main():
    parser = bench.options(__doc__)
    parser.add_argument("--counts", default="50,200,400")
    parser.add_argument("--intervals", type=int, default=2)
    parser.add_argument("--only", default="push,serve")
    parser.add_argument("--made", action="store_true")
    arguments = parser.parse_args()
    bench.require_library(arguments.build)
    rows = [measure(arguments.build, what, int(count), arguments.intervals,
                    arguments.made)
            for what in arguments.only.split(",")
            for count in arguments.counts.split(",")]
    print(bench.table(["command", "processes", "CPU, % of a core",
                       "resident, MiB", "at most, MiB",
                       "bytes a process and interval"], rows, left=1))


if __name__ == "__main__":
    main()
