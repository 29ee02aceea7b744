#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs what the measurements need and is missing: the five programs that
# are profiled, the debug files that name their functions, and the peers.
# Needs apt (Debian, Ubuntu) and root or sudo; elsewhere it prints the list of
# packages and fails. async-profiler comes from Maven Central. A peer that cannot be had (linux-perf is linux-tools-* on
# Ubuntu) costs its columns only.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../packages.sh"

programs=(python3 nodejs xz-utils sqlite3 redis-server redis-tools gcc libc6-dev
    binutils)
peers=(python3-dbg libc6-dbg libgoogle-perftools-dev google-perftools
    linux-perf golang-go valgrind elfutils llvm rustc g++ python3-matplotlib)

# A service that a package starts would compete with the measurements. This
# file, where the system has none yet, keeps services from starting.
policy=/usr/sbin/policy-rc.d
if [ "$(id -u)" = 0 ] && [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi

(install_missing "${build_packages[@]}" "${programs[@]}") || exit 1
for peer in "${peers[@]}"; do
    (install_missing "$peer") || echo "bench: going on without $peer" >&2
done

version=4.6
/usr/bin/python3 - "$here" "$version" <<'END' || echo "bench: going on without async-profiler" >&2
import io, platform, sys, urllib.request, zipfile
sys.path.insert(0, sys.argv[1])
import bench
if not bench.async_profiler():
    url = ("https://repo1.maven.org/maven2/tools/profiler/async-profiler/"
           f"{sys.argv[2]}/async-profiler-{sys.argv[2]}.jar")
    jar = zipfile.ZipFile(io.BytesIO(urllib.request.urlopen(url).read()))
    folder = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
    bench.CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    (bench.CACHE / "libasyncProfiler.so").write_bytes(
        jar.read(f"{folder[platform.machine()]}/libasyncProfiler.so"))
END
