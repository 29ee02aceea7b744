#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# libunwind.sh DIRECTORY MACHINE [COMPILER SYSROOT] -- makes DIRECTORY/libunwind-MACHINE.a from the
# distribution's own source package, as position-independent code. Debian's
# static library is not (R_X86_64_32S against .rodata), so it cannot become part
# of a shared library; and its shared one needs libunwind.so.8, which exports
# _Unwind_* and would stand in front of libgcc's in every C++ program.
#
# COMPILER and SYSROOT: those of another machine.
#
# The lists of source packages go to DIRECTORY alone; the system's apt
# configuration is read and not changed. apt verifies what it downloads.
set -euo pipefail

directory=$1
library=libunwind-$2.a
[ -s "$directory/$library" ] && exit 0

command -v apt-get >/dev/null || {
    echo "libunwind.sh: expected apt-get; build libunwind with -fPIC and give" \
        "cmake -DUNWIND_STATIC=/path/$library" >&2
    exit 1
}

mkdir -p "$directory"/{parts,lists/partial,cache/archives/partial}
cd "$directory"

# The configured sources, as sources of source packages.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [ -f "$list" ]; then
        sed -n 's/^deb /deb-src /p' "$list" >"parts/$(basename "$list" .list).list"
    fi
done
for list in /etc/apt/sources.list.d/*.sources; do
    if [ -f "$list" ]; then
        sed 's/^Types:.*/Types: deb-src/' "$list" >"parts/$(basename "$list")"
    fi
done

options=(-q -o Dir::Etc::sourcelist=/dev/null
    -o Dir::Etc::sourceparts="$PWD/parts" -o Dir::State::lists="$PWD/lists"
    -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update >apt.log 2>&1 || true
apt-get "${options[@]}" source --download-only libunwind >>apt.log 2>&1 || {
    echo "libunwind.sh: could not get the source package of libunwind:" >&2
    tail -n 3 apt.log >&2
    exit 1
}

rm -rf source && mkdir source
tar xf libunwind_*.orig.tar.* -C source --strip-components=1 2>/dev/null ||
    tar xf "$(ls libunwind_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" \
        -C source --strip-components=1
cd source
[ -x configure ] || autoreconf -i >../configure.log 2>&1
for_machine=()
flags=
if [ $# -ge 4 ]; then
    for_machine=(--host="$("$3" -dumpmachine)" CC="$3")
    flags=--sysroot=$4
fi
./configure "${for_machine[@]}" --disable-shared --enable-static --with-pic --disable-tests \
    --disable-documentation --disable-minidebuginfo --disable-coredump \
    --disable-ptrace --disable-setjmp --disable-cxx-exceptions \
    --disable-debug-frame --disable-zlibdebuginfo \
    CFLAGS="-O2 -g -fPIC -fvisibility=hidden -fcommon $flags" \
    >../configure.log 2>&1
make -j"$(nproc)" >../make.log 2>&1
cp "src/.libs/$library" ../
cd .. && rm -rf source lists cache
