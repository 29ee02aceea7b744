#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing (apt, as root or with sudo), builds into build/ and
# runs every test. Ends with ctest's summary and status.
#
#   tests/run.sh [--quick | --full] [CTEST-ARGUMENT...]
#
# Tests run beside each other, those that assert times (timed.*) alone at the
# end. A timed test that fails is run once more; the summary names those that
# passed then. --quick runs lints, units and ten scenarios, in 2 minutes after
# the build.
#
# A cross build for aarch64 runs its units, too (tests/aarch64/run.sh). --full runs
# longer variants, and builds in fresh roots of Debian's releases
# (tests/roots/run.sh). It also installs the emulator in which the product of that
# build is tried on a real kernel; where that is there already, it takes 10
# minutes at most. Other arguments go to ctest, e.g. -R scenario.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/packages.sh"

quick=()
if [ "${1:-}" = --quick ]; then
    quick=(-L quick)
    shift
elif [ "${1:-}" = --full ]; then
    export SPROF_TEST_FULL=1
    # libFuzzer, which some releases keep in a package of its own.
    test_packages+=(clang)
    profiled_packages+=(qemu-system-arm flex bison bc libssl-dev debootstrap)
    apt-cache show libclang-rt-dev >/dev/null 2>&1 &&
        test_packages+=(libclang-rt-dev)
    shift
fi

# Any Go will do to open profiles with `go tool pprof`.
command -v go >/dev/null || test_packages+=(golang-go)
install_missing "${build_packages[@]}" "${test_packages[@]}"
if [ "${#quick[@]}" -eq 0 ]; then
    install_known "${profiled_packages[@]}" "$(python_tests)"
    install_known "${client_packages[@]}"
    install_known "${cross_packages[@]}"
    [ -z "${SPROF_TEST_FULL:-}" ] || install_known "${profiled_full_packages[@]}"
fi
if [ "${#quick[@]}" -eq 0 ]; then
    install_npm "$root/build/npm"
    install_page "$root" "$root/build/page"
fi &
build_tree "$root" || exit 1
wait
cd "$root/build" || exit 1

# Calls of expect_same have default settings by turns; a commit has its turn.
commit=$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null)
export TEST_TURN=$((16#${commit:-0} % 2))
second=$root/build/tests/timed/second-tries
rm -f "$second"
# Many tests wait for something: three for each two processors.
ctest --output-on-failure -j "$(($(nproc) * 3 / 2))" "${quick[@]}" "$@" |
    sed -u "/ tests passed, /r $second"
exit "${PIPESTATUS[0]}"
