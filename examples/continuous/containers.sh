#!/bin/bash
# SPDX-License-Identifier: MIT
#
# containers.sh -- profile a program in a container without another image: the
# library and the spools come from the host, and `sprofile serve` runs on the
# host. No Dockerfile changes.
#
#   examples/continuous/containers.sh IMAGE COMMAND...
#
# The names of spools have %h (the container) and %p in them: pids are not
# unique where containers share a directory. The library needs glibc in the
# image, not older than that of the host on which it was built.
set -eu
[ $# -ge 2 ] || {
    echo "usage: $0 IMAGE COMMAND..." >&2
    exit 2
}
library=${SPROF_LIBRARY:-/usr/lib/libsprof.so}
spools=${SPROF_SPOOLS:-/var/lib/sprofile}
image=$1
shift

engine=$(command -v podman || command -v docker) || {
    echo "expected podman or docker" >&2
    exit 1
}
mkdir -p "$spools"
exec "$engine" run --rm \
    --volume "$library:/usr/lib/libsprof.so:ro" \
    --volume "$(dirname "$library")/libsprof-report.so:/usr/lib/libsprof-report.so:ro" \
    --volume "$spools:/spools" \
    --env LD_PRELOAD=/usr/lib/libsprof.so \
    --env SPROF_KEEP=300s \
    --env SPROF_OUTPUT='/spools/%e.%h.%p.pb.gz' \
    "$image" "$@"
