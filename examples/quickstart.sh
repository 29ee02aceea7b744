#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From a fresh checkout to a first profile: installs what is missing (Debian
# and Ubuntu; elsewhere it prints the list and stops), builds into build/,
# profiles examples/mandelbrot.c and shows its hottest functions.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/packages.sh"

install_missing "${build_packages[@]}"
if ! [ -e "$root/build/CMakeCache.txt" ]; then
    echo "Building into $root/build ..."
    cmake -S "$root" -B "$root/build" -G Ninja -DSPROF_TESTS=OFF >/dev/null
fi
cmake --build "$root/build" --target sprof sprof-report sprofile |
    tail -n 1
cc -O2 -g -pthread -o "$root/build/mandelbrot" \
    "$root/examples/mandelbrot.c" -lm

cd "$root/build"
echo
echo "\$ LD_PRELOAD=./libsprof.so ./mandelbrot"
rm -f mandelbrot.*
LD_PRELOAD=./libsprof.so SPROF_KEEP_SPOOL=1 \
    SPROF_OUTPUT=mandelbrot.pb.gz,mandelbrot.folded ./mandelbrot
spool=$(ls mandelbrot*.sprof)

echo
echo "\$ ./sprofile report -n 8 $spool"
./sprofile report -n 8 "$spool"

cat <<END

In $root/build:
  mandelbrot.pb.gz    the profile; try: go tool pprof -top mandelbrot.pb.gz
  mandelbrot.folded   one line a stack, for flame graph tools
  $spool    the spool, for sprofile report, convert and info

Your own program:  LD_PRELOAD=$root/build/libsprof.so ./app
END
