#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel.py -- makes the wheel of this build: `cmake --build build --target wheel`.

    wheel.py FOLDER

CMake puts a copy of this file into the build tree, with the facts of the build in
it. The wheel has the command, both libraries, the header, and the shared libraries
that the command needs, with their licences. The command finds these by its
RPATH, and what it starts does not. The C library is the system's own.

The tag is manylinux_2_N: N is the lowest for which glibc 2.N has all versions of
symbols that anything in the wheel needs (PEP 600). The same build gives the same
bytes: names are sorted, and times are those that zip begins with.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

VERSION = "@PROJECT_VERSION@"
MACHINE = "@machine@"
SOURCE = "@CMAKE_SOURCE_DIR@"
BUILD = "@CMAKE_BINARY_DIR@"
COMPILER = "@CMAKE_C_COMPILER@"
SYSROOT = "@CMAKE_SYSROOT@"
READELF = "@CMAKE_READELF@"
STRIP = "@CMAKE_STRIP@"

# What glibc and gcc bring: each system has them, and they fit one another.
PROVIDED = re.compile(r"(libc|libm|libdl|libpthread|librt|libresolv|libutil"
                      r"|libgcc_s|ld-linux-.*)\.so\.\d+$")
DIST_INFO = f"libsprof-{VERSION}.dist-info"
METADATA = f"""\
Metadata-Version: 2.1
Name: libsprof
Version: {VERSION}
Summary: A sampling profiler that runs inside the program: CPU and wall time
License: MIT
Requires-Python: >=3.6
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Description-Content-Type: text/markdown

# libsprof

    sprofile record -- python app.py     # a profile of the program and its children
    sprofile top PID                     # what a process does now

CPU time and wall time of all threads, with complete stacks of C, C++, Rust and
Python, without privileges. `sprofile help` tells the rest; `python -m libsprof` is
the same command. To preload the library by hand:

    LD_PRELOAD=$(python -c 'import libsprof; print(libsprof.LIBRARY)') ./app

The libraries in `libsprof/lib` have licences of their own, which are in the
metadata of the wheel.
"""


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL="C")).stdout


def dynamic(path):
    """The libraries that an ELF file needs, and the N of its glibc 2.N."""
    text = output(READELF, "-dVW", path).decode()
    versions = [int(n) for n in re.findall(r"Name: GLIBC_2\.(\d+)", text)]
    # Relative relocations in short: glibc 2.36 is the first to apply them.
    if "GLIBC_ABI_DT_RELR" in text:
        versions.append(36)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text), max(versions, default=0)


def find(name):
    """Where the compiler finds a library."""
    root = [f"--sysroot={SYSROOT}"] if SYSROOT else []
    path = output(COMPILER, *root, f"-print-file-name={name}").decode().strip()
    if not os.path.isabs(path):
        sys.exit(f"wheel.py: {COMPILER} finds no {name}")
    return os.path.realpath(path)


def closure(products):
    """All libraries that PRODUCTS need, by name, and the N of glibc 2.N."""
    libraries, glibc, left = {}, 0, list(products)
    while left:
        needed, version = dynamic(left.pop())
        glibc = max(glibc, version)
        for name in needed:
            if name not in libraries and not PROVIDED.match(name):
                libraries[name] = find(name)
                left.append(libraries[name])
    return libraries, glibc


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def stripped(path):
    with tempfile.NamedTemporaryFile() as file:
        output(STRIP, "-o", file.name, path)
        return read(file.name)


def licence(path):
    """The package of a library and its copyright file, as Debian keeps it."""
    try:
        found = output("dpkg-query", "-S",
                       "*-linux-gnu/" + os.path.basename(path))
        package = found.decode().split(":")[0]
        return package, read(SYSROOT + "/usr/share/doc", package, "copyright")
    except (OSError, subprocess.CalledProcessError):
        sys.stderr.write(f"wheel.py: {path}: its licence was not found\n")
        return None


def members():
    """Each file of the wheel: name, content, and whether it is a program."""
    products = [os.path.join(BUILD, name) for name in
                ("wheel/sprofile", "libsprof.so", "libsprof-report.so")]
    libraries, glibc = closure(products)
    # Nothing would lead it to libraries of the wheel.
    needed = closure(products[1:])[0]
    if needed:
        sys.exit(f"wheel.py: libsprof-report.so needs {', '.join(needed)}; "
                 "expected a build with SPROF_REPORT_ARCHIVES=ON")
    tag = f"py3-none-manylinux_2_{glibc}_{MACHINE}"
    files = {}
    for path in products:
        files["libsprof/bin/" + os.path.basename(path)] = stripped(path)
    for name, path in libraries.items():
        files["libsprof/lib/" + name] = read(path)
        package, text = licence(path) or (None, None)
        if package:
            files[f"{DIST_INFO}/licenses/{package}"] = text
    for name in ("__init__.py", "__main__.py"):
        files["libsprof/" + name] = read(SOURCE, "src/package/python", name)
    files["libsprof/include/sprof.h"] = read(SOURCE, "include/sprof.h")
    files[f"{DIST_INFO}/licenses/libsprof"] = read(SOURCE,
                                                   "src/package/copyright")
    files[f"{DIST_INFO}/METADATA"] = METADATA.encode()
    files[f"{DIST_INFO}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: libsprof ({VERSION})\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n").encode()
    files[f"{DIST_INFO}/entry_points.txt"] = (
        b"[console_scripts]\nsprofile = libsprof.__main__:main\n")
    return files, tag


def write(folder):
    files, tag = members()
    record = f"{DIST_INFO}/RECORD"
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
        lines.append(f"{name},sha256={digest.decode().rstrip('=')},"
                     f"{len(content)}\n")
    files[record] = "".join(lines + [f"{record},,\n"]).encode()
    path = os.path.join(folder, f"libsprof-{VERSION}-{tag}.whl")
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
        # The metadata last, as the specification of wheels advises.
        for name in sorted(files, key=lambda name: (DIST_INFO in name, name)):
            entry = zipfile.ZipInfo(name)
            is_program = name.startswith("libsprof/bin/")
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, files[name], compresslevel=6)
    os.rename(path + ".part", path)
    print(path)


if len(sys.argv) != 2:
    sys.exit(__doc__.split("\n\n")[1])
write(sys.argv[1])
