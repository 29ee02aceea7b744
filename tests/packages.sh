# SPDX-License-Identifier: MIT
#
# packages.sh -- what the project needs from Debian or Ubuntu, and installing
# what is missing of it. Sourced by run.sh and by examples/quickstart.sh; ends
# them if this user may not install. Without apt it names the packages, and
# cmake then says what is missing.

build_packages=(gcc libc6-dev cmake make ninja-build pkg-config libdw-dev
    libelf-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev libiberty-dev
    libdeflate-dev libncurses-dev libmicrohttpd-dev libbz2-dev liblzma-dev
    libzstd-dev libcurl4-openssl-dev)
test_packages=(g++ libunwind-dev binutils libcmocka-dev clang-format python3
    python3-dbg sqlite3 xz-utils procps libc6-dbg gdb util-linux libcap2-bin dwz
    dpkg-dev file tmux python3-venv)
# What scenarios and suites profile, left out where the distribution has no such
# package; and what takes long to install, for --full.
profiled_packages=(strace ltrace valgrind libjemalloc2 libtcmalloc-minimal4
    libmimalloc2.0 tcl ruby lua5.4 php-cli busybox-static make git
    curl libdebuginfod1 qemu-user bubblewrap)
# The cross build for aarch64, which is left out where these are not to be had.
cross_packages=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu
    libc6-dev-arm64-cross mmdebstrap cpio)
# What opens our files, of the distribution and of npm: speedscope, and the
# Firefox Profiler's loader with the node that it needs.
client_packages=(chromium firefox-esr libdevel-nytprof-perl python3-jsonschema)
npm_packages=(speedscope@1.25.0 node@24 @firefox-devtools/profiler-cli@0.10.0)
profiled_full_packages=(clang rustc default-jdk-headless nodejs nginx-light prometheus
    redis-server postgresql sudo lintian rpm nix-bin)

# python_tests: the package with the tests of the installed python3.
python_tests() {
    /usr/bin/python3 -c \
        'import sys; print("libpython%d.%d-testsuite" % sys.version_info[:2])'
}

# is_installed PACKAGE: as a package, or as what another one provides.
is_installed() {
    dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null |
        grep -q 'install ok installed'
}

# install_missing PACKAGE...
install_missing() {
    local package missing=() as_root=()
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null
    then
        echo "This is not Debian or Ubuntu. What these packages hold is needed:"
        printf '    %s\n' "$@"
        return 0
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0

    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "Run as root, or install: ${missing[*]}"
            exit 1
        }
        as_root=(sudo)
    fi
    echo "Installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" \
            >/dev/null || {
        echo "apt-get could not install: ${missing[*]}"
        exit 1
    }
}

# install_known PACKAGE...: those that exist.
install_known() {
    local package known=()
    for package in "$@"; do
        if ! is_installed "$package" &&
            apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        fi
    done
    [ "${#known[@]}" -eq 0 ] || install_missing "${known[@]}"
}

# install_npm FOLDER: npm's packages, where there is npm and its registry can be
# reached; once for a build tree.
install_npm() {
    local listed="${npm_packages[*]}"
    [ "$(cat "$1/listed" 2>/dev/null)" != "$listed" ] || return 0
    command -v npm >/dev/null || {
        echo "npm is not installed: left out are ${npm_packages[*]}"
        return 0
    }
    mkdir -p "$1" && timeout 300 npm install --prefix "$1" --no-audit \
        --no-fund --loglevel=error "${npm_packages[@]}" >/dev/null &&
        echo "$listed" >"$1/listed" ||
        echo "npm could not install: ${npm_packages[*]}"
}

# install_page SOURCE FOLDER: the tools of the page (src/page) at their fixed
# versions, where there is npm and its registry can be reached.
install_page() {
    local lock=$1/src/page/package-lock.json
    cmp -s "$lock" "$2/installed" && return 0
    command -v npm >/dev/null || {
        echo "npm is not installed: left out are the tools of src/page"
        return 0
    }
    mkdir -p "$2" && cp "$1/src/page/package.json" "$lock" "$2" &&
        timeout 300 npm ci --prefix "$2" --no-audit --no-fund \
            --loglevel=error >/dev/null && cp "$lock" "$2/installed" ||
        echo "npm could not install the tools of src/page"
}

# build_tree SOURCE: configured with its tests and built, up to date.
build_tree() {
    local generator=()
    if ! [ -e "$1/build/CMakeCache.txt" ]; then
        command -v ninja >/dev/null && generator=(-G Ninja)
    fi
    cmake -S "$1" -B "$1/build" "${generator[@]}" -DSPROF_TESTS=ON &&
        cmake --build "$1/build" --parallel "$(nproc)"
}
