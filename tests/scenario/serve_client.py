#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# serve_client.py -- a client of `sprofile serve`, good and bad.
#
#   serve_client.py get ADDRESS PATH [HEADER...]   prints status, headers and body
#   serve_client.py body ADDRESS PATH              the body alone; fails unless it is 200
#   serve_client.py many ADDRESS N PATH            N at once; prints how many had 200
#   serve_client.py hostile ADDRESS                garbage, half requests, slow readers
#
# ADDRESS is HOST:PORT or unix:PATH.
import random
import socket
import sys
import time


def connect(address):
    if address.startswith("unix:"):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(150)
        client.connect(address[5:])
        return client
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 150)


def request(path, headers=(), method="GET"):
    # Other servers keep the connection.
    lines = [f"{method} {path} HTTP/1.1", "Connection: close"]
    if not any(line.lower().startswith("host:") for line in headers):
        lines.append("Host: localhost")
    return "\r\n".join(lines + list(headers) + ["", ""]).encode()


def read_all(client):
    parts = []
    try:
        while part := client.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def ask(address, path, headers=()):
    with connect(address) as client:
        client.sendall(request(path, headers))
        answer = read_all(client)
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split(None, 2)
    return int(words[1]) if len(words) > 1 else 0, head, body


def many(address, count, path):
    clients = []
    for _ in range(count):
        client = connect(address)
        client.sendall(request(path))
        clients.append(client)
    good = sum(read_all(c).startswith(b"HTTP/1.1 200 ") for c in clients)
    print(good)


# Each leaves its connection open for as long as the server bears it.
def hostile(address):
    noise = random.Random(1)
    open_ones = []

    def send(data):
        try:
            client = connect(address)
            client.settimeout(0.2)
            client.sendall(data)
            open_ones.append(client)
        except OSError:
            pass

    for i in range(60):
        send(noise.randbytes(1 + i * 40))
    for _ in range(60):
        send(b"GET /metrics HTTP/1.1\r\nHost: localh")
    for _ in range(20):
        send(request("/debug/pprof/wall?last=1")[:-2] +
             b"X: " + b"a" * 100000 + b"\r\n\r\n")
    for _ in range(20):
        send(b"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n"
             b"Content-Length: 99999999\r\n\r\n" + b"a" * 200000)
    for _ in range(20):  # they never read
        send(request("/page?last=5&exe=served"))
    for _ in range(20):  # they leave while they wait
        send(request("/debug/pprof/profile?seconds=600&exe=served"))
        open_ones.pop().close()
    for path in ("/%00", "/debug/pprof/profile?seconds=%00", "/metrics?pid=%",
                 "//", "/debug/pprof/../../etc/passwd", "/metrics?" + "pid=1&" * 500,
                 "*", "http://evil.example/metrics"):
        send(request(path))
    time.sleep(0.5)
    # The server is well meanwhile.
    status, _, _ = ask(address, "/debug/pprof/symbol")
    print(f"open {len(open_ones)}, status {status}")
    for client in open_ones:
        client.close()


def main():
    what, address, *rest = sys.argv[1:]
    if what == "get":
        status, head, body = ask(address, rest[0], rest[1:])
        print(status)
        print(head.decode("latin1"), flush=True)
        sys.stdout.buffer.write(body)
    elif what == "body":
        status, _, body = ask(address, rest[0])
        sys.stdout.buffer.write(body)
        if status != 200:
            sys.exit(1)
    elif what == "many":
        many(address, int(rest[0]), rest[1])
    else:
        hostile(address)


main()
