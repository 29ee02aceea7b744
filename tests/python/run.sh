#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs that know their Python stacks (cases.py), profiled at 1,000 and at
# 10,000 points a second, on each interpreter that is found.
#
#   tests/python/run.sh [--full] [CASE...]
#
# TEST_PYTHONS lists interpreters; without it, python3.9 to python3.14 and
# python3 in PATH. Without --full a few cases of a second each; with it all of
# them, with more than 10,000 samples of the first ones, and the packages that
# some need are fetched by pip. SEED and TRUTH_SECONDS change the calls and the
# length.
#
# Ends with 0, 1 (a case failed, or less than 99.9 % of its samples are equal to
# the truth) or 77 (nothing could be run).
set -u
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
export PYTHONWARNINGS=ignore
here=$(cd "$(dirname "$0")" && pwd)
build=${SPROF_BUILD:-$(cd "$here/../.." && pwd)/build}
for variable in $(compgen -e SPROF_); do unset "$variable"; done
kept=$build/python
quick='plain threads deep tasks forked freed'
all="$quick crowd waves traced observed profiled monitored alarmed collected
    by_fork by_forkserver by_spawn interpreters children greens arrays cython"
# What may differ: a switch of C stacks is not followed everywhere.
soft=' greens '

full=
if [ "${1:-}" = --full ]; then
    full=1
    shift
fi
[ -e "$build/libsprof.so" ] || {
    echo "skipped: $build/libsprof.so is not built"
    exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 left_out=0

# version_of PYTHON: "3.N" of a CPython from 3.9 on, else nothing.
version_of() {
    "$1" -c 'import sys
if sys.implementation.name == "cpython" and sys.version_info >= (3, 9):
    print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# find_pythons: their commands, each real file once.
find_pythons() {
    local one path
    for one in ${TEST_PYTHONS:-python3.9 python3.10 python3.11 python3.12 \
        python3.13 python3.14 python3}; do
        path=$(command -v "$one") && [ -n "$(version_of "$path")" ] || {
            echo "$one: not found" >&2
            continue
        }
        echo "$(readlink -f "$path") $path"
    done | awk '!seen[$1]++ { print $2 }'
}

# fetch PYTHON VERSION DIRECTORY: the packages that cases need.
fetch() {
    [ -n "$full" ] && [ ! -e "$3" ] || return 0
    mkdir -p "$3"
    python3 -m pip install -q --root-user-action ignore --python-version "$2" \
        --only-binary=:all: --target "$3" greenlet numpy cython setuptools \
        >"$3.log" 2>&1 || echo "$2: no packages, see $3.log"
    (cd "$3" && cp "$here/called.pyx" . &&
        PYTHONPATH=$3 "$1" -c 'import setuptools, sys
from Cython.Build import Cythonize
Cythonize.main(["-i", "called.pyx"])') >>"$3.log" 2>&1 ||
        echo "$2: called.pyx is not compiled, see $3.log"
}

# run_case PYTHON VERSION CASE RATE
run_case() {
    local status=0 seconds=1 least=99.9 samples=300
    local directory=$tmp/run settings=() tree=$kept/tree
    rm -rf "$directory"
    mkdir "$directory"
    [ -z "$full" ] || seconds=3
    case $full$3 in
    1plain | 1threads) seconds=$((4 == ${#4} ? 14 : 4)) samples=10000 ;;
    esac
    [ "$3" != deep ] || settings=(SPROF_MAX_DEPTH=8192)
    # A callback of ctypes is the main interpreter's.
    [ "$3" != interpreters ] || tree=$kept/plain
    [[ $soft != *" $3 "* ]] || least=0
    timeout -k 5 120 env PYTHONPATH="$tree:$kept/site-$2" \
        TRUTH_NATIVE="$kept/native.so" LD_PRELOAD="$build/libsprof.so" \
        SPROF_OUTPUT="$directory/%e.%p.pb.gz" SPROF_FREQUENCY="$4" \
        SPROF_COST=off SPROF_ONLY='python*' "${settings[@]}" \
        "$1" "$here/cases.py" "$3" "${TRUTH_SECONDS:-$seconds}" \
        >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    if grep -q '^skipped:' "$tmp/out"; then
        echo "$2 $3: $(cat "$tmp/out")"
        left_out=$((left_out + 1))
        return
    fi
    if [ "$status" -eq 0 ] && grep -qx ok "$tmp/out" && [ ! -s "$tmp/err" ] &&
        "$1" "$here/check.py" --least "$least" \
            --samples "${TRUTH_SAMPLES:-$samples}" \
            "$tree" "$directory"/*.pb.gz >"$tmp/said" 2>&1; then
        passed=$((passed + 1))
        echo "$2 $3 at $4 Hz: $(cat "$tmp/said")"
    else
        failed=$((failed + 1))
        echo "FAIL: $2 $3 at $4 Hz: status $status"
        head -n 3 "$tmp/err" | sed 's/^/    err: /'
        cat "$tmp/said"
    fi
    rm -f "$tmp/said"
}

mkdir -p "$kept/tree" "$kept/plain"
"${CC:-cc}" -O2 -g -shared -fPIC -o "$kept/native.so" "$here/native.c" &&
    python3 "$here/grow.py" "${SEED:-1}" 150 "$kept/tree" &&
    python3 "$here/grow.py" "${SEED:-1}" 150 "$kept/plain" enter || exit 1
[ $# -gt 0 ] || { [ -n "$full" ] && set -- $all || set -- $quick; }
for python in $(find_pythons); do
    version=$(version_of "$python")
    env PYTHONPATH="$kept/tree:$here" TRUTH_NATIVE="$kept/native.so" \
        "$python" "$here/check.py" --self "$kept/tree" || exit 1
    fetch "$python" "$version" "$kept/site-$version"
    for name in "$@"; do
        for rate in 1000 10000; do
            run_case "$python" "$version" "$name" "$rate"
        done
    done
done
echo "$passed passed, $failed failed, $left_out skipped"
[ $((passed + failed)) -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
