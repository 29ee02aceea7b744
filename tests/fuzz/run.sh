#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Fuzzes everything that reads foreign bytes: clang's libFuzzer with ASan and
# UBSan, each fuzzer from its corpus, two at a time.
#
#   tests/fuzz/run.sh [--if-full] [SECONDS [NOUN...]]
#
# --if-full: only where SPROF_TEST_FULL is set, as ctest calls it. SECONDS (60) is the time of all fuzzers together, NOUN one of them (all).
# Ends with 1 if something was found; it then lies in build-fuzz/found/NOUN-*,
# belongs into corpus/NOUN/ once the fault is mended, and is tried alone by
# build-fuzz/tests/fuzz/fuzz_NOUN FILE. 77: no clang has libFuzzer here.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ "${1:-}" = --if-full ]; then
    [ -n "${SPROF_TEST_FULL:-}" ] || exit 77
    shift
fi
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=$root/build-fuzz
jobs=2

cd "$root" || exit 1
printf '#include <stddef.h>
int LLVMFuzzerTestOneInput(const char *d, size_t n);
int LLVMFuzzerTestOneInput(const char *d, size_t n) { return !d && !n; }' |
    clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null || {
    echo "skipped: clang with libFuzzer is not installed"
    exit 77
}
CC=clang CXX=clang++ cmake -S . -B "$build" -DSPROF_FUZZ=ON >/dev/null &&
    nice -n 10 cmake --build "$build" --parallel "$jobs" --target fuzzers \
        >/dev/null || exit 1

nouns=("$@")
if [ "${#nouns[@]}" -eq 0 ]; then
    for path in tests/fuzz/corpus/*/; do
        nouns+=("$(basename "$path")")
    done
fi
each=$((seconds * jobs / ${#nouns[@]}))
[ "$each" -gt 0 ] || each=1

# fuzz NOUN: what is new to the corpus stays in the build tree.
fuzz() {
    local noun=$1 new=$build/corpus/$1 seeds=$build/tests/fuzz/seeds/$1
    mkdir -p "$new" "$build/found"
    [ -d "$seeds" ] || seeds=
    if nice -n 10 timeout -k 10 $((each + 120)) \
        "$build/tests/fuzz/fuzz_$noun" -max_total_time="$each" -timeout=20 \
        -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$build/found/$noun-" \
        "$new" "tests/fuzz/corpus/$noun" $seeds >"$build/$noun.log" 2>&1
    then
        echo "$noun: $(sed -n 's/^stat::number_of_executed_units: *//p' \
            "$build/$noun.log") inputs, nothing found"
    else
        echo "$noun: found something; see build-fuzz/$noun.log"
        grep -E 'ERROR|runtime error|SUMMARY|Test unit' "$build/$noun.log" |
            sed 's/^/    /'
        return 1
    fi
}

status=0
for ((i = 0; i < ${#nouns[@]}; i += jobs)); do
    running=()
    for noun in "${nouns[@]:i:jobs}"; do
        fuzz "$noun" &
        running+=($!)
    done
    for job in "${running[@]}"; do
        wait "$job" || status=1
    done
done
exit $status
