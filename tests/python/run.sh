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
# TRUTH_RATES, TRUTH_SAMPLES: other ones than 1,000 and 10,000, and than there
# must be at least.
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
quick='waits named marked brief perf plain threads deep tasks forked freed raised'
all="$quick crowd waves traced observed profiled monitored alarmed collected
    by_fork by_forkserver by_spawn interpreters children greens arrays cython
    embedded"
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
: >"$tmp/said"

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

# embedded PYTHON VERSION: makes the program that has that interpreter in it.
embedded() {
    local flags
    flags=$("$1" -c 'import sysconfig
config = sysconfig.get_config_vars()
print("-I" + sysconfig.get_path("include"), "-L" + config["LIBDIR"],
      "-Wl,-rpath," + config["LIBDIR"], "-lpython" + config["LDVERSION"])')
    # shellcheck disable=SC2086
    "${CC:-cc}" -O2 -g -pthread -o "$kept/embed-$2" "$here/embed.c" $flags \
        2>"$tmp/compiled"
}

# judge NAME STATUS COMMAND...: whether a program that ended with STATUS said
# "ok" and nothing else, and COMMAND finds its profile equal to the truth.
judge() {
    local name=$1 ended=$2
    shift 2
    if grep -q '^skipped:' "$tmp/out"; then
        echo "$name: $(cat "$tmp/out")"
        left_out=$((left_out + 1))
    elif [ "$ended" -eq 0 ] && grep -qx ok "$tmp/out" && [ ! -s "$tmp/err" ] &&
        "$@" >"$tmp/said" 2>&1; then
        passed=$((passed + 1))
        echo "$name: $(cat "$tmp/said")"
    else
        failed=$((failed + 1))
        echo "FAIL: $name: status $ended"
        head -n 3 "$tmp/err" | sed 's/^/    err: /'
        cat "$tmp/said"
    fi
    : >"$tmp/said"
}

# under COMMAND...: with a deadline; its status in $status.
under() {
    status=0
    timeout -k 5 120 env LD_PRELOAD="$build/libsprof.so" SPROF_COST=off \
        SPROF_EXIT_MS=120000 \
        PYTHONPATH="$tree:$kept/site-$version" TRUTH_NATIVE="$kept/native.so" \
        "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# run_waits RATE
run_waits() {
    local tree=$kept/tree settled
    rm -f "$tmp"/waits*
    under SPROF_OUTPUT="$tmp/waits.sprof" SPROF_ONLY='python*' \
        SPROF_FREQUENCY="$1" "$python" "$here/waits.py" "$tmp/waits.json" 1
    settled=$(sed -n 's/^settled //p' "$tmp/out")
    "$build/sprofile" convert --time "$settled-$(awk -v from="$settled" \
        'BEGIN { print from + 0.8 }')" "$tmp/waits.sprof" \
        "$tmp/waits.pb.gz" >>"$tmp/err" 2>&1
    judge "$version waits at $1 Hz" "$status" "$python" \
        "$here/check_waits.py" "$tmp/waits.json" "$tmp/waits.pb.gz"
}

# run_told NAME RATE [OPTION...]: NAME.py writes the truth, and check_NAME.py
# reads it. The interpreter gets the OPTIONs.
run_told() {
    local tree=$kept/tree
    rm -f "$tmp/$1".*
    under SPROF_OUTPUT="$tmp/$1.pb.gz" SPROF_ONLY='python*' \
        SPROF_FREQUENCY="$2" "$python" "${@:3}" "$here/$1.py" "$tmp/$1.json" 1.5
    judge "$version ${*:3} $1 at $2 Hz" "$status" "$python" \
        "$here/check_$1.py" "$tmp/$1.json" "$tmp/$1.pb.gz"
}

# run_perf RATE: code of CPython's own for each function, which enters the loop.
run_perf() {
    case $version in
    3.9 | 3.10 | 3.11)
        echo "$version perf: skipped: no -X perf"
        left_out=$((left_out + 1))
        ;;
    *) run_told brief "$1" -X perf ;;
    esac
}

# run_case CASE RATE
run_case() {
    local seconds=1 least=99.9 samples=300 tree=$kept/tree
    local directory=$tmp/run settings=() program
    rm -rf "$directory"
    mkdir "$directory"
    [ -z "$full" ] || seconds=3
    case $full$1 in
    1plain | 1threads) seconds=$((4 == ${#2} ? 14 : 4)) samples=10000 ;;
    esac
    [ "$1" != deep ] || settings=(SPROF_MAX_DEPTH=8192)
    [[ $soft != *" $1 "* ]] || least=0
    # A callback of ctypes is the main interpreter's.
    case $1 in interpreters | embedded) tree=$kept/plain ;; esac
    seconds=${TRUTH_SECONDS:-$seconds}
    program=("$python" "$here/cases.py" "$1" "$seconds")
    if [ "$1" = embedded ]; then
        embedded "$python" "$version" || {
            echo "$version embedded: skipped: $(head -n 1 "$tmp/compiled")"
            left_out=$((left_out + 1))
            return
        }
        program=("$kept/embed-$version" "$tree:$here" "$seconds")
    fi
    under SPROF_OUTPUT="$directory/%e.%p.pb.gz" SPROF_FREQUENCY="$2" \
        SPROF_ONLY="$(basename "$(readlink -f "${program[0]}")")" \
        "${settings[@]}" "${program[@]}"
    judge "$version $1 at $2 Hz" "$status" "$python" "$here/check.py" \
        --least "$least" --samples "${TRUTH_SAMPLES:-$samples}" "$tree" \
        "$directory"/*.pb.gz
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
        for rate in ${TRUTH_RATES:-1000 10000}; do
            case $name in
            waits) run_waits "$rate" ;;
            named | marked | brief) run_told "$name" "$rate" ;;
            perf) run_perf "$rate" ;;
            *) run_case "$name" "$rate" ;;
            esac
        done
    done
done
echo "$passed passed, $failed failed, $left_out skipped"
[ $((passed + failed)) -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
