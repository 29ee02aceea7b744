#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the product of a cross build for aarch64 passes its units
# and scenarios on a real kernel in an emulator, with pointer authentication and
# without.
#
#   tests/aarch64/run.sh [CPU...]     (default: max cortex-a57)
#
# Debian's packages are unpacked into build/aarch64 and run nowhere else; the
# machine's own apt is read and not changed. Skipped (77) where the cross
# compiler, the emulator or the packages cannot be had. Times in an emulator
# mean nothing: counts are compared, and times are not.
set -u
export LC_ALL=C
source=$(cd "$(dirname "$0")/../.." && pwd)
place=${SPROF_BUILD:-$source/build}/aarch64
suite=bookworm
cpus=("$@")
[ $# -gt 0 ] || cpus=(max cortex-a57)

# The cross build's libraries, and what the emulated machine runs.
libraries=libc6-dev,libunwind-dev,libdw-dev,libelf-dev,libprotobuf-c-dev
libraries+=,zlib1g-dev,libiberty-dev,libdeflate-dev,libncurses-dev
libraries+=,libmicrohttpd-dev,libbz2-dev,liblzma-dev,libzstd-dev
libraries+=,libcurl4-openssl-dev,libcmocka-dev,libstdc++-12-dev
programs=bash,coreutils,util-linux,mount,procps,findutils,grep,sed,gawk
programs+=,diffutils,binutils,python3,sqlite3,xz-utils,libcmocka0,libdw1
programs+=,libprotobuf-c1,libcurl4,libncursesw6,libmicrohttpd12,libdeflate0
programs+=,libstdc++6

skip() {
    echo "skipped: $*"
    exit 77
}

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-system-aarch64 \
    mmdebstrap apt-get cpio cmake ninja; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "mmdebstrap needs root here"
mkdir -p "$place" && cd "$place" || exit 1

# unpack NAME PACKAGES: a tree of arm64 packages, none of whose code is run.
unpack() {
    [ -e "$1.done" ] && return
    rm -rf "$1"
    mmdebstrap --quiet --mode=root --variant=extract --arch=arm64 \
        --include="$2" $suite "$1" >"$1.log" 2>&1 &&
        touch "$1.done" || skip "packages: $(tail -n 1 "$1.log")"
}

# The newest kernel of the suite. All folders of apt are our own.
get_kernel() {
    local name options=(-q -oAPT::Architecture=arm64
        -oAPT::Architectures=arm64 -oDir::State::Lists="$place/apt/lists"
        -oDir::State::status=/dev/null -oDir::Cache="$place/apt/cache"
        -oAPT::Sandbox::User=root)
    [ -e kernel.done ] && return
    mkdir -p apt/lists/partial apt/cache/archives/partial kernel
    {
        apt-get "${options[@]}" update &&
            name=$(apt-cache "${options[@]}" depends linux-image-arm64 |
                sed -n 's/.*Depends: //p' | head -n 1) &&
            (cd apt && apt-get "${options[@]}" download "$name") &&
            dpkg --fsys-tarfile apt/linux-image-*.deb |
            tar x -C kernel ./boot
    } >kernel.log 2>&1 && touch kernel.done ||
        skip "the kernel: $(tail -n 1 kernel.log)"
}

unpack sysroot "$libraries"
unpack root "$programs"
get_kernel
# Links of the sysroot are relative to it.
find sysroot/usr/lib sysroot/lib -type l -lname '/*' |
    while read -r link; do
        ln -sfr "sysroot$(readlink "$link")" "$link"
    done

[ -e tree/build.ninja ] ||
    cmake -S "$source" -B tree -G Ninja -DSPROF_SYSROOT="$place/sysroot" \
        -DCMAKE_TOOLCHAIN_FILE="$source/tests/aarch64/toolchain.cmake" \
        >cmake.log 2>&1 || { tail -n 20 cmake.log; exit 1; }
cmake --build tree --parallel "$(nproc)" >build.log 2>&1 ||
    { grep -E 'error|warning|FAILED' build.log | head -n 20; exit 1; }

# The memory that the machine begins with: packages, product and tests.
rm -rf add && mkdir -p add/build/tests/workload add/source
cp tree/libsprof.so tree/libsprof-report.so tree/sprofile add/build
cp tree/tests/*_test tree/tests/libpeek_library.so add/build/tests
cp -r tree/tests/workload add/build/tests
find add/build -name '*.o' -o -name CMakeFiles -o -name '*.cmake' |
    xargs rm -rf
aarch64-linux-gnu-strip -g add/build/sprofile add/build/libsprof-report.so \
    add/build/tests/*_test
cp -r "$source/tests" "$source/docs" add/source
rm -rf add/source/tests/{page,fuzz}
cp "$source/tests/aarch64/init.sh" add/init
[ -s root.cpio.gz ] ||
    (cd root && rm -rf usr/share/{doc,man,locale,info,i18n,zoneinfo} &&
        find . | cpio --quiet -o -H newc | gzip -1) >root.cpio.gz
(cd add && find . | cpio --quiet -o -H newc | gzip -1) >add.cpio.gz
cat root.cpio.gz add.cpio.gz >all.cpio.gz

failures=0
for cpu in "${cpus[@]}"; do
    echo "-- $cpu"
    case $cpu in
    max) model=max,pauth-impdef=on ;;
    *) model=$cpu ;;
    esac
    timeout 540 qemu-system-aarch64 -M virt,gic-version=3 -cpu $model -smp 2 \
        -accel tcg,thread=multi -m 3G -nic none -nographic -no-reboot \
        -kernel kernel/boot/vmlinuz-* -initrd all.cpio.gz \
        -append "console=ttyAMA0 quiet panic=-1 rdinit=/init" </dev/null |
        tr -d '\r' >"$cpu.log"
    grep -a '^\(ok\|FAIL\|skipped\|kernel\) ' "$cpu.log"
    if ! grep -aqx 'all done' "$cpu.log" || grep -aq '^FAIL ' "$cpu.log"; then
        echo "$cpu: see $place/$cpu.log"
        failures=1
    fi
done
exit $failures
