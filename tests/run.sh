#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing (apt, as root or with sudo), builds into build/ and
# runs every test. Ends with ctest's summary and status.
#
#   tests/run.sh [--full] [CTEST-ARGUMENT...]
#
# A cross build for aarch64 runs its units, too (tests/aarch64/run.sh). --full runs
# longer variants. It also installs the emulator in which the product of that
# build is tried on a real kernel; where that is there already, it takes 10
# minutes at most. Other arguments go to ctest, e.g. -R scenario.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/packages.sh"

if [ "${1:-}" = --full ]; then
    export SPROF_TEST_FULL=1
    # libFuzzer, which some releases keep in a package of its own.
    test_packages+=(clang)
    profiled_packages+=(qemu-system-arm flex bison bc libssl-dev)
    apt-cache show libclang-rt-dev >/dev/null 2>&1 &&
        test_packages+=(libclang-rt-dev)
    shift
fi

# Any Go will do to open profiles with `go tool pprof`.
command -v go >/dev/null || test_packages+=(golang-go)
install_missing "${build_packages[@]}" "${test_packages[@]}"
install_known "${profiled_packages[@]}"
install_known "${client_packages[@]}"
install_known "${cross_packages[@]}"
[ -z "${SPROF_TEST_FULL:-}" ] || install_known "${profiled_full_packages[@]}"
build_tree "$root" || exit 1
install_npm "$root/build/npm"
install_page "$root" "$root/build/page"
cd "$root/build" || exit 1
ctest --output-on-failure -j1 "$@"
