#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what others install or build from is whole.
# - An installation into a DESTDIR, with absolute folders as Nix and RPM have them,
#   has each file where it belongs, and programs outside find the header.
# - The archive of the source is the same twice, gives itself again, has what
#   README.md names, and builds without git.
# - The Debian package has what Debian's policy asks for, and depends on the
#   package of each library that is needed.
# - The wheel has all libraries that are needed, but for the C library, with their
#   licences; its tag is true.
# - The packages for RPM and Nix are well-formed, and all have one version.
. "$(dirname "$0")/lib.sh"
source=${SPROF_SOURCE:-$(cd "$here/../.." && pwd)}
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$build/CMakeCache.txt")
products="libsprof.so libsprof-report.so sprofile"

# needed FILE...: the names of the libraries that these need.
needed() {
    readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u
}

# expect_modes ROOT: programs are 755, all other files 644.
expect_modes() {
    local path mode
    while read -r mode path; do
        case $path in
        */bin/sprofile | */libsprof-report.so) [ "$mode" = 755 ] ;;
        */libsprof.so) [ "$mode" = 644 ] || [ "$mode" = 755 ] ;;
        *) [ "$mode" = 644 ] ;;
        esac || fail "mode $mode: $path"
    done < <(find "$1" -type f -printf '%m %p\n')
}

section "an installation"
# What cmake puts where is decided when it configures; the files are those of the
# build.
cmake -S "$source" -B tree -DCMAKE_INSTALL_PREFIX=/opt/sprof \
    -DCMAKE_INSTALL_LIBDIR=/opt/sprof/lib64 \
    -DCMAKE_INSTALL_INCLUDEDIR=/opt/sprof/include >log 2>&1 ||
    fail "cmake: $(tail -n 5 log)"
for file in $products man/sprofile.1.gz man/libsprof.7.gz man/changelog.gz; do
    cp "$build/$file" "tree/$file"
done
DESTDIR=$tmp/staged cmake --install tree >log 2>&1 || fail "install: $(cat log)"
[ "$(ls staged)" = opt ] || fail "DESTDIR has $(ls staged)"
mv staged/opt/sprof moved
programs_run=$((programs_run + 1))
diff - <(cd moved && find . -type f ! -path './share/doc/*' | sort) <<'LIST' ||
./bin/sprofile
./include/sprof.h
./lib64/cmake/sprof/sprof-config-version.cmake
./lib64/cmake/sprof/sprof-config.cmake
./lib64/libsprof-report.so
./lib64/libsprof.so
./lib64/pkgconfig/sprof.pc
./share/bash-completion/completions/sprofile
./share/man/man1/sprofile.1.gz
./share/man/man7/libsprof.7.gz
LIST
    fail "other files than expected"
for file in README.md copyright changelog.gz docs/options.md; do
    [ -s "moved/share/doc/libsprof/$file" ] || fail "no $file"
done
expect_modes moved
! grep -rlF -e "$tmp" -e "$build" -e /opt/sprof moved/lib64/cmake \
    moved/lib64/pkgconfig || fail "these know where they were"
cat >uses.c <<'PROGRAM'
#include <sprof.h>
#include <stdio.h>
int main(void) { return printf("%d\n", sprof_is_running()) < 0; }
PROGRAM
if has pkg-config; then
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=moved/lib64/pkgconfig cc uses.c \
        $(PKG_CONFIG_PATH=moved/lib64/pkgconfig pkg-config --cflags sprof) \
        -o uses || fail "pkg-config --cflags"
    [ "$(PKG_CONFIG_PATH=moved/lib64/pkgconfig \
        pkg-config --modversion sprof)" = "$version" ] || fail "its version"
    preload=$(PKG_CONFIG_PATH=moved/lib64/pkgconfig \
        pkg-config --variable=preload sprof)
    plain env LD_PRELOAD="$(realpath "$preload")" SPROF_OUTPUT=u.txt ./uses
    [ "$(cat out)" = 1 ] || fail "preloaded: $(cat out err)"
fi
mkdir project && cp uses.c project
cat >project/CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.20)
project(uses C)
find_package(sprof 0.1 REQUIRED)
add_executable(uses uses.c)
target_link_libraries(uses PRIVATE sprof::sprof)
file(WRITE ${CMAKE_BINARY_DIR}/found "${SPROF_PRELOAD} ${SPROF_COMMAND}")
LISTS
cmake -S project -B project/build -Dsprof_DIR="$tmp/moved/lib64/cmake/sprof" >log 2>&1 &&
    cmake --build project/build >>log 2>&1 || fail "find_package: $(cat log)"
[ "$(cat project/build/found)" = \
    "$tmp/moved/lib64/libsprof.so $tmp/moved/bin/sprofile" ] ||
    fail "find_package found $(cat project/build/found)"

section "the archive of the source"
dist=$source/src/package/dist.sh archive=libsprof-$version.tar.gz
mkdir first second third
bash "$dist" "$source" "first/$archive" || fail "dist.sh"
(umask 077 && TZ=Asia/Tokyo bash "$dist" "$source" "second/$archive")
cmp "first/$archive" "second/$archive" || fail "another archive the second time"
tar -xf "first/$archive"
unpacked=$tmp/libsprof-$version
programs_run=$((programs_run + 1))
[ -d "$unpacked" ] && [ "$(ls | wc -l)" = 4 ] || fail "it unpacks to $(ls)"
# A build tree in it does not change that, nor the time at which files are read.
cmake -S "$unpacked" -B "$unpacked/build" -G Ninja -DSPROF_TESTS=ON >log 2>&1 ||
    fail "it does not configure: $(tail -n 5 log)"
bash "$unpacked/src/package/dist.sh" "$unpacked" "third/$archive"
cmp "first/$archive" "third/$archive" || fail "it does not give itself again"
# ninja knows of all files that the build and its tests are made of.
ninja -C "$unpacked/build" -n >log 2>&1 || fail "it lacks: $(tail -n 3 log)"
! tar -tvf "first/$archive" | grep -vE '^-rw(-r--r--|xr-xr-x) 0/0 ' ||
    fail "owners or modes"
while read -r link; do
    [ -e "$unpacked/$link" ] || fail "README.md names $link"
done < <(grep -oE '\]\([^)#:]+[)#]' "$unpacked/README.md" |
    sed 's/^](//; s/.$//')
for file in examples/quickstart.sh tests/run.sh tests/wheel.sh; do
    [ -x "$unpacked/$file" ] || fail "$file cannot be run"
done
if [ -n "${SPROF_TEST_FULL:-}" ]; then
    env GIT_DIR=/nonexistent ninja -C "$unpacked/build" installed >log 2>&1 &&
        plain "$unpacked/build/sprofile" --version && expect_status 0 ||
        fail "it does not build: $(tail -n 5 log)"
fi

section "the Debian package"
if has cpack && has dpkg-deb && has dpkg-shlibdeps; then
    # Packages are made in the folder that the configuration names.
    sed "s|^set(CPACK_PACKAGE_DIRECTORY .*|set(CPACK_PACKAGE_DIRECTORY \"$tmp/package\")|" \
        "$build/CPackConfig.cmake" >CPackConfig.cmake
    (umask 077 && cpack -G DEB --config CPackConfig.cmake) >log 2>&1 ||
        fail "cpack: $(cat log)"
    package=$(echo package/*.deb)
    [ "${package##*/}" = \
        "libsprof_${version}_$(dpkg --print-architecture).deb" ] ||
        fail "it is named $package"
    dpkg-deb -f "$package" >fields
    depends=$(sed -n 's/^Depends: //p' fields)
    folder=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    for name in $(cd "$build" && needed $products); do
        [[ $name != ld-linux-* ]] || continue
        file=$(ldd "$build/sprofile" "$build/libsprof-report.so" |
            awk -v name="$name" '$1 == name { print $3; exit }')
        from=$(dpkg-query -S "*/$folder/$(basename "$(realpath "$file")")" |
            head -n 1 | cut -d: -f1)
        [[ ", $depends," =~ ", $from"[\ ,] ]] ||
            fail "$name is in ${from:-no package}; it depends on $depends"
    done
    grep -qx 'Recommends: binutils' fields || fail "no Recommends"
    dpkg-deb -x "$package" root && dpkg-deb -e "$package" control
    (cd root && md5sum --quiet -c ../control/md5sums) || fail "md5sums"
    ! dpkg-deb -c "$package" | grep -vE '^[-d]rw.r-.r-. root/root ' ||
        fail "owners or modes"
    [ "$(ls root)" = usr ] || fail "it has $(ls root)"
    expect_modes root
    doc=root/usr/share/doc/libsprof
    grep -q '^Format: https://www.debian.org/' $doc/copyright || fail "copyright"
    [ "$(gzip -dc $doc/changelog.gz | head -n 1 | cut -d' ' -f1,2)" = \
        "libsprof ($version)" ] || fail "changelog.gz"
    for file in root/usr/bin/sprofile root/usr/lib*/libsprof*.so; do
        ! readelf -S "$file" | grep -q '\.symtab\|\.debug_' ||
            fail "$file is not stripped"
        ! readelf -d "$file" | grep -q 'RPATH\|RUNPATH' || fail "$file: RPATH"
    done
    if has lintian; then
        # libsprof-report.so is a program, and has archives in it
        # (docs/design.md).
        meant=embedded-library,sharedobject-in-library-directory-missing-soname
        lintian --allow-root --fail-on error --suppress-tags $meant \
            "$package" >log 2>&1 ||
            fail "lintian: $(grep '^E:' log)"
    fi
fi

section "the wheel"
if has python3; then
    mkdir one two
    python3 "$build/wheel.py" one >log || fail "wheel.py"
    (umask 077 && TZ=Asia/Tokyo python3 "$build/wheel.py" two) >log
    wheel=$(echo one/*.whl)
    name=${wheel##*/}
    cmp "$wheel" "two/$name" || fail "another wheel the second time"
    [[ $name =~ ^libsprof-$version-py3-none-manylinux_2_([0-9]+)_$(uname -m).whl$ ]] ||
        fail "it is named $name"
    tag=${BASH_REMATCH[1]}
    # pip checks the hashes of RECORD only for what it is asked to.
    python3 - "$wheel" >log 2>&1 <<'CHECK' || fail "$(cat log)"
import base64, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
info = [n for n in wheel.namelist() if n.endswith("/RECORD")][0]
listed = {}
for line in wheel.read(info).decode().splitlines():
    name, digest, size = line.rsplit(",", 2)
    listed[name] = digest
    if name != info:
        content = wheel.read(name)
        made = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
        assert digest == "sha256=" + made.decode().rstrip("="), name
        assert int(size) == len(content), name
assert sorted(listed) == sorted(wheel.namelist()), "RECORD lists other files"
for entry in wheel.infolist():
    mode = 0o755 if "/bin/" in entry.filename else 0o644
    assert entry.external_attr >> 16 & 0o777 == mode, entry.filename
wheel.extractall("wheel")
CHECK
    info=wheel/libsprof-$version.dist-info
    grep -qx "Tag: py3-none-manylinux_2_${tag}_$(uname -m)" $info/WHEEL ||
        fail "WHEEL: $(cat $info/WHEEL)"
    [ "$(needed wheel/libsprof/bin/libsprof.so)" = libc.so.6 ] ||
        fail "libsprof.so needs $(needed wheel/libsprof/bin/libsprof.so)"
    for file in $(needed wheel/libsprof/bin/* wheel/libsprof/lib/*); do
        case $file in
        libc.so.6 | libm.so.6 | libresolv.so.2 | ld-linux-*) ;;
        *) [ -s "wheel/libsprof/lib/$file" ] || fail "it lacks $file" ;;
        esac
    done
    newest=$(readelf -VW wheel/libsprof/bin/* wheel/libsprof/lib/* |
        grep -o 'Name: GLIBC_2\.[0-9]*' | sort -V | tail -n 1)
    [ "$newest" = "Name: GLIBC_2.$tag" ] || fail "tag $tag, needs $newest"
    readelf -d wheel/libsprof/bin/sprofile |
        grep -qF '(RPATH)              Library rpath: [$ORIGIN/../lib]' ||
        fail "the command's RPATH"
    if has dpkg-query; then
        grep -q '^License: Expat' $info/licenses/libsprof || fail "our licence"
        grep -rql 'Free Software Foundation\|LGPL' $info/licenses ||
            fail "licences"
        [ "$(ls $info/licenses | wc -l)" -gt 10 ] || fail "$(ls $info/licenses)"
    fi
fi

section "RPM, Nix, and the version"
package=$source/src/package
programs_run=$((programs_run + 1))
grep -qxE "Version: +${version//./\\.}" "$package/libsprof.spec" ||
    fail "libsprof.spec has another version"
grep -qxF "  version = \"$version\";" "$package/default.nix" ||
    fail "default.nix has another version"
[ "$(head -n 1 "$package/changelog" | cut -d' ' -f2)" = "($version)" ] ||
    fail "the changelog has another version"
if has rpmspec; then
    [ "$(rpmspec -q --qf '%{name} %{version}\n' "$package/libsprof.spec")" = \
        "libsprof $version" ] || fail "libsprof.spec"
fi
if [ -n "${SPROF_TEST_FULL:-}" ] && has rpmbuild; then
    bash "$package/dist.sh" "$source" "libsprof-$version.tar.gz"
    # What it needs is here as Debian's packages.
    rpmbuild -tb --nodeps --define "_topdir $tmp/rpm" \
        "libsprof-$version.tar.gz" >log 2>&1 ||
        fail "rpmbuild: $(tail -n 5 log)"
    made=$(find rpm/RPMS -name "libsprof-$version-*.rpm")
    rpm -qpl "$made" >files || fail "no package: $(ls rpm/RPMS/*)"
    for file in /bin/sprofile /libsprof.so /libsprof-report.so /include/sprof.h \
        /man1/sprofile.1.gz /doc/libsprof/copyright; do
        grep -q "$file\$" files || fail "the package of RPM lacks $file"
    done
fi
if has nix-instantiate; then
    # All packages that it asks for, as their names.
    cat >packages.nix <<'NIX'
let
  names = [ "bzip2" "cmake" "curl" "elfutils" "libdeflate" "libiberty"
    "libmicrohttpd" "ncurses" "pkg-config" "protobufc" "xz" "zlib" "zstd" ];
in builtins.listToAttrs (map (name: { inherit name; value = name; }) names) // {
  stdenv.mkDerivation = package: package;
  lib.licenses.mit = "MIT";
}
NIX
    NIX_STATE_DIR=$tmp/nix NIX_STORE_DIR=$tmp/store nix-instantiate --eval \
        --strict -E "let p = import $package/default.nix {
            pkgs = import ./packages.nix;
        }; in [ p.nativeBuildInputs p.buildInputs p.meta ]" >out 2>err
    grep -q 'mainProgram = "sprofile"' out || fail "default.nix: $(cat out err)"
fi

finish
