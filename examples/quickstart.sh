#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From a fresh checkout to a first profile: installs what is missing (Debian
# and Ubuntu; elsewhere it prints the list), builds into build/, profiles
# examples/mandelbrot.c and shows its hottest functions.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/packages.sh"

install_missing "${build_packages[@]}"
if ! [ -e "$root/build/CMakeCache.txt" ]; then
    echo "Building into $root/build ..."
    generator=()
    ! command -v ninja >/dev/null || generator=(-G Ninja)
    cmake -S "$root" -B "$root/build" "${generator[@]}" |
        sed -n '/^-- What this build has/,/^-- Conf/{//!p}'
fi
cmake --build "$root/build" --target installed | tail -n 1
cc -O2 -g -pthread -o "$root/build/mandelbrot" \
    "$root/examples/mandelbrot.c" -lm

cd "$root/build"
rm -f mandelbrot.*
# run COMMAND...: shown, then done.
run() {
    echo
    echo "\$ $*"
    "$@"
}
run ./sprofile record -o mandelbrot.sprof,mandelbrot.json -- ./mandelbrot
run ./sprofile report -n 8 mandelbrot.sprof
run ./sprofile convert mandelbrot.sprof mandelbrot.pb.gz
run ./sprofile convert mandelbrot.sprof mandelbrot.html

cat <<END

In $root/build:
  mandelbrot.sprof    the profile, with all that is known
  mandelbrot.html     flame graph, table, tree and time line, for any browser
  mandelbrot.pb.gz    try: go tool pprof -top mandelbrot.pb.gz
  mandelbrot.json     with a time axis, for profiler.firefox.com

Your own program:  $root/build/sprofile record ./app
END
