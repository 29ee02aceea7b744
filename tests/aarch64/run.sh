#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: the product of a cross build for aarch64 passes its units
# and scenarios on a real kernel in an emulator.
#
#   tests/aarch64/run.sh [MACHINE...]   (default: user max cortex-a57; with
#                                        SPROF_TEST_FULL=1 all of them)
#
# user        none: units that need no kernel, by qemu-user
# max         a processor with pointer authentication, two of them
# cortex-a57  one without
# clocked     the clock goes with the instructions, 2 ns each: times and shares
#             are those of a slow machine, whatever else this one does
# truth       the same with 1 ns each: shares beside the truth
# newer       Linux 6.12 and Python 3.13
# 16k         Linux 6.12 with pages of 16 KiB
# 64k         with pages of 64 KiB, and all addresses beyond 48 bits
# mte         memory with tags; not before qemu 8, which checks some wrongly
#
# It also makes the package and the wheel, and reads a profile of each
# architecture on the other one. That needs the ordinary build, too. Without
# SPROF_TEST_FULL=1 it takes 10 minutes at most.
#
# Needs alone: aarch64-tree
#
# Debian's packages are unpacked into build/aarch64 and run nowhere else; the
# machine's own apt is read and not changed. Skipped (77) where the cross
# compiler or the packages cannot be had. A machine is left out, with a line,
# where its emulator is not installed (tests/run.sh --full). TEST_QEMU is another
# command for qemu-system-aarch64, or its path. Times in an emulator
# mean nothing: counts are compared, and times are not, but for machines with a
# clock in step.
set -u
export LC_ALL=C
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SPROF_BUILD:-$source/build}
place=$build/aarch64
machines=("$@")
if [ $# -eq 0 ]; then
    machines=(user max cortex-a57)
    [ -z "${SPROF_TEST_FULL:-}" ] || machines+=(clocked truth newer 16k 64k mte)
fi

# Those of which qemu-user can run all.
units=(code_flow code_go row_table walk walk_guess epilogue_aarch64 code_aarch64 script
    thread_word_aarch64 stacks traces harvest journal store python_lines mask
    alternate)

# The cross build's libraries, and what the emulated machines run.
libraries=libc6-dev,libunwind-dev,libdw-dev,libelf-dev,libprotobuf-c-dev
libraries+=,zlib1g-dev,libiberty-dev,libdeflate-dev,libncurses-dev
libraries+=,libmicrohttpd-dev,libbz2-dev,liblzma-dev,libzstd-dev
libraries+=,libcurl4-openssl-dev,libcmocka-dev,libstdc++-12-dev
programs=bash,coreutils,util-linux,mount,procps,findutils,grep,sed,gawk
programs+=,diffutils,binutils,python3,python3-dbg,xz-utils,libcmocka0
programs+=,libprotobuf-c1,libncursesw6,libdeflate0,libstdc++6,gzip,libunwind8
of_bookworm=$programs,libdw1,libcurl4,libmicrohttpd12,libc6-dbg
of_bookworm+=,sqlite3,lzip,ripgrep,php8.2-cli
of_trixie=$programs,libdw1t64,libcurl4t64,libmicrohttpd12t64

skip() {
    echo "skipped: $*"
    exit 77
}

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ mmdebstrap apt-get \
    cpio cmake ninja; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "mmdebstrap needs root here"
mkdir -p "$place" && cd "$place" || exit 1

# unpack NAME SUITE PACKAGES: a tree of arm64 packages, none of whose code is
# run. Links of the tree are made relative to it.
unpack() {
    local link
    [ "$(cat "$1.done" 2>/dev/null)" != "$3" ] || return 0
    rm -rf "$1" "$1".cpio.gz
    mmdebstrap --quiet --mode=root --variant=extract --arch=arm64 \
        --include="$3" "$2" "$1" >"$1.log" 2>&1 &&
        echo "$3" >"$1.done" || skip "packages: $(tail -n 1 "$1.log")"
    find "$1"/usr/lib "$1"/lib/ -type l -lname '/*' | while read -r link; do
        ln -sfr "$1$(readlink "$link")" "$link"
    done
}

# A tree of programs as the memory that a machine begins with. Of the debug build
# of Python only the names of the ordinary one are wanted.
archive() {
    unpack "$@"
    [ -s "$1.cpio.gz" ] ||
        (cd "$1" && rm -rf usr/share/{doc,man,locale,info,i18n,zoneinfo} \
            usr/bin/python3*d usr/lib/*/libpython*d.* usr/lib/python3*/config-* \
            usr/include &&
            find . | cpio --quiet -o -H newc | gzip -1) >"$1.cpio.gz"
}

# apt SUITE COMMAND...: of arm64, with folders of our own.
apt() {
    local from=$place/apt/$1 tool=$2
    mkdir -p "$from"/{lists,archives}/partial
    echo "deb http://deb.debian.org/debian $1 main" >"$from/sources.list"
    "$tool" -q -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 \
        -oDir::State::Lists="$from/lists" -oDir::State::status=/dev/null \
        -oDir::Cache="$from" -oDir::Etc::SourceList="$from/sources.list" \
        -oDir::Etc::SourceParts=/dev/null -oAPT::Sandbox::User=root \
        -oDir::Etc::TrustedParts=/usr/share/keyrings "${@:3}"
}

# get_kernel NAME SUITE PACKAGE: the newest one on which PACKAGE depends, as
# kernel/NAME.
get_kernel() {
    local name
    [ ! -s "kernel/$1" ] || return 0
    mkdir -p kernel
    {
        apt "$2" apt-get update &&
            name=$(apt "$2" apt-cache depends "$3" |
                sed -n 's/.*Depends: \(linux-image.*\)/\1/p' | head -n 1) &&
            (cd kernel && apt "$2" apt-get download "$name") &&
            dpkg --fsys-tarfile kernel/"$name"_*.deb |
            tar xO --wildcards './boot/vmlinuz-*' >"kernel/$1" &&
            rm kernel/"$name"_*.deb
    } >"kernel/$1.log" 2>&1 || {
        rm -f "kernel/$1"
        skip "the kernel: $(tail -n 1 "kernel/$1.log")"
    }
}

# build_kernel NAME: of Debian's source, with what kernel-NAME.config asks for.
build_kernel() {
    local package=linux-source-6.12
    [ ! -s "kernel/$1" ] || return 0
    mkdir -p kernel/source
    {
        apt trixie apt-get update &&
            (cd kernel && apt trixie apt-get download $package &&
                dpkg --fsys-tarfile $package*.deb |
                tar xO ./usr/src/$package.tar.xz |
                    tar xJ --strip-components=1 -C source && rm $package*.deb) &&
            (cd kernel/source &&
                export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- &&
                make -s allnoconfig && scripts/kconfig/merge_config.sh -m \
                .config "$source/tests/aarch64/kernel-$1.config" &&
                make -s olddefconfig &&
                make -s -j "$(nproc)" Image) &&
            cp kernel/source/arch/arm64/boot/Image "kernel/$1" &&
            rm -rf kernel/source
    } >"kernel/$1.log" 2>&1 ||
        echo "skipped $1: no kernel: $(tail -n 1 "kernel/$1.log")"
}

qemu=${TEST_QEMU:-qemu-system-aarch64} booted=() targets=()
for machine in "${machines[@]}"; do
    [ "$machine" = user ] || booted+=("$machine")
done
if [ ${#booted[@]} -gt 0 ] && ! command -v "$qemu" >/dev/null; then
    echo "skipped ${booted[*]}: $qemu is not installed"
    booted=()
fi
[ ${#booted[@]} -gt 0 ] || targets=(--target libsprof.so libsprof-report.so
    sprofile sprofile-wheel "${units[@]/%/_test}")

unpack sysroot bookworm "$libraries"

[ -e tree/build.ninja ] ||
    cmake -S "$source" -B tree -G Ninja -DSPROF_TESTS=ON \
        -DSPROF_SYSROOT="$place/sysroot" \
        -DCMAKE_TOOLCHAIN_FILE="$source/tests/aarch64/toolchain.cmake" \
        >cmake.log 2>&1 || { tail -n 20 cmake.log; exit 1; }
# Without an emulator, the product and the units alone.
cmake --build tree --parallel "$(nproc)" "${targets[@]}" >build.log 2>&1 ||
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
        SPROF_EXIT_MS=120000 SPROF_OUTPUT="$place/p.folded" LD_PRELOAD="$build/libsprof.so" \
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

failures=0
# check_wheel: it has all libraries of the other machine that its command needs.
check_wheel() {
    local wheel file
    rm -rf wheel tree/*.whl
    wheel=$(python3 tree/wheel.py tree 2>wheel.log) &&
        [[ $wheel = *_aarch64.whl ]] &&
        python3 -m zipfile -e "$wheel" wheel || {
        cat wheel.log
        echo "FAIL the wheel: $wheel"
        failures=1
        return
    }
    for file in wheel/libsprof/bin/* wheel/libsprof/lib/*; do
        readelf -h "$file" | grep -q 'Machine: *AArch64' || {
            echo "FAIL the wheel: $file"
            failures=1
        }
    done
    echo "ok $wheel"
}
! command -v python3 >/dev/null || check_wheel

# check_command: the wheel's command needs nothing else than the C library.
check_command() {
    rm -rf bare && mkdir -p bare/lib/aarch64-linux-gnu
    cp sysroot/lib/ld-linux-aarch64.so.1 bare/lib
    cp sysroot/lib/aarch64-linux-gnu/lib{c,m,resolv}.so.* \
        bare/lib/aarch64-linux-gnu
    chmod 755 wheel/libsprof/bin/sprofile
    timeout 60 "$qemu_user" -L bare wheel/libsprof/bin/sprofile --version \
        >unit.log 2>&1 && echo "ok the wheel's command" || {
        cat unit.log
        echo "FAIL the wheel's command"
        failures=1
    }
}

# check_units: by qemu-user.
check_units() {
    local unit
    for unit in "${units[@]}"; do
        timeout 600 "$qemu_user" -L sysroot "tree/tests/${unit}_test" \
            >unit.log 2>&1 && echo "ok unit.$unit" || {
            grep -aiE 'error|line' unit.log | head -n 4
            echo "FAIL unit.$unit"
            failures=1
        }
    done
}
for machine in "${machines[@]}"; do
    [ "$machine" = user ] || continue
    if qemu_user=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    then
        echo "-- user"
        [ ! -d wheel ] || check_command
        check_units
    else
        echo "skipped user: qemu-user is not installed"
    fi
done
[ ${#booted[@]} -gt 0 ] || exit $failures

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
touch add/bench/sprof-bench-0/* # newer than its source
package
leave_profile
(cd add && find . | cpio --quiet -o -H newc | gzip -1) >add.cpio.gz

# boot NAME SECONDS ROOT KERNEL SET OPTION...: run the checks of SET, with the
# programs of ROOT. What the machine says is in NAME.log.
boot() {
    cat "$3.cpio.gz" add.cpio.gz >all.cpio.gz
    timeout "$2" "$qemu" "${@:6}" -m 3G -nic none -nographic \
        -no-reboot -kernel "kernel/$4" -initrd all.cpio.gz \
        -append "console=ttyAMA0 quiet panic=-1 rdinit=/init set=$5" \
        </dev/null | stdbuf -oL tr -d '\r' >"$1.log"
}

with=(-M virt,gic-version=3 -accel tcg,thread=multi -smp 2)
clock=(-M virt,gic-version=3 -accel tcg,thread=single -smp 1)
full=(-cpu max,pauth-impdef=on)
long=
[ -z "${SPROF_TEST_FULL:-}" ] || long=,long
archive root bookworm "$of_bookworm"
get_kernel bookworm bookworm linux-image-arm64
for machine in "${booted[@]}"; do
    echo "-- $machine"
    rm -f "$machine.log"
    case $machine in
    max)
        boot max 2400 root bookworm short$long "${with[@]}" "${full[@]}"
        ;;
    clocked)
        boot clocked 3600 root bookworm clocked "${clock[@]}" "${full[@]}" \
            -icount shift=1,sleep=off
        ;;
    truth)
        boot truth 3600 root bookworm truth "${clock[@]}" "${full[@]}" \
            -icount shift=0,sleep=off
        ;;
    newer)
        archive newer trixie "$of_trixie"
        get_kernel trixie trixie linux-image-arm64
        boot newer 1200 newer trixie newer "${clock[@]}" "${full[@]}" \
            -icount shift=1,sleep=off
        ;;
    16k)
        get_kernel 16k trixie linux-image-arm64-16k
        boot 16k 1200 root 16k pages "${with[@]}" "${full[@]}"
        ;;
    64k)
        build_kernel 64k
        [ -s kernel/64k ] || continue
        boot 64k 1200 root 64k pages "${with[@]}" "${full[@]}"
        ;;
    mte)
        version=$("$qemu" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
        [ "${version:-0}" -ge 8 ] || {
            echo "skipped mte: qemu $version"
            continue
        }
        boot mte 1200 root bookworm tags "${clock[@]}" "${full[@]}" \
            -machine mte=on -icount shift=1,sleep=off
        ;;
    *)
        boot "$machine" 600 root bookworm brief "${with[@]}" -cpu "$machine"
        ;;
    esac
    ! grep -aqx 'file here.sprof' "$machine.log" ||
        read_profile "$machine.log" >>"$machine.log"
    grep -a '^\(ok\|FAIL\|skipped\|kernel\) ' "$machine.log"
    if ! grep -aqx 'all done' "$machine.log" ||
        grep -aq '^FAIL ' "$machine.log"; then
        echo "$machine: see $place/$machine.log"
        failures=1
    fi
done
exit $failures
