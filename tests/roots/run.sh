#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: who has nothing but a release of Debian gets a profile by
# the commands of README.md.
# - the Debian package of the build installs and profiles, in a root of the release
#   that it was built on;
# - examples/quickstart.sh installs, builds and profiles;
# - plain cmake builds without a warning, by each compiler that the release has;
# - without what may be left out it builds, and what is left out says so;
# - with the tests, the units and lints pass.
#
#   tests/roots/run.sh [RELEASE...]   (default: bookworm trixie sid)
#
# It needs root, debootstrap and a mirror, and runs with --full. The roots are
# made in SPROF_ROOTS, by default below the build, and deleted afterwards.
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

# inside COMMAND...: in the root, with a /proc of its own; what it starts ends
# with it.
inside() {
    timeout 3000 unshare --mount --pid --fork --kill-child \
        --mount-proc="$root/proc" chroot "$root" /usr/bin/env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${proxies[@]}" \
        CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" \
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
    check "the Debian package" 'apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends /root/package/*.deb &&
        dpkg --verify libsprof && cd /root &&
        sprofile record -o p.sprof -- perl -e "1 while (times)[0] < 1" &&
        sprofile report p.sprof | grep -q "^samples  *[1-9]" &&
        for command in "push --otlp http://127.0.0.1:1" "top 1" serve; do
            timeout 2 sprofile $command 2>&1 | grep "this build has no" && exit 1
        done
        apt-get purge -y -qq libsprof &&
            [ -z "$(find /usr -name "*sprof*")" ]'
}

# compilers: those that the release has, as packages.
compilers() {
    local name
    for name in gcc-12 gcc-13 gcc-14 gcc-15 clang; do
        inside "apt-cache show $name" && echo "$name"
    done
}

try_release() {
    check "the two commands of README.md" 'examples/quickstart.sh &&
        cmake --install build && test -s build/mandelbrot.pb.gz &&
        sprofile report build/mandelbrot.sprof | grep escape_count'
    for compiler in $(compilers); do
        check "plain cmake, $compiler" "apt-get install -y -qq \
            --no-install-recommends $compiler && rm -rf build-plain &&
            CC=$compiler cmake -S . -B build-plain &&
            cmake --build build-plain"
    done
    check "with the tests" '. tests/packages.sh &&
        install_missing "${test_packages[@]}" && rm -rf build-plain &&
        build_tree . && cd build && ctest -L quick -R "^(lint|unit)"'
    check "without what may be left out" 'apt-get remove -y -qq \
        libcurl4-openssl-dev libmicrohttpd-dev libncurses-dev libunwind-dev \
        libdeflate-dev && rm -rf build-bare && cmake -S . -B build-bare &&
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
