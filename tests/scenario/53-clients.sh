#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what we write is opened by the programs that it is for.
# - go tool pprof: top, tree, traces, tags, differences, and its own copy of a
#   profile is one that we read; a profile that it makes of two has the losses of
#   both; it leaves out the same frames as we do (drop_frames);
# - the Firefox Profiler: its loader (of its command-line client), and its
#   format's description, field by field;
# - speedscope: its page in a browser without a screen, and its schema;
# - folded stacks: flamegraph.pl and speedscope;
# - Python's json, for everything that is JSON.
# What is not installed is left out, with a line. npm's packages are in
# build/npm, see packages.sh.
. "$(dirname "$0")/lib.sh"

npm=$build/npm/node_modules
python=$(python3 -c 'import sys; print(sys.executable)') || skip "no python3"

# Threads that run, sleep and wait for a pipe, under names of their own.
cat >program.py <<'END'
import os, threading, time
inner, outer = os.pipe()
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(1000))
def wait():
    os.read(inner, 1)
threads = [threading.Thread(target=work, args=(0.3,)),
           threading.Thread(target=wait)]
for thread in threads:
    thread.start()
time.sleep(0.2)
work(0.2)
os.write(outer, b"x")
for thread in threads:
    thread.join()
END
names=p.pb.gz,p.json,p.wall.speedscope.json,p.wall.folded,p.txt
profile SPROF_OUTPUT=$names "$python" program.py
expect_status 0
mv p.wall.speedscope.json p.speedscope.json
for name in p.pb.gz p.json p.speedscope.json p.folded p.txt; do
    [ -s "$name" ] || { fail "$name is missing: $(cat err)"; finish; }
done
read -r cpu wall < <(sed -n \
    's/^totals *\([0-9.]*\) s CPU, \([0-9.]*\) s wall time.*/\1 \2/p' p.txt)

# Where the most was waited; on a loaded machine it may be any of the waits.
wait=$(sed -n 's/.*;\([^;]*\);\[waiting\] \([0-9]*\)$/\2 \1/p' p.folded |
    sort -rn | head -n 1 | cut -d ' ' -f 2)
[ -n "$wait" ] || fail "nobody waited: $(cat p.folded)"

# in_time COMMAND...: like plain, but prints what the command says.
in_time() {
    timeout -k 5 "$deadline" "$@" 2>err </dev/null
}

# expect_line WORDS FILE WHAT: a line of FILE has WORDS, a basic expression.
expect_line() {
    grep -q -- "$1" "$2" || fail "$3: no \"$1\" in: $(head -c 300 "$2")"
}

part "Python's json"
for name in p.json p.speedscope.json; do
    python3 -m json.tool "$name" >/dev/null || fail "$name is no JSON"
done
python3 "$here/firefox_schema.py" p.json "$cpu" "$wall" >faults ||
    fail "p.json is not as described: $(cat faults)"
# It must be able to fail: an index beyond its table, a column that is short.
for change in 's/"func":\[[0-9]*,/"func":[99999999,/' \
    's/"inlineDepth":\[0,/"inlineDepth":[/'; do
    sed "$change" p.json >wrong.json
    python3 "$here/firefox_schema.py" wrong.json "$cpu" "$wall" >/dev/null &&
        fail "the check of p.json does not see $change"
done

pprof() {
    in_time env PPROF_TMPDIR="$tmp" go tool pprof "$@"
}
if has go && pprof -raw p.pb.gz >/dev/null; then
    pprof -top p.pb.gz >top || fail "pprof -top: $(cat err)"
    expect_line 'program\.work' top "pprof -top"
    expect_line '^lost: ' top "pprof -top"
    pprof -tree -sample_index=wall p.pb.gz >tree ||
        fail "pprof -tree: $(cat err)"
    expect_line 'program\.work' tree "pprof -tree"
    pprof -traces p.pb.gz >traces || fail "pprof -traces: $(cat err)"
    expect_line 'state:  *[a-z]' traces "pprof -traces"
    pprof -tagfocus=state=running -sample_index=samples -top p.pb.gz >running ||
        fail "pprof -tagfocus: $(cat err)"
    expect_line 'program\.work' running "pprof -tagfocus"
    ! grep -q clock_nanosleep running || fail "sleeping is running, for pprof"
    pprof -diff_base p.pb.gz -top p.pb.gz >same ||
        fail "pprof -diff_base: $(cat err)"
    expect_line '^Showing nodes accounting for 0, 0% of' same "pprof -diff_base"
    pprof -proto -output="$tmp/again.pb.gz" p.pb.gz >/dev/null ||
        fail "pprof -proto: $(cat err)"
    plain "$sprofile" convert again.pb.gz again.wall.folded
    expect_status 0
    cmp -s again.wall.folded p.folded || fail "pprof's copy has other stacks"

    "$work/make_spool" "$tmp/a.sprof" && "$sprofile" convert a.sprof a.pb.gz ||
        fail "no profile with losses"
    pprof -proto -output="$tmp/both.pb.gz" a.pb.gz p.pb.gz >/dev/null ||
        fail "pprof does not merge: $(cat err)"
    "$sprofile" info a.pb.gz p.pb.gz | grep -E '^(rate|lost|cut|due) ' >parts
    "$sprofile" info both.pb.gz | grep -E '^(rate|lost|cut|due) ' >merged
    cmp -s parts merged || fail "of two: $(cat merged), not $(cat parts)"

    # The second time without the expressions: what pprof has left.
    "$python" - "$here" p.pb.gz dropped.pb <<'END'
import gzip, sys
sys.path.insert(0, sys.argv[1])
from push_sums import every
profile = gzip.open(sys.argv[2]).read()
number = len(every(profile, 6))
for field, text in (7, rb"threading\..*|program\.(?:work|wait)"), (8, rb".*\.work"):
    profile += bytes([6 << 3 | 2, len(text)]) + text
    profile += bytes([field << 3, number & 127 | 128, number >> 7])
    number += 1
open(sys.argv[3], "wb").write(profile)
END
    pprof -proto -output="$tmp/left.pb.gz" dropped.pb >/dev/null ||
        fail "pprof does not drop frames: $(cat err)"
    { gzip -dc left.pb.gz && printf '\x38\x00'; } >left.pb
    for name in dropped left; do
        plain "$sprofile" convert $name.pb $name.wall.folded
        expect_status 0
    done
    cmp -s dropped.wall.folded left.wall.folded ||
        fail "not what pprof drops: $(diff dropped.wall.folded left.wall.folded)"
    ! cmp -s dropped.wall.folded p.folded || fail "nothing was dropped"
    ! grep -q 'program.wait' dropped.wall.folded || fail "not all was dropped"
    grep -q 'program.work' dropped.wall.folded || fail "not all was kept"
    mkdir go
    cat >go/main.go <<'END'
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"syscall"
)

func cpuMilliseconds() int64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return (used.Utime.Nano() + used.Stime.Nano()) / 1000000
}

func burn(milliseconds int64) (sum int) {
	for until := cpuMilliseconds() + milliseconds; cpuMilliseconds() < until; {
		for i := 0; i < 100000; i++ {
			sum += i * i
		}
	}
	return
}

func main() {
	cpu, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(cpu)
	burn(600)
	labels := pprof.Labels("request", "/go")
	pprof.Do(context.Background(), labels, func(context.Context) {
		burn(1000)
	})
	pprof.StopCPUProfile()
	cpu.Close()
	heap, _ := os.Create("heap.pb.gz")
	pprof.WriteHeapProfile(heap)
	heap.Close()
}
END
    if in_time env GO111MODULE=off GOFLAGS= go run go/main.go >/dev/null; then
        plain "$sprofile" report cpu.pb.gz
        expect_status 0
        expect_line 'main.burn' out "a profile of Go's own"
        plain "$sprofile" report --by label:request cpu.pb.gz
        expect_line ' /go$' out "a label of Go's"
        plain "$sprofile" report --label request=/go cpu.pb.gz
        expect_line 'main.main.func1' out "samples with a label of Go's"
        plain "$sprofile" report heap.pb.gz
        expect_status 1
        expect_line 'neither samples nor time' err "a heap profile"
    else
        lacks "profiles of Go" "cannot build: $(tail -n 1 err)"
    fi
else
    lacks "go tool pprof" "not there"
fi

client=$npm/@firefox-devtools/profiler-cli/dist/profiler-cli.js
node=$npm/node/bin/node
# It is started here: its own "load" waits half a second for it to start.
firefox() {
    in_time env HOME="$tmp" "$node" "$client" "$@"
}
if [ -e "$client" ] && "$node" --version >/dev/null 2>&1; then
    part "the Firefox Profiler's loader"
    firefox --daemon p.json --session here >loaded 2>&1 &
    loader=$!
    until firefox profile info >info; do
        kill -0 $loader 2>/dev/null || {
            fail "p.json is not loaded: $(cat loaded err)"
            break
        }
        sleep 0.1
    done
    expect_line 'contains 3 threads across 1 processes' info "Firefox Profiler"
    for thread in t-0 t-1 t-2; do
        firefox thread functions --thread "$thread"
    done >functions
    expect_line 'program\.work' functions "Firefox Profiler"
    expect_line "$wait" functions "Firefox Profiler"
    for thread in t-0 t-1 t-2; do
        firefox thread markers --thread "$thread"
    done >markers
    expect_line '^  \(read\|futex\|clock_nanosleep\|waiting\) .*interval' markers \
        "Firefox Profiler"
    expect_line 'process started' markers "Firefox Profiler"
    firefox stop --all >/dev/null
    wait $loader
else
    lacks "the Firefox Profiler's loader" "not installed"
fi

flamegraph=$(command -v flamegraph.pl || echo \
    /usr/share/perl5/Devel/NYTProf/flamegraph.pl)
if [ -e "$flamegraph" ]; then
    part flamegraph.pl
    in_time perl "$flamegraph" p.folded >flame.svg ||
        fail "flamegraph.pl: $(cat err)"
    expect_line "<title>[^<]*$wait" flame.svg "flamegraph.pl"
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
        flame.svg || fail "flamegraph.pl writes no XML of p.folded"
else
    lacks flamegraph.pl "not installed"
fi

# speedscope FILE ARGUMENT...: its page with FILE, as Chromium has it.
page=$npm/speedscope/dist/release/index.html
speedscope() {
    local file=$1
    shift
    python3 - "$file" >load.js <<'END'
import base64, json, sys
with open(sys.argv[1], "rb") as file:
    text = base64.b64encode(file.read()).decode()
print(f"speedscope.loadFileFromBase64({json.dumps(sys.argv[1])}, '{text}')")
END
    in_time chromium --headless --no-sandbox --use-angle=swiftshader \
        --enable-unsafe-swiftshader --allow-file-access-from-files \
        --window-size=1400,800 --virtual-time-budget=8000 \
        --user-data-dir="$tmp/chromium" "$@" \
        "file://$page#localProfilePath=$tmp/load.js"
}
if ! [ -e "$page" ]; then
    lacks speedscope "not installed"
    finish
fi
part "speedscope's schema"
python3 - p.speedscope.json "${page%/*}/file-format-schema.json" <<'END' ||
import json, sys
profile, schema = (json.load(open(name)) for name in sys.argv[1:3])
try:
    import jsonschema
    jsonschema.validate(profile, schema)
except ImportError:
    print("-- Python's jsonschema is not installed")
frames = len(profile["shared"]["frames"])
for thread in profile["profiles"]:
    assert len(thread["samples"]) == len(thread["weights"]), thread["name"]
    assert sum(thread["weights"]) == thread["endValue"], thread["name"]
    for stack in thread["samples"]:
        assert all(0 <= frame < frames for frame in stack), thread["name"]
END
    fail "p.speedscope.json is not as its schema says"
if ! has chromium; then
    finish
fi
speedscope p.speedscope.json --dump-dom >dom || fail "chromium: $(cat err)"
expect_line 'python.*wall time' dom "speedscope"
[ "$(grep -o 'title="[^"]*: wall time"' dom | sort -u | wc -l)" = 3 ] ||
    fail "speedscope does not list 3 threads"
speedscope p.folded --dump-dom >dom
expect_line 'p\.folded' dom "speedscope with folded stacks"
speedscope p.speedscope.json --screenshot="$tmp/speedscope.png" >/dev/null
[ "$(stat -c %s speedscope.png 2>/dev/null || echo 0)" -gt 20000 ] ||
    fail "the screenshot of speedscope is empty"

finish
