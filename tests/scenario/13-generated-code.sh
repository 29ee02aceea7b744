#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: stacks go through generated code; it has names, and a
# hint where it has none. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Generated machine code in anonymous memory is crossed by its frame pointers,
# from the inside and from a function that it called.
section "frame pointers"

profile "$work/generated_code" 1500
expect_ok
expect_stacks 98
expect_roots 98 p.folded

# Generated code has names.
# - what a perf map names is called so: in anonymous memory and in a memfd, with
#   a map written at once or only in an exit handler; the last line wins;
# - each of several processes in one profile has its own map;
# - a kept spool finds the map later, and not one that another process left
#   under the same pid or that belongs to another user;
# - without a map, frames are addresses, and info says what would help;
# - Node, Java and Python (3.12) show their functions by name, and stacks go
#   through generated code to their root.
section "names"

# map_of SPOOL: where the names of its process are.
map_of() {
    timeout 20 "$sprofile" info "$1" |
        sed -n 's|^process  \([0-9]*\) on.*|/tmp/perf-\1.map|p'
}

# profile_kept COMMAND...: the spool stays as p.sprof, its map is $map.
profile_kept() {
    rm -f p.sprof p.folded
    profile SPROF_KEEP_SPOOL=1 "$@"
    map=$(map_of p.sprof)
    maps+=("$map")
}
maps=()
trap 'rm -rf "$tmp" "${maps[@]}"' EXIT

for kind in map late memfd; do
    echo "-- $kind"
    profile_kept "$work/generated_code" 1500 $kind
    expect_ok
    expect_stacks 98
    expect_roots 98 p.folded
done

# Each process has its own map.
cp p.sprof named.sprof
profile_kept "$work/generated_code" 1500
plain "$sprofile" convert named.sprof p.sprof q.folded
expect_status 0
expect_share 20 ';call_generated;made[ ;]' q.folded ';call_generated;'
expect_share 20 ';call_generated;0x' q.folded ';call_generated;'
mv named.sprof p.sprof
map=$(map_of p.sprof)

# Later, by the map as it is then.
touch map.older -d '1 hour ago'
touch map.newer -d '1 hour'
convert() {
    rm -f q.folded
    plain "$sprofile" convert p.sprof q.folded
    expect_status 0
}
convert
expect_share 98 ';call_generated;made[ ;]' q.folded ';call_generated;'
for age in older newer; do
    touch "$map" -r map.$age
    convert
    expect_share 98 ';call_generated;0x' q.folded ';call_generated;'
done
touch "$map"
convert
expect_share 98 ';call_generated;made[ ;]' q.folded ';call_generated;'
[ "$(id -u)" -ne 0 ] || {
    chown 12345 "$map"
    plain "$sprofile" report p.sprof
    grep -q "^note: $map is not used: it belongs to user 12345$" out ||
        fail "no note on the owner of the map"
}
mv "$map" elsewhere
ln -s "$PWD/elsewhere" "$map"
convert
expect_share 98 ';call_generated;0x' q.folded ';call_generated;'
rm "$map"

# Without one.
plain "$sprofile" info p.sprof
expect_status 0
grep -Eq '^ +([6-9][0-9]|100)[.][0-9]( +[0-9.]+){2}  generated code' out || fail "info: $(cat out)"
grep -q -- '--perf-basic-prof' out || fail "info does not say what would help"

has node && {
    cat >t.js <<'P'
function leaf(n) {
    let s = 0;
    for (let i = 0; i < n; i++) s = (s + i * 7) % 1009;
    return s;
}
function middle(n) { let s = 0; for (let i = 0; i < 5; i++) s += leaf(n); return s; }
while (process.cpuUsage().user < 800000) middle(1e5);
P
    # The second option gives each function that is not yet compiled its own
    # code. Without it the function is "Builtins_InterpreterEntryTrampoline".
    profile_kept SPROF_OUTPUT="$tmp/p.folded,$tmp/p.pb.gz" \
        node --perf-basic-prof --interpreted-frames-native-stack t.js
    expect_status 0
    expect_share 90 ';\(anonymous t.js:1:1\);middle;leaf[ ;]' p.folded ';leaf[ ;]'
    expect_share 95 '^_start;__libc_start_main;' p.folded ';leaf[ ;]'
    expect_share 30 ';leaf[ ;]' p.folded '__libc_start_main;.*[^]] [0-9]*$'
    zcat p.pb.gz | grep -aq "$tmp/t.js" || fail "pprof: no file of the script"
}

has javac && {
    cat >T.java <<'P'
public class T {
    static long leaf(long n) {
        long s = n;
        for (int i = 0; i < 20000; i++) s = (s * 31 + i) % 1000003;
        return s;
    }
    static long middle(int k) {
        long s = 0;
        for (int i = 0; i < 10; i++) s += leaf(i + k);
        return s;
    }
    public static void main(String[] a) {
        long s = 0;
        for (int i = 0; i < 1000; i++) s += middle(i);
        System.out.println(s);
        if (a.length > 0) System.exit(0);
    }
}
P
    timeout 100 javac T.java || fail "javac"
    for end in "" exit; do
        profile_kept java -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions \
            -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit -cp . T $end
        expect_status 0
        # -XX:+PreserveFramePointer keeps rbp in compiled code.
        expect_share 30 'long T.middle\(int\);(.*;)?long T.leaf\(long\)( |;)' \
            p.folded ';JavaMain;.*[^]] [0-9]*$'
        expect_share 95 '^clone3?;start_thread;' p.folded ';long T.leaf'
    done
}

# 3.12 and later, where its build has trampolines.
has python3 &&
    python3 -c 'import sys; sys.activate_stack_trampoline("perf")' 2>/dev/null && {
    cat >t.py <<'P'
import time
def leaf(n):
    return sum(i * 7 % 1009 for i in range(n))
def middle(n):
    return leaf(n)
while time.process_time() < 0.7:
    middle(10000)
P
    profile_kept python3 -X perf t.py
    expect_status 0
    expect_share 80 ';t\.middle;t\.leaf[; ]' p.folded ';t\.'
    ! grep -E ';t\.leaf;(.*;)?t\.leaf[ ;]' p.folded ||
        fail "a function is there twice"
    plain env SPROF_PYTHON=0 SPROF_OUTPUT="$tmp/p.folded" LD_PRELOAD="$library" \
        python3 -X perf t.py
    expect_share 80 ';t\.middle;.*;t\.leaf;' p.folded ';_?PyEval_EvalFrameDefault'
}

# A jitdump has times and lines.
# - where an address was used again, each sample has the name of its time, in
#   every format; lines are those of the pc;
# - a file that ends within a record, and one of a killed process, have names;
# - a jitdump goes before a perf map, and the map has what the jitdump lacks;
# - code that moves keeps its name; a child has what its parent had at the fork;
# - a jitdump that is mapped late is found;
# - the names are in a copy of the spool, which needs no jitdump any more;
# - Node's functions have their lines, and their stacks reach the root.
section "names by time"

# expect_truth FOLDED: each name has half at least of the share that the
# program gave in "truth". The first one, a fifth: it may lack what ran before
# the sampler; by a wrong name it would have nothing.
expect_truth() {
    local name cpu all share part=20
    all=$(awk '{ sum += $3 } END { print sum }' truth)
    [ "${all:-0}" -gt 0 ] || fail "the workload told no truth"
    while read -r _ name cpu; do
        share=$((cpu * part / all))
        part=50
        expect_share "$share" ";call_generated;(\\[caller guessed];)?$name[ ;]" "$1" \
            ';call_generated(;| [0-9])'
    done <truth
}

for kind in "" cut map move; do
    echo "-- $kind"
    rm -f p.* jit-*
    profile_kept SPROF_OUTPUT="$tmp/p.folded,$tmp/p.pb.gz,$tmp/p.json" \
        "$work/jitdump" 800 $kind
    expect_ok
    grep '^truth: ' out >truth
    expect_truth p.folded
    if [ "$kind" = "" ]; then
        plain "$sprofile" report --by line p.pb.gz
        for place in 'first first.js:10' 'first first.js:20' \
            'second second.js:10' 'second second.js:20'; do
            grep -q " $place\$" out || fail "no line $place: $(cat out)"
        done
        grep -q '"second"' p.json || fail "p.json has no name of the later code"
        plain "$sprofile" convert p.sprof q.sprof
        expect_status 0
        rm jit-*
        plain "$sprofile" convert q.sprof q.folded
        expect_status 0
        expect_truth q.folded
    fi
done

rm -f p.* jit-*
profile SPROF_OUTPUT="$tmp/p.folded" "$work/jitdump" 600 kill
grep '^truth: ' out >truth
plain "$sprofile" convert p.sprof p.folded
expect_status 0
expect_truth p.folded

rm -f p.* jit-*
plain "$sprofile" record -o p.folded -- "$work/jitdump" 800 fork
expect_status 0
grep '^truth: ' out >truth
expect_truth p.folded

rm -f p.* jit-*
profile "$work/jitdump" 400 late
expect_ok
expect_share 95 ';call_generated;(\[caller guessed];)?first[ ;]' p.folded \
    ';call_generated;'

has node && {
    rm -f jit-*
    cat >lines.js <<'P'
function leaf(n) {
    let s = 0;
    for (let i = 0; i < n; i++)
        s = (s + i * 7) % 1009;
    return s;
}
function middle(n) { let s = 0; for (let i = 0; i < 5; i++) s += leaf(n); return s; }
while (process.cpuUsage().user < 800000) middle(1e5);
P
    profile_kept SPROF_OUTPUT="$tmp/p.folded,$tmp/p.pb.gz" \
        node --perf-prof --interpreted-frames-native-stack lines.js
    expect_status 0
    expect_share 80 ';\(anonymous lines.js:1:1\);middle(;leaf)?[ ;]' p.folded ';middle[ ;]'
    expect_share 95 '^_start;__libc_start_main;' p.folded ';leaf[ ;]'
    plain "$sprofile" report --by line p.pb.gz
    grep -Eq '^ .* (leaf|middle) lines.js:4$' out || fail "no line of leaf: $(cat out)"
}

# Frames without names are reported where they matter.
# - the summary of record has one line on them, and none where all have names; it
#   advises --jit for a runtime that it can ask, unless it was given;
# - info says how node names its own builtins, and with that they have names.
section "no names"

plain "$sprofile" record -o generated.sprof -- "$work/generated_code" 300
expect_status 0
grep -qE '^names [0-9.]+ % of CPU time .* in generated code: sprofile info' err ||
    fail "the summary does not tell of generated code: $(cat err)"
cp "$work/generated_code" node
plain "$sprofile" record -o node.sprof -- ./node 300
expect_status 0
grep -qE '^names .* in generated code: `sprofile record --jit` gets them$' err ||
    fail "the summary does not say how node names its code: $(cat err)"
for told in "-- ./node 300 none --perf-basic-prof" "--jit -- ./node 300" \
    "-- sh -c $work/generated_code\${IFS}1000;./node\${IFS}1"; do
    # shellcheck disable=SC2086
    plain "$sprofile" record -o node.sprof $told
    grep -qE '^names .* in generated code: sprofile info' err ||
        fail "the summary advises what does not help, $told: $(cat err)"
done
plain "$sprofile" record -o known.sprof -- "$work/known_stack.o2" 300
expect_status 0
! grep '^names' err || fail "the summary tells of names where all are there"

plain "$sprofile" info generated.sprof
expect_status 0
grep -qF -- '--no-short-builtin-calls' out || fail "info has no hint for node"

finish
