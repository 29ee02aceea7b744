#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what is installed works from where it is, without the
# source: the preloaded library writes its profile, the command finds the library,
# the header is found by pkg-config and by CMake, bash completes, the manual pages
# are there and name every command and option, every link of the documentation
# leads somewhere; the Debian package holds the same, and so does a build of what is
# installed alone.
. "$(dirname "$0")/lib.sh"
source=${SPROF_SOURCE:-$(cd "$here/../.." && pwd)}

# expect_preloaded ROOT: its library, preloaded from a folder elsewhere, writes
# the profile of its default name, and leaves nothing else there.
expect_preloaded() {
    local preloaded
    preloaded=$(find "$1" -name libsprof.so)
    [ -n "$preloaded" ] || { fail "$1: no libsprof.so"; return; }
    rm -rf elsewhere && mkdir elsewhere
    plain env -C elsewhere LD_PRELOAD="$preloaded" "$work/known_stack.o2" 200
    expect_ok
    [ "$(find elsewhere -type f -name 'sprof.known_stack.o2.*.pb.gz' | wc -l)" = 1 ] &&
        [ "$(find elsewhere -type f | wc -l)" = 1 ] ||
        fail "$1: preloaded, it wrote: $(ls elsewhere)"
}

# expect_links FOLDER: each relative link of its pages is to a file.
expect_links() {
    local page link count=0
    while read -r page; do
        while read -r link; do
            count=$((count + 1))
            [ -e "$(dirname "$page")/$link" ] || fail "$page: no $link"
        done < <(grep -oE '\]\([^)#:]+[)#]' "$page" |
            sed 's/^](//; s/.$//')
    done < <(find "$1" -name '*.md')
    [ "$count" -gt 10 ] || fail "$1: $count links, expected more than 10"
}

cmake --install "$build" --prefix "$tmp/first" >log 2>&1 ||
    fail "cmake --install: $(cat log)"
# Nothing in it may know where it was.
mv first moved
root=$tmp/moved
PATH=$root/bin:$PATH

cd "$tmp" || exit 1
expect_preloaded "$root"
expect_links "$root/share/doc/libsprof"
DESTDIR=$tmp/staged cmake --install "$build" >log 2>&1 ||
    fail "cmake --install with DESTDIR: $(cat log)"
expect_preloaded "$tmp/staged"

# As examples/quickstart.sh builds it in a fresh clone: what is installed, alone,
# and without what may be left out. It is not optimized: its files are compared,
# and a command that is left out says so.
echo "-- built without the tests"
{ cmake -S "$source" -B "$tmp/alone" -G Ninja \
    -DSPROF_FLEET=OFF -DSPROF_TOP=OFF -DSPROF_LIBDEFLATE=OFF -DSPROF_ZSTD=OFF \
    -DCMAKE_BUILD_TYPE=None &&
    cmake --build "$tmp/alone" --target installed &&
    cmake --install "$tmp/alone" --prefix "$tmp/second"; } >log 2>&1 ||
    fail "the target installed: $(tail -5 log)"
diff <(cd "$root" && find . | sort) <(cd "$tmp/second" && find . | sort) ||
    fail "other files than those of the build with the tests"
grep -q 'sprofile push: no: it was configured with SPROF_FLEET=OFF' log ||
    fail "cmake does not say what the build lacks"
for command in "push --otlp http://127.0.0.1:1" serve "top $$"; do
    # shellcheck disable=SC2086
    plain "$tmp/second/bin/sprofile" $command
    expect_status 1
    grep -q "^sprofile ${command%% *}: this build has no .*SPROF_" err ||
        fail "$command: $(cat err)"
done

echo "-- record"
plain sprofile record -o p.folded "$work/known_stack.o2" 200
expect_status 0
expect_samples 50 p.folded

echo "-- the header"
cat >uses.c <<'END'
#include <sprof.h>
#include <stdio.h>
int main(void) { return printf("%d%s\n", sprof_is_running(), sprof_version()) < 0; }
END
library_directory=$(dirname "$(find "$root" -name libsprof.so)")
export PKG_CONFIG_PATH=$library_directory/pkgconfig
if has pkg-config; then
    # shellcheck disable=SC2046
    cc uses.c $(pkg-config --cflags sprof) -o uses || fail "pkg-config --cflags"
    plain ./uses
    [ "$(cat out)" = 0 ] || fail "not preloaded: $(cat out)"
    plain env LD_PRELOAD="$(pkg-config --variable=preload sprof)" \
        SPROF_OUTPUT=u.txt ./uses
    [ "$(cat out)" = "1$(pkg-config --modversion sprof)" ] ||
        fail "preloaded: $(cat out)"
fi
mkdir -p project && cp uses.c project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(uses C)
find_package(sprof 0.1 REQUIRED)
add_executable(uses uses.c)
target_link_libraries(uses PRIVATE sprof::sprof)
file(WRITE ${CMAKE_BINARY_DIR}/preload "${SPROF_PRELOAD}")
END
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$root" >log 2>&1 &&
    cmake --build project/build >>log 2>&1 || fail "find_package: $(cat log)"
plain env LD_PRELOAD="$(cat project/build/preload)" SPROF_OUTPUT=u.txt \
    project/build/uses
[ "$(head -c 1 out)" = 1 ] || fail "CMake's SPROF_PRELOAD: $(cat out)"

echo "-- manual pages"
page=$root/share/man/man1/sprofile.1.gz
other=$root/share/man/man7/libsprof.7.gz
for file in "$page" "$other"; do
    [ -s "$file" ] || fail "$file is missing"
    if command -v man >/dev/null; then
        man --warnings -l "$file" >/dev/null 2>err
        [ ! -s err ] || fail "$file: $(cat err)"
    fi
done
commands=$(sprofile --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ -n "$commands" ] || fail "no commands in the help page"
# words FILE: without the font changes and escapes of the page.
words() { gzip -dc "$1" | sed 's/\\f[BIR]//g; s/\\-/-/g'; }
for command in $commands; do
    words "$page" | grep -qx "\.SS $command" || fail "no section: $command"
    for option in $(sprofile "$command" --help | grep -oE -- '--[a-z][a-z-]+' |
        sort -u); do
        [ "$option" = --help ] || words "$page" | grep -qF -- "$option" ||
            fail "sprofile.1 lacks $option of $command"
    done
done
for variable in $(grep -o '^| \[`SPROF_[A-Z_]*' "$source/docs/options.md" |
    grep -o 'SPROF_.*'); do
    words "$other" | grep -q "$variable" || fail "libsprof.7 lacks $variable"
done

echo "-- completion"
# completions WORD...: what bash proposes for the last one.
completions() {
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sprofile "$1"
        printf "%s\n" "${COMPREPLY[@]}"' \
        "$root/share/bash-completion/completions/sprofile" "$@"
}
[ "$(completions sprofile rec)" = record ] || fail "rec is not completed"
completions sprofile record --fr | grep -qx -- --frequency ||
    fail "--fr is not completed"
[ "$(completions sprofile help rec)" = record ] || fail "help rec"
completions sprofile convert --format sp | grep -qx speedscope.json ||
    fail "formats are not completed"
completions sprofile record -m w | grep -qx wall || fail "modes"
LD_PRELOAD=$library SPROF_OUTPUT=$tmp/asleep.folded sleep 600 &
asleep=$!
begun=$SECONDS
until completions sprofile dump "" | grep -qx "$asleep"; do
    [ $((SECONDS - begun)) -lt "$deadline" ] || {
        fail "processes are not completed"
        break
    }
    sleep 0.05
done
kill "$asleep"

echo "-- the Debian package"
if has cpack && has dpkg-deb && has dpkg-shlibdeps; then
    # As docs/install.md has it, in a copy that a test may change: what cpack makes
    # is in the build tree, wherever it is run.
    grep -qx "set(CPACK_PACKAGE_DIRECTORY \"$build\")" \
        "$build/CPackConfig.cmake" || fail "packages are made elsewhere"
    sed "s|^set(CPACK_PACKAGE_DIRECTORY .*|set(CPACK_PACKAGE_DIRECTORY \"$tmp/package\")|" \
        "$build/CPackConfig.cmake" >CPackConfig.cmake
    mkdir from
    (cd from && cpack -G DEB --config ../CPackConfig.cmake) >log 2>&1 ||
        fail "cpack: $(cat log)"
    [ -z "$(ls -A from)" ] || fail "cpack left $(ls -A from)"
    package=$(echo package/*.deb)
    dpkg-deb -f "$package" Depends | grep -q libc6 || fail "no dependencies"
    dpkg-deb -x "$package" unpacked
    (cd unpacked/usr && find . -type f | sort) >in_package
    (cd "$root" && find . -type f | sort) >installed
    cmp -s in_package installed ||
        fail "other files: $(diff in_package installed)"
    expect_preloaded "$tmp/unpacked"
    plain unpacked/usr/bin/sprofile record -o d.folded \
        "$work/known_stack.o2" 200
    expect_samples 50 d.folded
fi

finish
