#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: every command and option of sprofile works on the profiles
# of real programs, on the spools of a killed and of a living process, and on
# what hundreds of processes of a parallel build left; what is for programs is
# read by a program.
. "$(dirname "$0")/lib.sh"
source=${SPROF_SOURCE:-$(cd "$here/../.." && pwd)}
# Names are kept, as they are for most users.
mkdir "$XDG_CACHE_HOME"

# works COMMAND...: status 0, no complaint.
works() {
    plain "$sprofile" "$@"
    # Whose filters leave nothing has status 1.
    [ "$status" -eq 0 ] || grep -q '^sprofile: no sample is left by' err ||
        fail "status $status: sprofile $*: $(head -n 1 err)"
    [ ! -s err ] || grep -q '^sprofile: no sample is left by' err ||
        fail "sprofile $*: $(head -n 1 err)"
}

# every_row FILE FUNCTION: all that can be asked of FILE.
every_row() {
    local file=$1 function=$2 what
    for what in '' --cpu --wall '--tree --wall' '--tree --min 5' \
        '-n 3' '-n 0' '--by line' '--by module' '--by thread' '--by state' \
        '--by process' '--thread nobody' '--state running' \
        '--label state=running' '--focus .' '--ignore ^nothing$' \
        '--color always'; do
        # shellcheck disable=SC2086
        works report $what "$file"
        [ -s out ] || fail "nothing: report $what $file"
    done
    works report --callers "$function" "$file"
    works report --lines "$function" "$file"
    works report --csv "$file"
    /usr/bin/python3 -c 'import csv, sys
rows = list(csv.reader(sys.stdin))
assert len(rows) > 1 and len({len(row) for row in rows}) == 1' <out ||
        fail "no good CSV: $file"
    works report --json "$file"
    is_json <out
    works info "$file"
    works diff "$file" "$file"
    # A living one has grown meanwhile.
    kill -0 "${child:-none}" 2>/dev/null || ! grep -qxE 'slower|faster' out ||
        fail "differs from itself: $file"
    for ending in pb.gz folded collapsed txt json speedscope.json sprof; do
        # A pprof file does not know when samples were.
        untimed=
        case $ending:$file in json:*.pb.gz) untimed=--untimed ;; esac
        works convert $untimed "$file" "c.$ending"
        [ -s "c.$ending" ] || fail "nothing: convert $file c.$ending"
    done
    is_json <c.json
    is_json <c.speedscope.json
    works report c.pb.gz
    works report c.sprof
    works merge -o m.pb.gz "$file" c.pb.gz c.sprof
    rm -f c.* m.*
}

is_json() {
    /usr/bin/python3 -m json.tool >/dev/null || fail "no good JSON"
}

# times_of_spool FILE TIME-RANGE: only spools know when samples were.
in_time() {
    works report --time "$2" "$1"
    works convert --time "$2" "$1" t.json
    rm -f t.json
}

cat >job.py <<'END'
import json, re
text = json.dumps([{"key": i, "text": "x" * (i % 50)} for i in range(60000)])
for _ in range(2):
    print(len(json.loads(text)), len(re.findall(r"x+", text)))
END
seq 1 400000 >numbers
awk 'BEGIN { for (i = 0; i < 120; i++)
    printf "int f%d(int x) { for (int i = 0; i < x; i++) x += i %% %d; return x; }\n",
    i, i + 2 }' >large.c
sql="with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 200000) select count(*), sum(i * i % 7), max(s) from
    (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc);"

# one NAME FUNCTION COMMAND...: recorded, and read in every way.
one() {
    local name=$1 function=$2
    shift 2
    has "$1" || return
    plain env SPROF_KEEP_SPOOL=1 "$sprofile" record -q -o "$name.pb.gz" -- "$@"
    expect_status 0
    profile SPROF_KEEP_SPOOL=1 SPROF_OUTPUT="$tmp/$name.txt" "$@"
    every_row "$name.pb.gz" "$function"
}
one python json.loads /usr/bin/python3 job.py
one xz lzma_code xz -T2 --block-size=1MiB -3 -k -c numbers
one sqlite sqlite3_step sqlite3 :memory: "$sql"
one gcc main gcc -O2 -c large.c -o large.o
every_row python.sprof json.loads
in_time python.sprof 0.1-
in_time python.sprof 0-0.3

if has redis-server && has redis-benchmark; then
    "$sprofile" record -q -o redis.pb.gz -- redis-server --port 0 \
        --unixsocket "$tmp/socket" --save '' >redis.log 2>&1 &
    child=$!
    until_true [ -S socket ]
    redis-benchmark -s "$tmp/socket" -n 300000 -P 16 -q -t set >/dev/null 2>&1
    kill -TERM $child
    wait $child
    every_row redis.pb.gz processCommand
fi

echo "-- a killed process, a living one"
env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/killed.txt" \
    "$work/known_stack.o2" 200000 >/dev/null &
child=$!
# Enough of it has been seen when half a second after its first 0.2 s is there.
end=$((SECONDS + deadline))
until "$sprofile" report --time 0.7- killed.sprof 2>/dev/null |
        grep -q leaf_spin; do
    [ $SECONDS -lt $end ] || { fail "a living process is not seen"; break; }
    sleep 0.1
done
every_row killed.sprof leaf_spin
works top --once -d 0.2 $child
works top --once -d 0.2 killed.sprof
{ kill -9 $child && wait $child; } 2>/dev/null
every_row killed.sprof leaf_spin
in_time killed.sprof 0.2-0.9
works top --once -d 0.2 --time 0.2- killed.sprof
grep -q leaf_spin out || fail "nothing of a killed process"

echo "-- a parallel build"
if has make && has cc; then
    mkdir build
    for i in {1..60}; do
        head -n 6 large.c | sed "s/int f/&${i}_/" >"build/f$i.c"
    done
    printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n' >build/Makefile
    plain "$sprofile" record -o made.pb.gz -- make -C build -j2 CC='cc -O2'
    expect_status 0
    [ "$(ls build/*.o | wc -l)" -eq 60 ] || fail "the build is not complete"
    ! ls -d sprof.record.* 2>/dev/null || fail "the spools were left"
    processes=$(sed -n \
        's/^sprof: wrote .* in \([0-9,]* of \)\?\([0-9,]*\) processes.*/\2/p' err)
    echo "$processes processes"
    # make, and a driver, a compiler and an assembler for each file.
    [ "${processes//,/}" -ge 181 ] || fail "$processes processes"
    every_row made.pb.gz main
    plain "$sprofile" report --by process -n 0 made.pb.gz
    [ "$(grep -c 'cc1' out)" -ge 60 ] || fail "compilers are missing"
fi
# All of this project, some 450 processes.
if [ -n "${SPROF_TEST_FULL:-}" ] && has cmake; then
    deadline=600
    plain cmake -S "$source" -B made -G 'Unix Makefiles'
    expect_status 0
    plain "$sprofile" record -o made.pb.gz -- \
        cmake --build made --parallel 2 --target sprof sprof-report sprofile
    expect_status 0
    every_row made.pb.gz main
fi

finish
