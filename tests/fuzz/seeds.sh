#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes the inputs of corpus/ that were written by hand: run once, from this
# folder, and again when a fuzzer's input changes its form. What fuzzing has
# found since lies beside them.
set -eu
cd "$(dirname "$0")/corpus"
mkdir -p spool report stacks elf package module unwind proc options jitdump perf_map pprof
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The number $1 as SIZE little-endian bytes.
number() {
    local i
    for ((i = 0; i < $2; i++)); do
        printf "\\x$(printf %02x $(($1 >> 8 * i & 255)))"
    done
}

address_of() {
    nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'
}

# A library of two functions, one of them inlined: small, with all sections.
cat >"$tmp/two.c" <<'END'
extern int outside(int);
static int twice(int x) { return 2 * x + outside(x); }
int one(int x) { return twice(x) + twice(x + 1); }
int two(int *x) { volatile int a[30]; a[*x] = one(*x); return a[3]; }
END
flags="-shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,--build-id"
gcc -g -O2 -fplt $flags -o "$tmp/two.so" "$tmp/two.c"
gcc -g -O2 -gz $flags -o "$tmp/zdebug.so" "$tmp/two.c"
gcc -O0 -fno-omit-frame-pointer $flags -o "$tmp/o0.so" "$tmp/two.c"
# Read for their debug information alone.
gcc -gdwarf-4 -fdebug-types-section -O2 $flags -o "$tmp/types.so" "$tmp/two.c"
gcc -gdwarf64 -O2 $flags -o "$tmp/dwarf64.so" "$tmp/two.c"
for name in types dwarf64; do
    { number "$(address_of "$tmp/$name.so" one)" 8; cat "$tmp/$name.so"; } \
        >elf/$name
done

# After skeletons, in a package: GNU's tool makes those of DWARF 4, LLVM's all.
cp "$tmp/two.c" "$tmp/split.c"
for version in 4 5; do
    pack=dwp
    [ $version = 4 ] || pack=$(ls /usr/bin/llvm-dwp* | head -n 1)
    library=$tmp/split$version.so
    (cd "$tmp" && gcc -gdwarf-$version -gsplit-dwarf -O2 -fPIC -c split.c &&
        gcc $flags -o "$library" split.o && "$pack" -e "$library" -o split.dwp)
    { number "$(address_of "$library" one)" 8
      number "$(stat -c %s "$library")" 4
      cat "$library" "$tmp/split.dwp"; } >package/dwarf$version
done

for name in two zdebug o0; do
    library=$tmp/$name.so
    { number "$(address_of "$library" one)" 8; cat "$library"; } >elf/$name
    head -c 4096 "$library" >module/$name
    # Offsets in the file are addresses: everything read-only comes first.
    table=$(readelf -lW "$library" |
        awk '$1 == "GNU_EH_FRAME" { print $3, $6 }')
    for function in one two; do
        { number $(($(address_of "$library" $function) + 8)) 4
          number "${table% *}" 4
          number "${table#* }" 4
          head -c 4096 "$library"; } >unwind/$name.$function
    done
done

# The spool of these two is made by the build (fuzz_seed.c).
: >spool/empty
: >stacks/empty
: >report/empty

cat /proc/self/maps | head -c 3000 >proc/maps
printf '7f00-7f10 r-xp 00000000 fd:01 17 /a b (deleted)\n' >proc/deleted
printf '202 0x7f0000000010 0x80 0x2 0x0 0x0 0xffffffff 0x7ffd0 0x7f8\n' \
    >proc/futex
printf '7 0x7f0000000000 0x1 0xffffffff 0x0 0x0 0x0 0x7ffd0 0x7f8\n' >proc/poll
printf '%s\n' '-1 0x7ffd0 0x7f8' >proc/no_call
printf 'running\n' >proc/running
printf '4711 (a) b ) S 1 4711 4711 0 -1 4194304\n' >proc/stat
printf '123456 789 12\n' >proc/schedstat

printf 'SPROF_OUTPUT=/tmp/%%e.%%p.%%t.%%h.%%%%.pb.gz,/tmp/x.txt\n' >options/names
printf '0=/tmp/a.folded\n1=20000\n2=perf\n3=cpu\n4=all\n5=16\n' >options/rows
printf 'SPROF_DELAY=0.5s\nSPROF_MAX_SIZE=12M\nSPROF_SIGNAL=SIGURG\n' \
    >options/units
printf 'SPROF_ONLY=[a-z]*\nSPROF_OUTPUT=%%n%%s%%\n' >options/odd

# jitdump_head KIND SIZE TIME; load ADDRESS SIZE TIME NAME; move FROM TO TIME;
# lines ADDRESS SHIFT.
jitdump_begin() {
    number $((0x4a695444)) 4; number 1 4; number 40 4; number 62 4; number 0 4
    number "$1" 4; number 1000 8; number "$2" 8
}
jitdump_head() { number "$1" 4; number $(($2 + 16)) 4; number "$3" 8; }
jitdump_load() {
    jitdump_head 0 $((40 + ${#4} + 1 + 4)) "$3"
    number 4711 4; number 4711 4
    number "$1" 8; number "$1" 8; number "$2" 8; number 0 8
    printf '%s\0\x90\x90\x90\xc3' "$4"
}
jitdump_move() {
    jitdump_head 1 48 "$3"
    number 4711 4; number 4711 4
    number "$2" 8; number "$1" 8; number "$2" 8; number 16 8; number 0 8
}
jitdump_lines() {
    jitdump_head 2 $((16 + 16 + 6 + 16 + 2)) 2000
    number "$1" 8; number 2 8
    number $(($1 + $2)) 8; number 10 4; number 0 4; printf '/a.js\0'
    number $(($1 + $2 + 8)) 8; number 20 4; number 0 4; printf '\xff\0'
}
{ jitdump_begin 4711 0
  jitdump_lines 20480 64
  jitdump_load 20480 256 2000 'JS:*leaf /tmp/t.js:1:14'
  jitdump_load 20608 256 3000 'py::Outer.leaf:/tmp/t.py'
  jitdump_lines 28672 0
  jitdump_load 28672 16 4000 made
  jitdump_move 28672 20480 5000
  jitdump_move 20480 24576 6000
  jitdump_head 4 24 7000; number 1 8; number 1 8; number 8 8
  jitdump_head 3 0 8000; } >jitdump/all
{ jitdump_begin 4710 0
  jitdump_load 20480 256 2000 before
  jitdump_load 20480 256 1048576 after; } >jitdump/inherited
{ jitdump_begin 4711 1
  jitdump_load 20480 256 2000 one
  jitdump_load 20480 256 1000 two; } >jitdump/other_clock

# Overlaps, and what each runtime writes.
printf '%s\n' '7f00 128 JS:^leaf /tmp/t.js:1:14' '7f80 1e0 JS:*leaf node:fs:1:4' \
    '7e00 10 JS:~ /tmp/t.js:7:9' '18c4000 300 Builtin:RecordWrite' >perf_map/v8
printf '%s\n' '0x00007f86ecec7620 0x0000000000000378 long T.work(long)' \
    '0x00007f86ecec7600 0x0000000000000400 Interpreter' \
    '7f10 20 Lcom/foo/Bar;::baz' >perf_map/java
printf '%s\n' '1000 10 py::Outer.leaf:/tmp/t.py' '1008 10 TRACE_7::t.lua:12' \
    'fffffffffffffff0 20 beyond' '1 0 empty' '0 ffffffffffffffff all' \
    >perf_map/others
