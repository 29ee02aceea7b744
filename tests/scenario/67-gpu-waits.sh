#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: waits for a GPU, with a library that has the names of one.
# - a thread below a function that waits for the GPU is in the state "gpu" while
#   it sleeps, and "gpu, spinning" while it uses the CPU; below a function that
#   does not wait it is in neither;
# - the times are those of the program's own clocks;
# - reports, filters, folded stacks, pprof, speedscope, the Firefox Profiler's
#   files and the page agree;
# - the lines of Python that make a thread wait are found, and files without
#   native functions keep the states;
# - top and stacks say so of a process that runs.
. "$(dirname "$0")/lib.sh"
stand_in=$work/libgpu_stand_in.so
python=/usr/bin/python3

# expect_ends MOST ALL FUNCTION...: nearly all stacks of p.folded below these
# functions end with MOST, and all with ALL, but for what a thread without a CPU
# was seen in.
expect_ends() {
    local name
    for name in "${@:3}"; do
        expect_share 90 "$1 [0-9]*\$" p.folded ";$name;"
        expect_share 100 "$2 [0-9]*\$" p.folded ";$name;"
        [ "$(grep ";$name;" p.folded | total)" -gt 100 ] ||
            fail "too little below $name"
    done
}

# gpu_rows FILE: "STATE CPU-ns WALL-ns" of its waits for the GPU.
gpu_rows() {
    plain "$sprofile" report --csv --by state "$1"
    expect_status 0
    sed -n 's/^"gpu, spinning",/spins,/p; s/^gpu,/sleeps,/p' out |
        cut -d, -f1-3 | tr , ' ' | sort
}

# expect_agreement SPOOL: what is made of it has the same sums.
expect_agreement() {
    local file wanted
    wanted=$(gpu_rows "$1")
    [ "$(wc -l <<<"$wanted")" -eq 2 ] || fail "not two states: $wanted"
    for file in copy.sprof copy.pb.gz script.sprof script.pb.gz; do
        plain "$sprofile" convert $([[ $file != script* ]] || echo --script) \
            "$1" $file
        expect_status 0
        [ "$(gpu_rows $file)" = "$wanted" ] ||
            fail "$file: $(gpu_rows $file), $wanted in $1"
    done
    plain "$sprofile" report --csv --by process --state gpu \
        --state 'gpu, spinning' "$1"
    [ "$(awk -F, 'NR == 2 { print $(NF - 2), $(NF - 1) }' out)" = \
        "$(awk '{ cpu += $2; wall += $3 }
            END { printf "%.0f %.0f", cpu, wall }' <<<"$wanted")" ] || fail "a filter has other sums: $(cat out)"
    plain "$sprofile" convert "$1" all.html
    expect_status 0
    ! command -v node >/dev/null || [ "$(node "$here/states.mjs" all.html |
        sed -n 's/^gpu, spinning|/spins|/p; s/^gpu|/sleeps|/p' |
        tr '|' ' ' | sort)" = "$wanted" ] ||
        fail "the page has other sums: $(node "$here/states.mjs" all.html)"
    plain "$sprofile" convert "$1" all.wall.speedscope.json
    plain "$sprofile" convert "$1" all.firefox.json
    $python - "$wanted" <<'P' || fail "speedscope or Firefox differ"
import json, re, sys
times = {row.split()[0]: int(row.split()[2]) for row in sys.argv[1].split("\n")}
scope = json.load(open("all.wall.speedscope.json"))
names = [frame["name"] for frame in scope["shared"]["frames"]]
for state, name in (("sleeps", "[gpu]"), ("spins", "[gpu, spinning]")):
    sum_ = sum(weight for profile in scope["profiles"]
               for stack, weight in zip(profile["samples"], profile["weights"])
               if stack and names[stack[-1]] == name)
    print(f"    {name}: speedscope {sum_}, report {times[state]} ns")
    assert abs(sum_ - times[state]) <= 1000
waits = json.load(open("all.firefox.json"))["meta"]["categories"][2]
assert {"gpu", "gpu, spinning"} <= set(waits["subcategories"]), waits
P
}

section "C"
for trigger in auto timer; do
    echo "-- $trigger"
    rm -f p.*
    profile SPROF_TRIGGER=$trigger SPROF_COST=off \
        SPROF_OUTPUT="$tmp/p.wall.folded,$tmp/p.sprof" "$work/gpu_waits" 800
    expect_ok
    read -r _ slept spun wall < <(grep '^gpu ' out)
    expect_ends '\[gpu\]' '\[gpu(, spinning)?\]' cudaEventSynchronize \
        cuMemcpyDtoH_v2 hipDeviceSynchronize
    expect_ends '\[gpu, spinning\]' '\[gpu(, spinning)?\]' \
        cudaStreamSynchronize ncclGroupEnd
    expect_ends '[^]]' '([^]]|\[waiting\])' cudaLaunchKernel
    expect_ends '\[waiting\]' '([^]]|\[waiting\])' cudaMemcpyAsync \
        customSynchronize
    # A look at a thread without a CPU may stand for time of another function. A
    # timer gives a thread of a busy machine few samples: three deviations of a
    # share of so many are by chance.
    "$sprofile" info p.sprof >info
    samples=$(sed -n 's/^samples *\([0-9]*\) .*/\1/p' info)
    total=$(sed -n 's/^totals *\([0-9.]*\) s CPU.*/\1/p' info)
    gpu_rows p.sprof | awk -v slept="$slept" -v spun="$spun" -v wall="$wall" \
        -v samples="$samples" -v total="$total" '
        { cpu[$1] = $2 / 1e9; all[$1] = $3 / 1e9 }
        END {
            share = spun / total
            chance = total * sqrt(share * (1 - share) / samples)
            error = 0.1 * spun + 3 * chance
            printf "    slept %.3f of %.3f s, spun %.3f of %.3f s\n",
                all["sleeps"], slept, cpu["spins"], spun
            exit !(cpu["spins"] > spun - error && cpu["spins"] < spun + error &&
                all["sleeps"] > 0.5 * slept && all["sleeps"] < 1.2 * wall)
        }' || fail "other times than the program says"
done
expect_agreement p.sprof

section "Python"
$python - <<'P' || { lacks Python "this version is not known"; finish; }
import sys
sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))
P
cat >app.py <<'P'
import ctypes, sys, threading, time
lib = ctypes.CDLL(sys.argv[1])
def item(ms):
    return lib.cudaStreamSynchronize(ms)
def cpu(ms):
    return lib.cuMemcpyDtoH_v2(ms)
def compute(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        sum(range(1000))
if len(sys.argv) > 2:
    threading.Thread(target=item, args=(600000,), daemon=True).start()
    cpu(600000)
spun = 0
for _ in range(4):
    lib.cudaLaunchKernel(100)
    begin = time.thread_time()
    item(200)
    spun += time.thread_time() - begin
    compute(100)
    cpu(200)
    time.sleep(0.2)
print(spun)
P
profile SPROF_COST=off SPROF_OUTPUT="$tmp/p.sprof" $python app.py "$stand_in"
expect_status 0
spun=$(cat out)
expect_agreement p.sprof
plain "$sprofile" report --script --by line -n 2 --csv --wall --state gpu \
    --state 'gpu, spinning' p.sprof
expect_status 0
cat out
[ "$(sed -n '2,$p' out | grep -oE 'app\.(item|cpu)' | sort -u | wc -l)" -eq 2 ] ||
    fail "not the two lines that wait"
awk -F, -v spun="$spun" '/app\.item/ { cpu = $(NF - 3) / 1e9 }
    END { print cpu, spun; exit !(cpu > 0.85 * spun && cpu < 1.1 * spun) }' out ||
    fail "another CPU time than the program says"

echo "-- a process that runs"
env LD_PRELOAD="$library" SPROF_COST=off SPROF_OUTPUT="$tmp/live.sprof" \
    $python app.py "$stand_in" stay >live.out 2>live.err &
pid=$!
until_true [ -s live.sprof ]
# One thread sleeps, the other spins.
for state in 'waiting for the GPU' 'waiting for the GPU, spinning'; do
    shows "^1 thread $state, [0-9.]* s of CPU time\$" stacks $pid ||
        fail "no thread is $state: $(cat out)"
    sed -n "/^1 thread $state, [0-9]/,/^\$/p" out
done
for filter in 'gpu:app.cpu' 'gpu, spinning:app.item'; do
    shows "${filter#*:}" stacks --script --state "${filter%:*}" $pid ||
        fail "not ${filter#*:}: $(cat out)"
    [ "$(grep -c '^1 thread ' out)" -eq 1 ] || fail "a filter: $(cat out)"
done
for state in gpu 'gpu, spinning'; do
    shows " $state\$" top --once --by thread -d 2 $pid ||
        fail "top has no thread in state $state: $(cat out)"
done
shows '^threads  2: 1 running, 1 waiting$' top --once -d 2 $pid ||
    fail "top counts other states: $(cat out)"
kill -KILL $pid
finish
