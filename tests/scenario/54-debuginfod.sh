#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: debug information from a debuginfod server.
# - names and lines come from a server that DEBUGINFOD_URLS names, and no
#   server is asked without it;
# - a server that does not answer costs seconds, however many files there are,
#   and the profile is written without it.
. "$(dirname "$0")/lib.sh"

ldconfig -p | grep -q libdebuginfod.so.1 || skip "no libdebuginfod"
for tool in objcopy strip readelf python3; do
    command -v $tool >/dev/null || skip "no $tool"
done

cp "$work/known_stack.o2" victim
id=$(readelf -n victim | sed -n 's/ *Build ID: //p')
objcopy --only-keep-debug victim served
strip --strip-all victim

# A server that has one file (answer), or hears and never speaks (silent).
cat >server.py <<'P'
import http.server, os, sys, time
mode, wanted = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        if mode == "silent":
            time.sleep(300)
        found = self.path == f"/buildid/{wanted}/debuginfo"
        body = open("served", "rb").read() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("new", "w").write(str(server.server_port))
os.rename("new", "port")
server.serve_forever()
P
# start_server MODE: its address is $url.
start_server() {
    rm -f port
    timeout 300 python3 server.py "$1" "$id" >asked 2>&1 &
    server=$!
    until [ -s port ]; do
        kill -0 $server || { fail "no server: $(cat asked)"; finish; }
        sleep 0.05
    done
    url=http://127.0.0.1:$(cat port)
    export DEBUGINFOD_CACHE_PATH=$tmp/cache.$1
}

unset DEBUGINFOD_URLS
start_server answer
profile ./victim 200
expect_ok
! grep -q ';main;' p.folded || fail "names from somewhere else"
[ ! -s asked ] || fail "a server was asked: $(cat asked)"

profile DEBUGINFOD_URLS="$url" ./victim 200
expect_ok
# Only what ran: a busy machine may let it wait before main.
expect_stacks 95 '[^]] [0-9]+$'
grep -q "$id" asked || fail "the server was not asked"
kill $server

start_server silent
start=$(now_ms)
profile DEBUGINFOD_URLS="$url" ./victim 200
expect_ok
expect_samples 100 p.folded
took=$(($(now_ms) - start))
[ "$took" -lt 80000 ] || fail "a silent server took $took ms"
[ -s asked ] || fail "the silent server was not asked"
kill $server
finish
