#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: who has nothing but a release of Debian gets a profile by
# the commands of README.md.
# - the Debian package of the build installs and profiles, in a root of the release
#   that it was built on;
# - examples/quickstart.sh installs, builds and profiles;
# - tests/run.sh --quick passes: lints, units and ten scenarios;
# - plain cmake builds without a warning, by the release's gcc, clang, and each
#   gcc from 12 on that no earlier release had;
# - without what may be left out it builds, and what is left out says so.
#
#   tests/roots/run.sh [RELEASE...]   (default: bookworm trixie sid)
#
# It needs root, debootstrap and a mirror, and runs with --full. The roots are
# made in SPROF_ROOTS, by default below the build, and deleted afterwards. In a
# root ccache repeats what a compiler said, so an object is compiled once for
# each compiler.
set -uo pipefail
source=${SPROF_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${SPROF_BUILD:-$source/build}
place=${SPROF_ROOTS:-$build/tests/roots}
failures=0
roots=0

skip() {
    echo "skipped: $*"
    exit 77
}
[ -n "${SPROF_TEST_FULL:-}" ] || skip "--full runs this"
[ "$(id -u)" -eq 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
mkdir -p "$place/cache"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
    grep '/debian/\?$' | head -n 1)
mirror=${mirror:-http://deb.debian.org/debian}
proxies=()
for name in http_proxy https_proxy; do
    [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
done
# The roots may be made inside the source.
left_out=()
inner=$(realpath -m --relative-to="$source" "$place")
[[ $inner == ../* || $inner == . ]] || left_out=(--exclude="./$inner")

# inside COMMAND...: in the root, with /proc, terminals and shared memory of its
# own; what it starts ends with it.
inside() {
    timeout 3000 unshare --mount --pid --fork --kill-child \
        --mount-proc="$root/proc" sh -c 'ln -sf pts/ptmx "$0/dev/ptmx" &&
            mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts" &&
            mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"' \
        "$root" /usr/bin/env -i \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${proxies[@]}" \
        CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" CCACHE_NOHASHDIR=1 \
        CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache \
        bash -c "cd /root/sprof && $*" </dev/null >"$root/log" 2>&1
}

# What compilers warn of: "file.c:12:3: warning: ..." or "cc1: warning: ...".
warnings='^[^ ]*:[0-9]+:.*warning:|^cc1.*warning:'

# check WHAT COMMAND: it succeeds, and the compiler warns of nothing.
check() {
    if inside "$2" && ! grep -Eq "$warnings" "$root/log"; then
        echo "ok $release: $1"
    else
        echo "FAIL $release: $1"
        grep -E "$warnings|rror" "$root/log" | head -n 5
        grep -E 'Failed|\*\*\*' "$root/log"
        tail -n 5 "$root/log"
        failures=1
    fi
}

make_root() {
    rm -rf "$root"
    debootstrap --variant=minbase --cache-dir="$place/cache" "$release" \
        "$root" "$mirror" >"$place/$release.log" 2>&1 || return 1
    # A mirror that was copied some time ago is as good.
    echo 'Acquire::Check-Valid-Until "false";' \
        >"$root/etc/apt/apt.conf.d/90copied"
    echo "deb $mirror $release main" >"$root/etc/apt/sources.list"
    cp /etc/resolv.conf "$root/etc"
    mkdir "$root/root/sprof"
    tar -C "$source" --exclude=./build --exclude='./build-*' \
        "${left_out[@]}" -c . |
        tar -C "$root/root/sprof" -x
}

# The package of the build, before the root has anything that it may lack.
try_package() {
    [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" = "$release" ] ||
        return
    sed "s|^set(CPACK_PACKAGE_DIRECTORY .*|set(CPACK_PACKAGE_DIRECTORY \"$root/root/package\")|" \
        "$build/CPackConfig.cmake" >"$root/root/CPackConfig.cmake"
    cpack -G DEB --config "$root/root/CPackConfig.cmake" >"$root/log" 2>&1 ||
        cat "$root/log"
    check "the Debian package" 'set -e; apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends /root/package/*.deb &&
        dpkg --verify libsprof && cd /root &&
        sprofile record -o p.sprof -- perl -e "1 while (times)[0] < 1" &&
        sprofile report p.sprof | grep -q "^samples  *[1-9]" &&
        for command in "push --otlp http://127.0.0.1:1" "top 1" serve; do
            ! timeout 2 sprofile $command 2>&1 | grep "this build has no" || exit 1
        done && apt-get purge -y -qq libsprof &&
            [ -z "$(find /usr -name "*sprof*")" ]'
}

# find_compilers: the release's own, and those that no earlier release had, as
# packages.
declare -A tried
find_compilers() {
    local name
    compilers=(gcc)
    tried[gcc-$(chroot "$root" gcc -dumpversion)]=yes
    for name in clang gcc-12 gcc-13 gcc-14 gcc-15; do
        [ -z "${tried[$name]:-}" ] && inside "apt-cache show $name" || continue
        compilers+=("$name")
        [ "$name" = clang ] || tried[$name]=yes
    done
}

try_release() {
    inside "apt-get update -qq && apt-get install -y -qq \
        --no-install-recommends ccache" || cat "$root/log"
    check "the two commands of README.md" 'examples/quickstart.sh &&
        cmake --install build && test -s build/mandelbrot.pb.gz &&
        sprofile report build/mandelbrot.sprof | grep escape_count'
    check "tests/run.sh --quick" 'tests/run.sh --quick'
    find_compilers
    for compiler in "${compilers[@]}"; do
        check "plain cmake, $compiler" "apt-get install -y -qq \
            --no-install-recommends $compiler && rm -rf build-plain &&
            CC=$compiler cmake -S . -B build-plain &&
            cmake --build build-plain"
    done
    check "without what may be left out" 'apt-get remove -y -qq \
        libcurl4-openssl-dev libmicrohttpd-dev libncurses-dev libunwind-dev \
        libdeflate-dev && rm -rf build-plain build-bare && cmake -S . -B build-bare &&
        cmake --build build-bare && cd build-bare &&
        for command in "push --otlp http://127.0.0.1:1" serve "top 1"; do
            ! ./sprofile $command 2>said &&
                grep "this build has no .*was not found" said || exit 1
        done
        ./sprofile record -o p.folded -- ../build/mandelbrot &&
            grep -q escape_count p.folded'
}

[ $# -gt 0 ] || set -- bookworm trixie sid
for release; do
    root=$place/$release
    if make_root; then
        roots=$((roots + 1))
        try_package
        try_release
    else
        echo "skipped $release: $(tail -n 1 "$place/$release.log")"
    fi
    rm -rf --one-file-system "$root"
done
[ "$roots" -gt 0 ] || skip "no root could be made"
exit $failures
