#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs every measurement in sequence and prints its tables, with the machine
# and the method. Nothing else should run meanwhile. Some 3 hours, or 20 minutes
# with --quick, whose numbers are for trying the scripts only. Usage:
#
#   tests/bench/run.sh [--quick] [--write] [--build DIR] [--against DIR]
#       [--no-install] [--only "NAME..."] [--tree DIR]...
#
# --write renews the sections of docs/measurements/*.md that were measured, and
# names the figures of docs/measurements.md that no longer stand there. --only
# runs those scripts alone. --against has another build, an older one, measured
# beside this one where a script can do so. --tree has a package's unpacked
# sources configured and built, too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${SPROF_BUILD:-$root/build}
quick="" write="" install=yes only="" against=() trees=()

while [ $# -gt 0 ]; do
    case "$1" in
    --quick) quick=yes ;;
    --write) write=yes ;;
    --no-install) install="" ;;
    --tree)
        trees+=(--tree "${2:?"--tree needs a directory"}")
        shift
        ;;
    --only)
        only=${2:?"--only needs names"}
        shift
        ;;
    --build)
        build=${2:?"--build needs a directory"}
        shift
        ;;
    --against)
        against=(--against "${2:?"--against needs a directory"}")
        shift
        ;;
    *)
        echo "usage: run.sh [--quick] [--write] [--build DIR]" \
            "[--against DIR] [--no-install] [--only NAMES]" \
            "[--tree DIR]..." >&2
        exit 2
        ;;
    esac
    shift
done

export PYTHONDONTWRITEBYTECODE=1
[ -z "$install" ] || "$here/install.sh"
if [ ! -e "$build/libsprof.so" ]; then
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DSPROF_TESTS=OFF >/dev/null
    cmake --build "$build" -j "$(nproc)" >/dev/null
fi

parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# measure NAME [ARGUMENT...]: one script; its failure costs its tables only.
# The tables are a part of the page, named $part or else as the script.
failed="" part=""
measure() {
    local name=$1
    shift
    [ -z "$only" ] || [[ " $only " = *" ${part:-$name} "* ]] || return 0
    /usr/bin/python3 "$here/$name.py" --build "$build" \
        --out "$parts/${part:-$name}.md" "$@" || failed="$failed $name"
}

if [ -n "$quick" ]; then
    measure truth --rounds 1 --scale 0.5
    part=default_truth measure truth --triggers auto --cost 1 --peers 0 \
        --rounds 1 --scale 0.5
    measure accuracy --rounds 1 --scale 0.5
    measure calls --rounds 1 --seconds 1 --lengths 10
    part=busy_calls measure calls --rounds 1 --seconds 1 --lengths 10 --busy 4
    measure wall --rounds 1 --seconds 2 --scales 1
    part=busy_wall measure wall --rounds 1 --seconds 2 --scales 1 --busy 2
    measure crowds --threads 16 256 --endings return raw exit_group
    measure blocked --seconds 1
    measure disturb --seconds 6 --rounds 1 --loop-seconds 1
    measure scale --threads 2000 --seconds 2
    measure handler --depths 10,50,200 --seconds 1 --scale 0.6
    measure record --rounds 2
    measure spool_write "${against[@]}" --rounds 1 --seconds 1 --kills 3
    measure labels --rounds 3 --calls 200000
    measure hooks --rounds 3 --calls 20000 --processes 20
    measure forks --rounds 2
    measure children --rounds 1 --counts 400
    measure stacks --rounds 1 --threads 50
    measure roots
    measure startup --runs 50 --seconds 3 --rounds 1 --scale 0.3
    measure exec_cost --rounds 1 --files 4
    measure short --rounds 1
    measure overhead --rounds 1 --scale 0.15 --rates 1000
    part=triggers measure overhead --only-triggers --rounds 1 --cpu-seconds 1
    measure sample_cost "${against[@]}" --rounds 1 --cpu-seconds 0.5 --tables ways
    measure latency --rounds 1 --seconds 1
    measure curves --rounds 1 --seconds 0.5 --minutes 0.2
    measure switches --rounds 1
    measure names --count 200 --rounds 1
    measure written --seconds 1 --rounds 1
    measure watched --rounds 1 --cpu-seconds 1
    measure merged --rounds 1 --calls 3000
    measure python_cost --rounds 1 --scale 0.2
    measure large --samples 200000 --rounds 1
    measure stress --minutes 1
else
    measure truth
    part=default_truth measure truth --triggers auto --cost 1 --peers 0
    measure accuracy
    measure calls
    part=busy_calls measure calls --busy 4
    measure wall
    part=busy_wall measure wall --busy 2
    measure crowds
    measure blocked --seconds 1
    measure disturb --seconds 60 --loop-seconds 3
    measure scale --seconds 4
    measure handler "${against[@]}"
    measure record
    measure spool_write "${against[@]}"
    measure labels
    measure hooks
    measure forks
    measure children
    measure stacks
    measure roots
    measure startup
    measure exec_cost --rounds 10
    measure short "${trees[@]}"
    measure overhead --triggers timer,ask
    part=triggers measure overhead --only-triggers "${against[@]}"
    measure sample_cost "${against[@]}"
    measure latency
    measure curves
    measure switches
    measure names --full "${against[@]}"
    measure written
    measure watched
    measure merged
    measure python_cost
    measure large
    measure stress
fi

# method NAME: the opening comment of a script is its method.
method() {
    /usr/bin/python3 - "$here/$1.py" <<'END'
import ast
import sys
print(ast.get_docstring(ast.parse(open(sys.argv[1]).read())))
END
}

# heading NAME: the section's.
heading() {
    local title=${1^}
    echo "## ${title//_/ }"
}

# section NAME: what was measured, with its method.
section() {
    local of=${1#busy_}
    printf '%s\n\n' "$(heading "$1")"
    case "$1" in
    machine) ;;
    triggers) echo 'The method is at the end of that of "Overhead".' ;;
    default_truth) echo 'The method is that of "Truth", with the default settings.' ;;
    busy_*) echo "The method is that of \"${of^}\", beside processes that compute." ;;
    *) method "$1" ;;
    esac
    [ "$1" = machine ] || printf '\nMeasured on %s.\n\n' "$(date -I)"
    cat "$parts/$1.md"
}

# put NAME: its section takes the place of the one that its page has, or comes
# last. Its page is the one that has the section, or names it in its command.
put() {
    local page
    page=$(grep -lE -e "^$(heading "$1")\$" -e "--only \"([a-z_]+ )*$1( [a-z_]+)*\"" \
        "$root"/docs/measurements/*.md) ||
        { echo "bench: no page of docs/measurements names $1" >&2 && return 1; }
    section "$1" >"$parts/section"
    awk -v heading="$(heading "$1")" -v section="$parts/section" '
        function put(    line) {
            while ((getline line <section) > 0)
                print line
            is_put = is_old = 1
        }
        $0 == heading { put(); next }
        /^## / && is_old { is_old = 0; print "" }
        !is_old
        END { if (!is_put) { print ""; put() } }' "$page" >"$parts/page"
    cp "$parts/page" "$page"
}

# pictures: those of the curves that were measured now.
pictures() {
    [ -e "$parts/curves.md" ] || return 0
    /usr/bin/python3 "$here/plots.py" ||
        echo "bench: no pictures without matplotlib" >&2
}

if [ -n "$write" ]; then
    pictures
    [ -n "$only" ] || /usr/bin/python3 "$here/bench.py" machine >"$parts/machine.md"
    for path in "$parts"/*.md; do
        name=${path##*/}
        [ ! -e "$path" ] || put "${name%.md}" || failed="$failed ${name%.md}"
    done
    echo "bench: wrote docs/measurements" >&2
    "$root/tests/lint/check_docs.sh" >&2 || true
else
    /usr/bin/python3 "$here/bench.py" machine
fi
if [ -n "$failed" ]; then
    echo "bench: no result from:$failed" >&2
    exit 1
fi
