# SPDX-License-Identifier: MIT
"""The programs that are measured: six from Debian packages, and busy2.c.

    python   CPython computing job.py
    xz       two threads compressing generated text
    sqlite3  recursive table expressions, a join and aggregates, in memory
    redis    redis-server answering redis-benchmark on loopback
    gcc      gcc -O2 -c of a large generated file; cc1 does the work
    node     node computing job.js
    busy2    two threads of ours on stacks 50 frames deep
    deep     the same with one thread

Inputs are generated from fixed seeds into a cache directory, so that every run
computes the same. SCALE 1 is about 3 s of wall time a program.

Run by itself it lists or runs them: programs.py [NAME [SCALE]].
"""
import os
import random
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import bench

REAL = ("python", "xz", "sqlite3", "redis", "gcc")
ALL = REAL + ("busy2",)
# Those of the cost of a sample: small and large programs, generated code, depth.
COST = ("python", "sqlite3", "gcc", "node", "deep")
# Those of the time in the handler.
HANDLER = ALL + ("node", "deep")


@dataclass
class Program:
    """How to run one program. ONLY is the process that does the work where
    COMMAND starts several; SERVE says that it is a server, to be driven."""
    name: str
    command: list
    stdin: Path = None
    only: str = ""
    requests: int = 0
    port: int = 0
    extra: dict = field(default_factory=dict)

    def run(self, env, prefix=(), stderr=None):
        """One run; PREFIX is put before the command (perf record ...)."""
        argv = [*prefix, *self.command]
        if not self.requests:
            return bench.run(argv, env, stdin=self.stdin, stderr=stderr)
        return run_server(self, argv, env, stderr)


def run_server(program, argv, env, stderr):
    """Start the server, load it, stop it by its pid. The wall time is that of
    the load; the CPU time is what wait4 says of the server."""
    child = bench.start(argv, env, stderr=stderr)
    try:
        pid = server_pid(program.port)
        begun = time.perf_counter()
        load_server(program)
        wall = time.perf_counter() - begun
        os.kill(pid, 15)
    except BaseException:
        os.kill(child, 15)
        os.waitpid(child, 0)
        raise
    usage = bench.wait(child, begun)
    usage.wall = wall
    return usage


def server_pid(port, patience=10.0):
    """Wait until the server answers; its own word for its pid, since the
    process that we started may be a profiler that started it."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as link:
                link.sendall(b"INFO server\r\n")
                for line in link.recv(65536).decode().splitlines():
                    if line.startswith("process_id:"):
                        return int(line.split(":")[1])
        except OSError:
            pass
        time.sleep(0.02)
    raise RuntimeError(f"no redis-server on port {port} after {patience} s")


def load_server(program):
    subprocess.run(["redis-benchmark", "-p", str(program.port), "-q",
                    "-n", str(program.requests), "-r", "50000", "-P", "16",
                    "-c", "20", "-d", "32",
                    "-t", "set,get,incr,lpush,rpop,sadd,hset,zadd"],
                   env=bench.environment(), check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def free_port():
    """A port below those that the kernel gives to clients. On one of those, a
    client that asks whether the server is there may connect to itself, and the
    server finds the port in use."""
    while True:
        port = random.randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def cached(name, scale, make):
    """The file NAME for SCALE, made by MAKE(FILE, SCALE) the first time."""
    bench.CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem, _, ending = name.partition(".")
    path = bench.CACHE / f"{stem}-{scale:g}.{ending}"
    if not path.exists():
        beside = path.with_suffix(".new")
        with open(beside, "w", encoding="ascii") as file:
            make(file, scale)
        beside.rename(path)
    return path


def make_words(file, scale):
    """Text with the repetitions of a log: some 17 MB at scale 1."""
    source = random.Random(2)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=k % 9 + 2))
             for k in range(3000)]
    for number in range(int(210000 * scale)):
        line = source.choices(words, k=10)
        file.write(f"{number} {' '.join(line)} {source.random():.9f}\n")


def make_query(file, scale):
    rows = int(700000 * scale)
    file.write(f"""
CREATE TABLE item(id INTEGER PRIMARY KEY, shelf INTEGER, price REAL, name TEXT);
CREATE TABLE shelf(id INTEGER PRIMARY KEY, room INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO item SELECT i, (i * 7919) % 2003, (i % 1009) * 1.25,
  'item ' || (i % 5003) FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2002)
INSERT INTO shelf SELECT i, i % 37 FROM n;
SELECT room, count(*), sum(price), max(name) FROM item JOIN shelf
  ON shelf.id = item.shelf GROUP BY room ORDER BY 3 DESC LIMIT 3;
SELECT name, count(*) AS c, avg(price) FROM item WHERE name LIKE '%7%'
  GROUP BY name HAVING c > 2 ORDER BY c DESC, name LIMIT 3;
SELECT count(*) FROM item a JOIN item b ON b.id = (a.id * 31) % {rows} + 1
  WHERE a.price < b.price AND substr(a.name, 6) < substr(b.name, 6);
WITH RECURSIVE walk(i, x) AS (SELECT 1, 1 UNION ALL
  SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM walk
  WHERE i < {rows * 5})
SELECT x % 10, count(*), total(x) FROM walk GROUP BY 1 ORDER BY 2 LIMIT 3;
""")


def make_source(file, scale):
    """C functions of loops, branches and calls: cc1 needs some 3 s."""
    source = random.Random(3)
    file.write("struct r { int a, b; double x; struct r *next; };\n"
               "int f0(struct r *r, int n) { return r->a + n; }\n")
    for number in range(1, int(240 * scale) + 1):
        file.write(function_text(source, number))


def function_text(source, number):
    k = [source.randrange(1, 97) for _ in range(8)]
    callee = source.randrange(max(0, number - 20), number)
    cases = "".join(f"    case {i}: s += r->b * {source.randrange(2, 50)};"
                    f" r->x += {i}.5; break;\n" for i in range(k[0] % 12 + 3))
    return f"""
int f{number}(struct r *r, int n)
{{
  int s = {k[1]}, t[{k[2] + 4}];
  for (int i = 0; i < {k[2] + 4}; i++) t[i] = i * {k[3]} ^ n;
  for (int i = 0; i < n; i++) {{
    if ((i & {k[4]}) > {k[4] // 2}) s += t[i % {k[2] + 4}] * r->a;
    else if (r->next) {{ s ^= f{callee}(r->next, n - 1); r = r->next; }}
    for (int j = i; j < {k[5]}; j += {k[6]}) r->x += r->x * j / (s | 1);
    switch ((s + i) % {k[0] % 12 + 4}) {{
{cases}    default: s -= {k[7]}; }}
  }}
  return s + (int)r->x;
}}
"""


def make_python(scale):
    return Program("python", ["/usr/bin/python3", bench.HERE / "job.py",
                              max(1, int(250 * scale))])


def make_xz(scale):
    text = cached("words.txt", scale, make_words)
    block = max(1 << 18, text.stat().st_size // 8)
    return Program("xz", ["/usr/bin/xz", "-T2", "-6", f"--block-size={block}",
                          "-c", text])


def make_sqlite3(scale):
    return Program("sqlite3", ["/usr/bin/sqlite3", "-batch", ":memory:"],
                   stdin=cached("query.sql", scale, make_query))


def make_redis(scale):
    port = free_port()
    directory = bench.CACHE / "redis"
    directory.mkdir(parents=True, exist_ok=True)
    return Program("redis", ["/usr/bin/redis-server", "--port", port,
                             "--bind", "127.0.0.1", "--save", "",
                             "--appendonly", "no", "--dir", directory,
                             "--logfile", "/dev/null"],
                   port=port, requests=int(450000 * scale))


def make_gcc(scale):
    text = cached("big.c", scale, make_source)
    return Program("gcc", ["/usr/bin/gcc", "-O2", "-c", "-o", "/dev/null",
                           text], only="cc1")


def make_busy2(scale):
    return Program("busy2", [bench.compiled("busy2"),
                             max(1, int(3900 * scale))])


def make_deep(scale):
    return Program("deep", [bench.compiled("busy2"),
                            max(1, int(3900 * scale)), 1])


def make_node(scale):
    return Program("node", ["/usr/bin/node", bench.HERE / "job.js",
                            max(1, int(300 * scale))])


MAKERS = {"python": make_python, "xz": make_xz, "sqlite3": make_sqlite3,
          "redis": make_redis, "gcc": make_gcc, "node": make_node,
          "busy2": make_busy2, "deep": make_deep}


def build(names, scale=1.0):
    """The named programs, their inputs ready; those whose command is not
    installed are left out with a word on stderr."""
    found = []
    for name in names:
        program = MAKERS[name](scale)
        if bench.have(str(program.command[0])):
            found.append(program)
        else:
            bench.progress(f"{program.command[0]} is not installed; left out")
    return found


def names(text):
    """Parses a --programs argument."""
    chosen = [name for name in text.split(",") if name]
    wrong = [name for name in chosen if name not in MAKERS]
    if wrong:
        sys.exit(f"bench: no program {wrong[0]!r}; there are "
                 f"{', '.join(MAKERS)}")
    return chosen


def main():
    chosen = names(sys.argv[1]) if sys.argv[1:] else ALL
    scale = float(sys.argv[2]) if sys.argv[2:] else 1.0
    for program in build(chosen, scale):
        usage = program.run(bench.environment())
        print(f"{program.name:8} {usage.wall:6.2f} s wall {usage.cpu:6.2f} s "
              f"CPU, status {usage.status}", flush=True)


if __name__ == "__main__":
    main()
