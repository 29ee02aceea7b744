#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: functions of Python on the stacks of a real interpreter.
# - a function stands between the native function that called it and the one
#   that it calls; the interpreter's loop is not shown, except with --native;
#   with --script these functions alone;
# - their module is Python, also in a pprof file, which has no native frames of
#   the interpreter and says so;
# - an interpreter without names: its own frames are time of what called them.
#   info tells of them where they are shown, with --native;
# - a short function that native code calls is known where it begins and ends,
#   also if its thread runs no other one, and if what another one frees calls it;
# - files and lines are those of the source; a report begins with the program's
#   own ones;
# - threads that wait have their functions, too, and so have those that wait for
#   the interpreter's lock;
# - kill -9 leaves the names;
# - they have a kind or category of their own in files that know kinds;
# - a collection of garbage is shown as such, also if the interpreter's file has
#   no names for it;
# - two threads that wait for each other's locks are found;
# - from 3.11 on a sample of the first thread makes no system call for its
#   functions, also while it has let go of the interpreter's lock;
# - with SPROF_PYTHON=0 none is shown.
. "$(dirname "$0")/lib.sh"
has python3 || finish
python3 - <<'P' || { lacks frames "this version of Python is not known"; finish; }
import sys
sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))
P

# A "python3" on the path may be a script that finds the interpreter.
python=$(python3 -c 'import sys; print(sys.executable)')

cat >app.py <<'P'
import sys, threading, time
def leaf():
    s = 0
    for i in range(2000):
        s += i * i % 7
    return s
def key(x):
    return leaf() + x
def sorter():
    sorted(range(50), key=key)
def nap():
    time.sleep(100)
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sorter()
if len(sys.argv) > 2:
    threading.Thread(target=nap, daemon=True).start()
    threading.Thread(target=spin, args=(100,), daemon=True).start()
spin(float(sys.argv[1]))
P

# share REGEX FILE: percent of the CPU time of app.spin on stacks that match.
share() {
    awk -v regex="$1" '/app\.spin|start;/ && !/pymain_init|Finalize/ {
            all += $NF
            if ($0 ~ regex) part += $NF
        }
        END { printf "%d", all ? 100 * part / all : 0 }' "$2"
}

plain env LD_PRELOAD="$library" SPROF_COST=off \
    SPROF_OUTPUT="$tmp/p.folded,$tmp/p.sprof,$tmp/p.json,$tmp/p.html" \
    "$python" app.py 3
[ "$status" -eq 0 ] || fail "python3 ended with $status"
stack='app\.<module>;app\.spin;app\.sorter;.*list_sort.*;app\.key;app\.leaf'
[ "$(share "$stack" p.folded)" -ge 80 ] ||
    fail "$(share "$stack" p.folded) % of the samples show the stack"
[ "$(share '_PyEval_EvalFrameDefault|python function, not known' p.folded)" -le 5 ] ||
    fail "the loop is shown"
plain "$sprofile" report --by line -n 3 p.sprof
grep -q 'app\.leaf .*app\.py:[45]' out || fail "no line of app.leaf: $(cat out)"
# The head has the program's own lines, and none of Python's own files.
plain "$sprofile" report -n 1 p.sprof
sed -n '/^python /,/^$/p' out >own
grep -qE '^python +[89][0-9]\.[0-9] %|^python +100\.0 %' own && head -n 3 own |
    grep -qE '^ +[0-9.]+ % ± +[0-9.]+  app\.leaf app\.py:[345]$' ||
    fail "own lines: $(cat out)"
! grep -qE 'importlib|threading|\[' own || fail "other files' lines: $(cat own)"
plain "$sprofile" report -n 5 --native p.sprof
grep -q '_PyEval_EvalFrameDefault' out || fail "--native: no loop"
plain "$sprofile" convert --script p.sprof script.folded
stack='app\.<module>;app\.spin;app\.sorter;app\.key;app\.leaf'
[ "$(share "$stack" script.folded)" -ge 80 ] ||
    fail "--script: $(head -n 3 script.folded)"
plain "$sprofile" report --by module -n 3 p.sprof
grep -qE ' Python$' out || fail "--by module: $(cat out)"
plain "$sprofile" convert p.sprof p.pb.gz
plain "$sprofile" report --by module -n 3 p.pb.gz
grep -qE ' Python$' out && ! grep -q 'generated code' out ||
    fail "pprof: --by module: $(cat out)"
plain "$sprofile" convert --script p.pb.gz script.folded
[ "$(share "$stack" script.folded)" -ge 80 ] ||
    fail "pprof: --script: $(head -n 3 script.folded)"
# Of both, the spool has native frames, also in a spool that is made of both.
plain "$sprofile" merge --native -o both.sprof p.sprof p.pb.gz
expect_status 1
grep -q -- '--native: the pprof files have no native frames' err ||
    fail "both: $(cat err)"
"$sprofile" convert --native p.sprof native.folded
"$sprofile" convert p.pb.gz pprof.folded
"$sprofile" convert --native both.sprof both.folded
sums() {
    awk '{ n = $NF; $NF = ""; sum[$0] += n }
        END { for (stack in sum) print stack sum[stack] }' "$@" | sort
}
# Each file rounds its numbers.
awk '{ n = $NF; $NF = "" }
    NR == FNR { both[$0] = n; next }
    { parts[$0] = n }
    END {
        for (stack in parts)
            both[stack] += 0
        for (stack in both)
            if (both[stack] - parts[stack] > 2 || both[stack] - parts[stack] < -2)
                print stack both[stack], parts[stack]
    }' <(sums both.folded) <(sums native.folded pprof.folded) >other
[ ! -s other ] || fail "both: other stacks: $(cat other)"
plain "$sprofile" report --native p.pb.gz
expect_status 1
grep -q 'pprof files have no native frames of interpreters' err ||
    fail "pprof: --native: $(cat err)"
# A pprof file says how the weights of its samples differ on the whole, so the
# intervals of rows, in the third column, may be others.
rows() {
    "$sprofile" report -n 0 "$1" 2>&1 | tee "$1.report" |
        sed -n '/flat/,$p' | awk '{ $3 = ""; print }'
}
diff <(rows p.sprof) <(rows p.pb.gz) >differences ||
    fail "pprof: another table: $(head -n 5 differences)"
! grep '^note: ±' p.pb.gz.report || fail "pprof: a note on ±"
! grep '^note: ±' p.sprof.report || fail "a note on ±"

python3 - >kinds <<'P' || fail "Firefox: $(cat kinds)"
import json, sys
file = json.load(open("p.json", encoding="utf-8"))
shared = file["shared"]
frames, names = shared["frameTable"], shared["stringArray"]
categories = [one["name"] for one in file["meta"]["categories"]]
python, kinds = categories.index("Python"), {}
for function, category in zip(frames["func"], frames["category"]):
    # Any function may be where its thread had no CPU.
    if categories[category].startswith("Waiting"):
        continue
    name = names[shared["funcTable"]["name"][function]]
    kinds.setdefault(name, set()).add(category == python)
native = next(name for name in kinds if "list_sort" in name)
print(kinds["app.sorter"], kinds["app.leaf"], native, kinds[native])
sys.exit(True not in kinds["app.sorter"] or True not in kinds["app.leaf"]
         or kinds[native] != {False})
P
if command -v node >/dev/null; then
    node "$here/kinds.mjs" p.html >kinds || fail "the page is not read"
    grep -qx '3 app\.leaf' kinds && grep -q '^0 .*list_sort' kinds ||
        fail "the page has other kinds: $(grep 'app\|list_sort' kinds)"
fi

cat >short.py <<'P'
import _thread, time
class Dropped:
    def __del__(self):
        pass
def drop(number):
    kept = Dropped()
def spin():
    sorted(range(200), key=lambda x: -x)
    list(map(drop, range(100)))
def bare():
    def key(x):
        return x or done.release() or x
    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(sorted, (range(2000, -1, -1),), {"key": key})
    done.acquire()
while time.process_time() < 1.5:
    spin()
    bare()
P
plain env LD_PRELOAD="$library" SPROF_COST=off SPROF_FREQUENCY=5000 \
    SPROF_OUTPUT="$tmp/short.folded" "$python" short.py
unknown=$(grep 'python function, not known' short.folded | total)
[ $((unknown * 1000)) -lt "$(total short.folded)" ] ||
    fail "$unknown samples of $(total short.folded) have no function"

plain env SPROF_PYTHON=0 LD_PRELOAD="$library" \
    SPROF_OUTPUT="$tmp/off.folded" "$python" app.py 0.3
[ "$(share 'app\.' off.folded)" -eq 0 ] || fail "functions that are not wanted"

cat >collect.py <<'P'
import gc, time
kept = [[number] for number in range(200000)]
def explicit():
    gc.collect()
while time.process_time() < 0.6:
    explicit()
P
plain env LD_PRELOAD="$library" SPROF_COST=off \
    SPROF_OUTPUT="$tmp/c.folded,$tmp/c.sprof" "$python" collect.py
grep -q 'collect\.explicit;.*\[garbage collection\]' c.folded ||
    fail "no collection: $(cat c.folded)"
plain "$sprofile" report -n 0 --native c.sprof
! grep -q 'garbage collection' out || fail "--native: a name of ours"

cat >dead.py <<'P'
import threading, time
first, second = threading.RLock(), threading.RLock()
both = threading.Barrier(2)
def one(mine, other):
    with mine:
        both.wait()
        with other:
            pass
for pair in (first, second), (second, first):
    threading.Thread(target=one, args=pair, daemon=True).start()
time.sleep(100)
P
profile_begin d SPROF_COST=off "$python" dead.py
pid=$(pgrep -P "$running")
shows '^Deadlock: 2 threads wait for each other$' stacks "$pid" &&
    [ "$(grep -c 'waits for the RLock of ' out)" -eq 2 ] &&
    [ "$(grep -c '^      in dead\.one dead\.py:7$' out)" -eq 2 ] ||
    fail "stacks: no deadlock: $(cat out)"
kill -9 "$pid"
wait "$running" 2>/dev/null

# Without its build-id, no package has the names of the interpreter's copy.
mkdir bare
object=$(ldd "$python" | awk '/libpython/ { print $3 }')
if [ -n "$object" ]; then
    nameless=$tmp/bare/$(basename "$object")
    bare=(LD_LIBRARY_PATH="$tmp/bare" "$python")
else
    object=$python nameless=$tmp/bare/python
    home=$("$python" -c 'import sys; print(sys.base_prefix)')
    bare=(PYTHONHOME="$home" "$nameless")
fi
strip -R .note.gnu.build-id -o "$nameless" "$object"
plain env LD_PRELOAD="$library" SPROF_COST=off SPROF_OUTPUT="$tmp/b.sprof" \
    "${bare[@]}" app.py 1
plain "$sprofile" report -n 0 b.sprof
part=$(awk -v name="$(basename "$nameless")+0x" 'index($0, name) { part += $2 }
    END { printf "%d", part }' out)
[ "$part" -le 2 ] ||
    fail "$part % of CPU time is in rows without names: $(head -n 20 out)"
grep -q 'app\.leaf' out || fail "no names of Python: $(head -n 20 out)"
# listed OPTION...: percent of CPU time on stacks with such frames, in info.
listed() {
    plain "$sprofile" info "$@" b.sprof
    sed -n '/^frames without names/,$p' out |
        awk -v name="$nameless" '$4 == name { part = $1 }
            END { printf "%d", part }'
}
[ "$(listed)" -le 10 ] || fail "info: frames that are not shown: $(cat out)"
[ "$(listed --native)" -ge 80 ] || fail "info --native: $(cat out)"

# Between its two calls of getppid, released.py runs native code without the
# lock. Its functions are old enough by then to be known.
cat >released.py <<'P'
import ctypes, os, time
libc = ctypes.CDLL(None)
room = ctypes.create_string_buffer(16 << 20)
def clear(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        libc.memset(room, 1, ctypes.c_size_t(16 << 20))
clear(1)
os.getppid()
clear(0.5)
os.getppid()
print(os.getpid())
P
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' &&
    has strace && {
    plain strace -f -qq -o trace -e trace=process_vm_readv,getppid \
        env LD_PRELOAD="$library" SPROF_FREQUENCY=1000 \
        SPROF_OUTPUT="$tmp/released.folded" "$python" released.py
    expect_status 0
    grep -q 'released\.clear;.*memset' released.folded ||
        fail "released.clear is not there: $(cat released.folded)"
    read -r samples calls < <(awk -v pid="$(cat out)" '$1 != pid { next }
        /getppid/ { on = !on }
        on && /--- SIG/ { samples++ }
        on && /process_vm_readv/ { calls++ }
        END { print samples + 0, calls + 0 }' trace)
    [ "$samples" -ge 20 ] || fail "only $samples samples"
    [ $((calls * 4)) -le "$samples" ] ||
        fail "$calls system calls for $samples samples without the lock"
}

profile_begin k SPROF_COST=off "$python" app.py 100 threads
pid=$(pgrep -P "$running")
shows '^ .* app\.leaf$' top --once --by function --module Python "$pid" ||
    fail "top --module: $(cat out)"
shows 'app\.nap app\.py:12' stacks "$pid" ||
    fail "stacks: no app.nap: $(cat out)"
shows ' gil$' report --by state k.sprof ||
    fail "no wait for the GIL: $(cat out)"
shows 'app\.leaf' report -n 0 k.sprof || fail "no names: $(cat out)"
kill -9 "$pid"
wait "$running" 2>/dev/null
plain "$sprofile" report -n 0 k.sprof
grep -q 'app\.leaf' out || fail "kill -9: no names"
finish
