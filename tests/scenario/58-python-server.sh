#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: a server written with Flask, under load, shows where its
# own time goes before anything of the framework.
# - the first screen of a report, and of the text file, has the function of the
#   route with its file and line;
# - so have the first lines of go tool pprof -top, and -list has the source.
# That the page has the lines of a report, page.own tests.
# TEST_FLASK: an interpreter that has Flask.
. "$(dirname "$0")/lib.sh"
has python3 || finish
python=$("${TEST_FLASK:-python3}" -c 'import flask, sys; print(sys.executable)' \
    2>/dev/null) || skip "Flask is not installed"

cat >shop.py <<'P'
import sys
import threading
import urllib.request
from flask import Flask
from werkzeug.serving import make_server

app = Flask(__name__)

def discount(price):
    return price * 9 // 10

@app.route("/quote/<int:count>")
def quote(count):
    total = 0
    for item in range(count):
        total += discount(item * 37 % 1009)
    return str(total)

def load(port):
    for _ in range(60):
        address = f"http://127.0.0.1:{port}/quote/50000"
        urllib.request.urlopen(address).read()

server = make_server("127.0.0.1", 0, app, threaded=True)
clients = [threading.Thread(target=load, args=(server.server_port,))
           for _ in range(2)]
threading.Thread(target=server.serve_forever, daemon=True).start()
for client in clients:
    client.start()
for client in clients:
    client.join()
P
line_of() {
    grep -n "$1" shop.py | head -n 1 | cut -d : -f 1
}
first=$(line_of 'for item in range') last=$(line_of 'total += discount')
lines="($first|$last)"

plain env LD_PRELOAD="$library" SPROF_COST=off \
    SPROF_OUTPUT="$tmp/s.sprof,$tmp/s.pb.gz,$tmp/s.txt" \
    "$python" shop.py
[ "$status" -eq 0 ] || fail "the server ended with $status: $(tail -n 3 err)"

# own_line NAME FILE: whether the first screen of FILE has the route's line.
own_line() {
    head -n 24 "$2" | grep -qE "^ +[0-9.]+ % ± +[0-9.]+ +shop\.quote shop\.py:$lines\$" ||
        fail "$1: no line of the route: $(head -n 24 "$2")"
    head -n 24 "$2" | grep -qE '[0-9] +shop\.quote( |$)' ||
        fail "$1: the route is not among the hottest: $(head -n 24 "$2")"
}
plain "$sprofile" report s.sprof
own_line report out
own_line "the text file" s.txt

# Go makes its tools when they are first used, which takes half a minute.
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q top; then
    export PPROF_TMPDIR=$tmp
    go tool pprof -top s.pb.gz >top 2>err
    head -n 24 top | grep -q ' shop\.quote$' ||
        fail "pprof -top: $(head -n 24 top)"
    go tool pprof -list 'shop\.quote' s.pb.gz >list 2>err
    grep -qE "^ +[0-9.]+m?s .* $last: +total \+= discount" list ||
        fail "pprof -list: $(head -n 24 list)"
else
    lacks "go tool pprof" "not there"
fi
finish
