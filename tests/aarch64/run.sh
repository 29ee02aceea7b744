#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the product of a cross build for aarch64 passes its units
# and scenarios on a real kernel in an emulator, with pointer authentication and
# without.
#
#   tests/aarch64/run.sh [CPU...]     (default: max cortex-a57)
#
# It also makes the package, and reads a profile of each architecture on the
# other one. That needs the ordinary build, too. With SPROF_TEST_FULL=1 more is
# run, longer than 10 minutes.
#
# Debian's packages are unpacked into build/aarch64 and run nowhere else; the
# machine's own apt is read and not changed. Skipped (77) where the cross
# compiler, the emulator or the packages cannot be had. Times in an emulator
# mean nothing: counts are compared, and times are not.
set -u
export LC_ALL=C
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SPROF_BUILD:-$source/build}
place=$build/aarch64
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
programs+=,libstdc++6,libc6-dbg,lzip,ripgrep,gzip

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
    [ "$(cat "$1.done" 2>/dev/null)" != "$2" ] || return 0
    rm -rf "$1" "$1".cpio.gz
    mmdebstrap --quiet --mode=root --variant=extract --arch=arm64 \
        --include="$2" $suite "$1" >"$1.log" 2>&1 &&
        echo "$2" >"$1.done" || skip "packages: $(tail -n 1 "$1.log")"
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

# package: the product as Debian's package, into add/. Its dependencies are the
# packages of the libraries that it needs: libdw.so.1 is in libdw1.
package() {
    local depends
    depends=$(for file in libsprof.so libsprof-report.so sprofile; do
        aarch64-linux-gnu-readelf -d "tree/$file"
    done | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u |
        sed -e '/^ld-\|^libm\./d' -e 's/^libc\.so\.6/libc6 (>= 2.36)/' \
            -e 's/^libz\.so\.1/zlib1g/' -e 's/\.so\.\([0-9]*\)$/\1/' |
        paste -sd,)
    cmake "-DSPROF_DEPENDS=$depends" tree >/dev/null &&
        rm -f tree/*.deb &&
        cpack -G DEB --config tree/CPackConfig.cmake >cpack.log 2>&1 &&
        [ "$(dpkg-deb -f tree/*.deb Architecture)" = arm64 ] &&
        dpkg -x tree/*.deb add ||
        { tail -n 5 cpack.log; echo "FAIL the package"; exit 1; }
}

# The programs of tests/bench that are run there: bench.py finds them.
bench() {
    (cd "$source/tests/bench" && aarch64-linux-gnu-gcc \
        --sysroot="$place/sysroot" -std=gnu11 -D_GNU_SOURCE -O2 -g -pthread \
        -I "$source/src" "${@:2}" -o "$place/add/bench/sprof-bench-0/$1") ||
        exit 1
}

# A profile of this machine, with its program, for the other to read.
leave_profile() {
    [ -x "$build/tests/workload/known_stack.o2" ] || return
    local program=$place/known_stack.o2
    cp "$build/tests/workload/known_stack.o2" "$program"
    mkdir -p "add/there$place"
    env -u SPROF_TEST_FULL -u SPROF_BUILD SPROF_KEEP_SPOOL=1 SPROF_CACHE=off \
        SPROF_OUTPUT="$place/p.folded" LD_PRELOAD="$build/libsprof.so" \
        "$program" 500 >/dev/null
    mv "$program" "add/there$place"
    mv p.sprof p.folded add/there
}

# received NAME LOG: what the machine has sent.
received() {
    sed -n "/^file $1\$/,/^end $1\$/p" "$2" | grep -av '^\(file\|end\) ' |
        base64 -d | gzip -d >"$1"
}

# read_profile LOG: the profile of the other machine has the names here that it
# has there, but for the kernel's own code.
read_profile() {
    [ -x "$build/sprofile" ] || {
        echo "skipped reads.aarch64: no build"
        return
    }
    rm -rf there here.*
    mkdir there
    ln -s ../add/build there/build
    ln -s ../root/usr there/usr
    ln -s ../root/lib there/lib
    received here.sprof "$1"
    received here.folded "$1"
    SPROF_CACHE=off "$build/sprofile" convert --sysroot there here.sprof \
        other.folded
    local file
    for file in here other; do
        sed -e 's/ [0-9]*$//' -e 's/;__kernel_.*//' -e 's/;\[vdso\].*//' \
            $file.folded | grep -a 'main;' | sort -u >$file.stacks
    done
    if [ -s here.stacks ] && cmp -s here.stacks other.stacks; then
        echo "ok reads.aarch64: $(wc -l <here.stacks) stacks"
    else
        echo "FAIL reads.aarch64"
        diff here.stacks other.stacks | head -n 5
    fi
    if "$build/sprofile" annotate --sysroot there work_burn here.sprof |
        sed -n '/machine code/,$p' | grep -q ' madd '; then
        echo "ok annotates.aarch64"
    else
        echo "FAIL annotates.aarch64"
    fi
}

# The memory that the machine begins with: packages, product and tests.
rm -rf add && mkdir -p add/build/tests/workload add/source
cp tree/libsprof.so tree/libsprof-report.so tree/sprofile add/build
cp tree/tests/*_test tree/tests/*.so add/build/tests
cp -r tree/tests/workload add/build/tests
find add/build -name '*.o' -o -name CMakeFiles -o -name '*.cmake' |
    xargs rm -rf
aarch64-linux-gnu-strip -g add/build/sprofile add/build/libsprof-report.so \
    add/build/tests/*_test
cp -r "$source/tests" "$source/docs" add/source
rm -rf add/source/tests/{page,fuzz}
cp "$source/tests/aarch64/init.sh" add/init
mkdir -p -m 700 add/bench/sprof-bench-0
bench disturb disturb.c slices.c waits.c
bench truth -no-pie -fno-optimize-sibling-calls truth.c slices.c
bench depth depth.c
package
leave_profile
[ -s root.cpio.gz ] ||
    (cd root && rm -rf usr/share/{doc,man,locale,info,i18n,zoneinfo} &&
        find . | cpio --quiet -o -H newc | gzip -1) >root.cpio.gz
(cd add && find . | cpio --quiet -o -H newc | gzip -1) >add.cpio.gz
cat root.cpio.gz add.cpio.gz >all.cpio.gz

failures=0
for cpu in "${cpus[@]}"; do
    echo "-- $cpu"
    case $cpu in
    max) model=max,pauth-impdef=on set=short ;;
    *) model=$cpu set=brief ;;
    esac
    seconds=540
    [ -z "${SPROF_TEST_FULL:-}" ] || set=long seconds=2400
    timeout $seconds qemu-system-aarch64 -M virt,gic-version=3 -cpu $model \
        -smp 2 -accel tcg,thread=multi -m 3G -nic none -nographic -no-reboot \
        -kernel kernel/boot/vmlinuz-* -initrd all.cpio.gz \
        -append "console=ttyAMA0 quiet panic=-1 rdinit=/init set=$set" \
        </dev/null | stdbuf -oL tr -d '\r' >"$cpu.log"
    read_profile "$cpu.log" >>"$cpu.log"
    grep -a '^\(ok\|FAIL\|skipped\|kernel\) ' "$cpu.log"
    if ! grep -aqx 'all done' "$cpu.log" || grep -aq '^FAIL ' "$cpu.log"; then
        echo "$cpu: see $place/$cpu.log"
        failures=1
    fi
done
exit $failures
