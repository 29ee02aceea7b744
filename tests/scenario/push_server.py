# SPDX-License-Identifier: MIT
"""A server that takes profiles, and is as bad as real ones.

push_server.py DIR [CERTIFICATE]: serves on a port of 127.0.0.1, which it writes to DIR/port.
Each accepted request becomes DIR/NUMBER.PATH.body beside DIR/NUMBER.PATH.head.
DIR/mode says how it answers, one word for each request, the last one for ever:
    ok        200
    drop      takes the request and closes the connection without an answer
    busy      429 with Retry-After: 1
    fail      503
    slow      200 after a second
    refuse    400
With CERTIFICATE, a file that has its key, too, it speaks TLS.
"""
import http.server
import os
import ssl
import sys
import threading
import time

directory = sys.argv[1]
lock = threading.Lock()
count = 0


def next_mode():
    path = os.path.join(directory, "mode")
    with lock:
        words = open(path).read().split()
        if len(words) > 1:
            with open(path + ".new", "w") as new:
                new.write(" ".join(words[1:]))
            os.rename(path + ".new", path)
        return words[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def keep(self, body):
        global count
        with lock:
            count += 1
            name = f"{directory}/{count:06}{self.path.replace('/', '_')}"
        with open(name + ".head", "w") as head:
            head.write(str(self.headers))
        with open(name + ".part", "wb") as part:
            part.write(body)
        os.rename(name + ".part", name + ".body")

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the client was killed
            self.close_connection = True
            return None
        mode = next_mode()
        if mode == "busy":
            return self.answer(429, Retry_After="1")
        if mode == "fail":
            return self.answer(503)
        if mode == "refuse":
            return self.answer(400)
        self.keep(body)
        if mode == "drop":
            self.close_connection = True
            return None
        if mode == "slow":
            time.sleep(1)
        return self.answer(200)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass  # a client that was killed


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(directory, "port.new"), "w") as port:
    port.write(str(server.server_port))
os.rename(os.path.join(directory, "port.new"), os.path.join(directory, "port"))
server.serve_forever()
