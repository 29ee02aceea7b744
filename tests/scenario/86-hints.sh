#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what `sprofile info` says of frames without names.
# - each hint once, however many files need it;
# - no package is advised for a file that no package has brought, as of a wheel.
. "$(dirname "$0")/lib.sh"

command -v cc >/dev/null || skip "no C compiler"
command -v strip >/dev/null || skip "no strip"
[ -x /usr/bin/python3 ] || skip "no python3"

cat >burn.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) static void
burn(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        sink += i;
}
void
spin(unsigned long count)
{
    burn(count);
    sink++;
}
END
site=venv/lib/python3.11/site-packages
mkdir -p $site/one $site/two
cc -O1 -shared -fPIC -o $site/one/one.so burn.c -Wl,--build-id || fail "cc"
cc -O1 -shared -fPIC -o $site/two/two.so -DOTHER burn.c \
    -Wl,--build-id=0x1234567890abcdef || fail "cc"
strip $site/one/one.so $site/two/two.so
cat >job.py <<'END'
import ctypes, sys, time
spins = [ctypes.CDLL(path).spin for path in sys.argv[1:]]
end = time.thread_time() + 0.4
while time.thread_time() < end:
    for spin in spins:
        spin(ctypes.c_ulong(100000))
END
profile SPROF_OUTPUT="$tmp/p.sprof" /usr/bin/python3 job.py \
    "$tmp/$site/one/one.so" "$tmp/$site/two/two.so"
expect_status 0
plain "$sprofile" info p.sprof
expect_status 0
sed -n '/^frames without names/,$p' out >table
cat table
for name in one two; do
    grep -q "/$name.so \[[0-9]*\]$" table || fail "no row for $name.so"
done
[ "$(grep -E '/(one|two)\.so \[' table | sed 's/.* //' | sort -u |
    wc -l)" -eq 1 ] || fail "two hints for two files of one kind"
number=$(sed -n 's/.*one\.so \[\([0-9]*\)\]$/\1/p' table)
[ "$(grep -cF "  [$number] no package" table)" -eq 1 ] || fail "not that hint"
[ "$(grep -cF 'no package' table)" -eq 1 ] || fail "the hint more than once"
[ "$(grep -cF 'dpkg -S' table)" -le 1 ] || fail "the other hint more than once"

finish
