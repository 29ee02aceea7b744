#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes the wheels and tries them: that of this build, and that of the cross build
# for aarch64 (tests/aarch64/run.sh) where that is there.
#
#   tests/wheel.sh     (the wheels are in build/ and build/aarch64/ afterwards)
#
# Goals of this test: pip brings the profiler to those who have only Python.
# - auditwheel finds the tag that each wheel has, or an older one;
# - in a fresh environment the command comes with all libraries that it needs;
# - it profiles, and `python -m libsprof` is the same command;
# - the profiled program does not notice that Python ran before it.
#
# Needs alone: aarch64-tree
if [ -z "${SPROF_BUILD:-}" ]; then
    root=$(cd "$(dirname "$0")/.." && pwd)
    [ -e "$root/build/CMakeCache.txt" ] ||
        cmake -S "$root" -B "$root/build" || exit 1
    cmake --build "$root/build" --target wheel --parallel "$(nproc)" || exit 1
fi
. "$(dirname "$0")/scenario/lib.sh"
[ -e "$build/wheel/sprofile" ] || skip "the wheel's command is not built"
command -v python3 >/dev/null || skip "no python3"
python3 -m venv --help >/dev/null 2>&1 || skip "python3 has no venv"

# new_environment FOLDER PACKAGE...: a fresh one with these, into log.
new_environment() {
    python3 -m venv "$1" >log 2>&1 &&
        timeout 300 "$1/bin/pip" install --disable-pip-version-check -q \
            "${@:2}" >>log 2>&1
}

# Those of another version or libc would be in the way of pip.
rm -f "$build"/libsprof-*.whl
wheel=$(python3 "$build/wheel.py" "$build") || fail "no wheel"
wheels=("$wheel")
if [ -e "$build/aarch64/tree/wheel/sprofile" ]; then
    other=$(python3 "$build/aarch64/tree/wheel.py" "$build/aarch64") ||
        fail "no wheel for aarch64"
    wheels+=("$other")
else
    lacks aarch64 "tests/aarch64/run.sh builds it"
fi

# auditwheel prints the tag that it finds in quotes.
if new_environment judge auditwheel; then
    for file in "${wheels[@]}"; do
        part "auditwheel: ${file##*/}"
        judge/bin/auditwheel show "$file" >out 2>err ||
            fail "auditwheel: $(tail -n 3 err)"
        least=$(tr -s '\n ' '  ' <out |
            grep -oE 'platform tag: "manylinux_2_[0-9]+' | grep -oE '[0-9]+$')
        given=$(grep -oE 'manylinux_2_[0-9]+' <<<"$file" | grep -oE '[0-9]+$')
        [ -n "$least" ] && [ "$least" -le "$given" ] ||
            fail "${file##*/}: auditwheel finds: $(cat out)"
    done
else
    lacks auditwheel "$(tail -n 1 log)"
fi

part pip
new_environment fresh --no-index "$wheel" || fail "pip: $(tail -n 3 log)"
package=$(echo fresh/lib/python3*/site-packages/libsprof)
# Whatever the system has: each library that is not the C library's is the
# package's own.
ldd "$package/bin/sprofile" | grep '=>' | grep -vF "=> $tmp/$package/" |
    grep -vE '^\s*(libc|libm|libdl|libpthread|librt|libresolv)\.so' >foreign
[ ! -s foreign ] || fail "libraries of the system: $(cat foreign)"

cat >app.py <<'END_OF_APP'
import os, sys, time
status = open("/proc/self/status").read().split("SigIgn:\t")[1].split()[0]
print(status, "LC_CTYPE" in os.environ, *sys.argv[1:])
end = time.process_time() + 0.5
while time.process_time() < end:
    sum(range(1000))
END_OF_APP
sprofile=fresh/bin/sprofile
plain $sprofile --version
expect_status 0
[[ $(cat out) = *"$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' \
    "$build/CMakeCache.txt")"* ]] || fail "--version: $(cat out)"
# A shell shows what Python's start would have changed: CPython itself ignores
# SIGPIPE again.
for command in "$build/sprofile" $sprofile "fresh/bin/python -m libsprof"; do
    # shellcheck disable=SC2086
    plain env -u LC_ALL -u LANG -u LC_CTYPE $command record -o s.folded -- \
        bash -c 'grep "^Sig[BI]" /proc/$$/status; echo "${LC_CTYPE-unset}"'
    expect_status 0
    head -n 3 out >seen
    [ -e direct ] || cp seen direct
    cmp -s direct seen || fail "$command: it sees Python: $(diff direct seen)"
done
plain $sprofile record -o p.sprof,p.folded -- fresh/bin/python app.py a "b c"
expect_status 0
grep -q ' a b c$' out || fail "the program's output: $(cat out)"
expect_samples 50 p.folded
plain fresh/bin/python -m libsprof report p.sprof
expect_status 0
grep -q '^samples' out || fail "report: $(cat out)"
plain fresh/bin/python -m libsprof flame -o p.html p.sprof
expect_status 0
[ -s p.html ] || fail "no page"
library=$(fresh/bin/python -c 'import libsprof; print(libsprof.LIBRARY)')
rm -f p.folded
profile fresh/bin/python app.py
expect_samples 50 p.folded
[ -e "$(fresh/bin/python -c 'import libsprof; print(libsprof.INCLUDE)')/sprof.h" ] ||
    fail "no sprof.h"

# `sprofile push` needs the most libraries: it says that nobody listens.
plain timeout 5 $sprofile push --otlp http://127.0.0.1:1 --interval 1
! grep -q 'this build has no' err || fail "push: $(cat err)"
fresh/bin/pip uninstall -q -y libsprof >log 2>&1
[ ! -e $sprofile ] && [ ! -e "$package" ] || fail "pip left something"

finish
