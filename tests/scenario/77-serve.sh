#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: `sprofile serve` serves what preloaded processes do, and
# they do not notice:
# - profiles of the next and of the last seconds, whose sums are those of the
#   spool; `go tool pprof` reads them by itself;
# - stacks, command lines, the page, metrics and targets, of all processes or of
#   those that are asked for; a process that has ended is served for a while;
# - garbage, half requests, clients that do not read or leave, and 300 at once
#   do no harm; a foreign Host or Origin is refused;
# - a Unix socket is for its owner; processes of others need the right to see
#   them;
# - programs behave as ever while they are scraped once a second.
. "$(dirname "$0")/lib.sh"

# serve_as COMMAND... -- [OPTION...]: serve [OPTION...] run by COMMAND.
serve_as() {
    local command=()
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    rm -f serve.out
    "${command[@]}" "$sprofile" serve "${@:2}" >serve.out 2>serve.err &
    server=$!
    until_true [ -s serve.out ]
    address=$(sed -e 's|^http://||' -e 's|/debug/pprof/$||' serve.out)
}

# serve [OPTION...]: in the background; $address is where it listens.
serve() {
    serve_as -- "$@"
}

# end_server: by SIGTERM, with status 0, while clients may wait for minutes.
end_server() {
    local start=$SECONDS
    kill -TERM "$server"
    wait "$server" || fail "serve ended with status $?"
    [ $((SECONDS - start)) -le 60 ] || fail "serve did not end soon"
    [ ! -s serve.err ] || fail "serve complained: $(cat serve.err)"
}

http() {
    timeout "$deadline" python3 "$here/serve_client.py" "$1" "$address" "${@:2}"
}

# body PATH FILE: fails unless the status is 200.
body() {
    http body "$1" >"$2" || fail "$1: $(head -c 300 "$2")"
}

# expect_http STATUS WORD PATH [HEADER...]: the status, and WORD in the answer.
expect_http() {
    local status=$1 word=$2
    http get "${@:3}" >answer
    [ "$(head -n 1 answer)" = "$status" ] ||
        fail "$3: status $(head -n 1 answer), expected $status"
    grep -aqF -- "$word" answer || fail "$3: \"$word\" is not in the answer"
}

# sum VALUE FILE: of the totals, ns.
sum() {
    "$sprofile" report --json "$2" | python3 -c "
import json, sys
print(json.load(sys.stdin)['totals']['$1'])"
}

# has_whole_windows FILE...: whether each has what four threads did in its time.
# The sampler of a machine that stands still may report it too late.
has_whole_windows() {
    local file
    for file; do
        "$sprofile" report --json "$file"
    done | python3 -c "
import json, sys
text, at, good = sys.stdin.read(), 0, True
while at < len(text.rstrip()):
    report, at = json.JSONDecoder().raw_decode(text, at)
    at += 1
    wall, time = report['totals']['wall_ns'], report['duration_ns']
    print(f'   wall {wall / 1e9:.3f} s of 4 threads in {time / 1e9:.3f} s')
    good &= time > 0.9e9 and 3.85 * time < wall < 4.15 * time
sys.exit(not good)"
}

# at_third_try COMMAND...: it succeeds once of three times.
at_third_try() {
    "$@" || "$@" || "$@" || fail "three times: $*"
}

# begin NAME: busy_and_waiting under another name, its spool NAME.sprof; $pid is
# its pid.
begin() {
    cp "$work/busy_and_waiting" "$1"
    LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/$1.sprof" SPROF_COST=off \
        "./$1" 600000 >"$1.out" 2>"$1.err" &
    pid=$!
    programs_run=$((programs_run + 1))
    is_sampled() {
        "$sprofile" report "$1.sprof" 2>/dev/null | grep -q hot_spot
    }
    until_true is_sampled "$1"
}

# is_served: whether the server knows the process.
is_served() {
    http body "/debug/pprof/cmdline?pid=$pid" >/dev/null
}

end() {
    kill -TERM "$1"
    wait "$1"
}

serve --listen 127.0.0.1:0
begin served
first=$pid
until_true is_served

echo "-- the next seconds and the last"
body "/debug/pprof/profile?seconds=2&pid=$first" cpu.pb.gz
"$sprofile" report -n 3 cpu.pb.gz >report || fail "report"
grep -q hot_spot report || fail "hot_spot is not in the profile"
cpu=$(sum cpu_ns cpu.pb.gz)
echo "   cpu $cpu ns of 2 s"
# One thread runs; a loaded machine leaves it a part.
[ "$cpu" -gt 0 ] && [ "$cpu" -lt 2200000000 ] || fail "cpu: $cpu ns of 2 s"
last_seconds() {
    body "/debug/pprof/wall?last=2&exe=serv*" wall.pb.gz
    has_whole_windows wall.pb.gz
}
at_third_try last_seconds
"$sprofile" report --wall --by state wall.pb.gz >report || fail "report"
grep -q read report || fail "the wait is not in the profile"

echo "-- stacks, command line, symbols, list, page, targets"
# A thread that computes answers when it has a CPU.
shows_hot_spot() {
    body "/debug/pprof/threads?pid=$first" answer
    grep -q hot_spot answer
}
until_true shows_hot_spot
expect_http 200 './served 600000' "/debug/pprof/cmdline?pid=$first"
expect_http 200 'num_symbols: 1' /debug/pprof/symbol
expect_http 200 './served 600000' /debug/pprof/
expect_http 200 sprof-head "/page?last=2&pid=$first"
body "/targets?exe=served" targets
python3 -c "
import json
target, = json.load(open('targets'))
assert target['targets'] == ['localhost'], target
assert target['labels']['__param_pid'] == '$first', target
assert target['labels']['__meta_sprof_exe'] == 'served', target" ||
    fail "targets: $(cat targets)"

echo "-- what is refused"
expect_http 404 'no profiled process' '/debug/pprof/profile?last=1&exe=none'
expect_http 404 /debug/pprof/heap /debug/pprof/heap
expect_http 400 'expected seconds' '/debug/pprof/profile?seconds=x'
expect_http 421 Host /metrics 'Host: evil.example'
expect_http 421 Host /metrics 'Host: 127.0.0.1.evil.example:6060'
expect_http 403 origin /metrics 'Origin: http://evil.example'
! grep -qi '^access-control' answer || fail "another origin may read"

echo "-- hostile clients, and 300 at once"
http hostile >hostile || fail "hostile: $(cat hostile)"
grep 'status 200' hostile || fail "serve is not well: $(cat hostile)"
good=$(http many 300 "/debug/pprof/wall?seconds=1&pid=$first")
[ "$good" = 300 ] || fail "$good of 300 clients had an answer"
# Those of clients. There is a spool for each process that others run.
few_descriptors() {
    open=$(find "/proc/$server/fd" -mindepth 1 ! -lname '*.sprof*' | wc -l)
    [ "$open" -lt 50 ]
}
until_true few_descriptors || fail "$open descriptors stay open"
memory=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status")
echo "   $open descriptors, $((memory / 1024)) MiB"
[ "$memory" -lt 200000 ] || fail "$memory KiB of memory"

echo "-- a process that has ended: all of it, to the nanosecond"
end "$first"
# is_all KIND VALUE: whether what is served is what the spool has.
is_all() {
    http body "/debug/pprof/$1?last=120&exe=served" >all.pb.gz &&
        [ "$(sum "$2" all.pb.gz)" = "$(sum "$2" served.sprof)" ]
}
until_true is_all profile cpu_ns
until_true is_all wall wall_ns
body "/metrics?exe=served" metrics
python3 - "$(sum wall_ns served.sprof)" <<'END' || fail "$(cat metrics)"
import re, sys
values = {}
for line in open("metrics"):
    if not line.startswith("#"):
        name, value = re.fullmatch(r"(\w+(?:\{.*\})?) (\S+)\n", line).groups()
        values[name] = float(value)
def total(metric, **labels):
    return sum(v for n, v in values.items() if n.startswith(metric + "{") and
               all(f'{k}="{l}"' in n for k, l in labels.items()))
taken, asked = total("sprof_samples_total"), total("sprof_samples_asked_total")
lost, wall = total("sprof_samples_lost_total"), total("sprof_wall_seconds_total")
print(f"   {taken:.0f} samples, {lost:.0f} lost, {wall:.3f} s wall")
assert taken > 10 and asked == taken + lost
assert abs(wall - int(sys.argv[1]) / 1e9) < 0.05 * wall, wall
END

if has go; then
    # Go builds this tool at its first use.
    go tool pprof -h >/dev/null 2>&1
    begin served
    until_true is_served
    PPROF_TMPDIR=$tmp timeout "$deadline" go tool pprof -top \
        "http://$address/debug/pprof/profile?seconds=2&pid=$pid" \
        >top 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
    grep -q 'hot_spot' top || fail "hot_spot: $(cat top)"
    end "$pid"
fi

echo "-- windows side by side"
begin tiled
until_true is_served
ask_for_windows() {
    local i clients=()
    for i in 1 2 3 4 5; do
        http body "/debug/pprof/wall?seconds=1&exe=tiled" >"tile$i.pb.gz" &
        clients+=($!)
        sleep 0.3
    done
    wait "${clients[@]}"
    has_whole_windows tile?.pb.gz
}
at_third_try ask_for_windows
end "$pid"
end_server

echo "-- a server that ends while clients wait"
serve --listen 127.0.0.1:0
sockets() {
    find "/proc/$server/fd" -lname 'socket:*' | wc -l
}
before=$(sockets)
http body '/debug/pprof/profile?seconds=600' >/dev/null 2>&1 &
client=$!
has_client() {
    [ "$(sockets)" -gt "$before" ]
}
until_true has_client
end_server
wait "$client" && fail "a client that got nothing was content"

echo "-- a Unix socket"
rm -f socket
serve --listen "unix:$tmp/socket"
[ "$(stat -c %a socket)" = 600 ] || fail "mode $(stat -c %a socket)"
expect_http 200 sprof_processes /metrics 'Host: anything'
kill -KILL "$server"
wait "$server" 2>/dev/null
serve --listen "unix:$tmp/socket"
expect_http 200 sprof_processes /metrics
end_server
[ ! -e socket ] || fail "the socket stays"
plain "$sprofile" serve --listen 10.0.0.1.2:80
expect_status 2

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    part "another user"
    begin hidden
    chmod 755 "$tmp"
    serve_as setpriv --reuid=65534 --regid=65534 --clear-groups -- \
        --listen 127.0.0.1:0
    expect_http 404 'no profiled process' "/debug/pprof/wall?last=1&pid=$pid"
    body /metrics metrics
    grep -q "pid=\"$pid\"" metrics && fail "another user sees the process"
    end_server
    chmod 700 "$tmp"
    end "$pid"
else
    lacks "another user" "not root"
fi

echo "-- programs that are scraped once a second"
serve --listen 127.0.0.1:0 --only "$tmp"
(
    while sleep 1; do
        http body '/debug/pprof/wall?last=1' >/dev/null 2>&1
        http body /metrics >/dev/null 2>&1
    done
) &
scraper=$!
rates=1000
# These change from run to run.
changes='^(signals_queued|lines_of_maps|size_kb|resident_kb|other_cpu_us|stack_bytes) '
expect_same "$work/fork_cases" locks 5
expect_same "$work/thread_cases" brief 1000
expect_same "$work/closes_doors" look 60
expect_same "$work/facility_cases" events
profile "$work/what_is_seen"
grep -vE "$changes" out >seen
kill "$scraper"
wait "$scraper" 2>/dev/null
end_server
profile "$work/what_is_seen"
grep -vE "$changes" out | diff - seen || fail "a program sees that it is scraped"

if [ -n "${SPROF_TEST_FULL:-}" ] && has prometheus; then
    begin found
    serve --listen 127.0.0.1:0
    cat >prometheus.yml <<END
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: sprof
    http_sd_configs: [{url: 'http://$address/targets?exe=found', refresh_interval: 1s}]
END
    port=$(python3 -c '
import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
        --web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
    prometheus=$!
    is_found() {
        address=127.0.0.1:$port http body \
            '/api/v1/query?query=sprof_samples_total' 2>/dev/null |
            grep -q "found.$pid"
    }
    until_true is_found
    kill "$prometheus"
    wait "$prometheus"
    end_server
    end "$pid" 2>/dev/null
fi
finish
