# SPDX-License-Identifier: MIT
#
# cpython.sh -- CPython's own tests: a case is a module of its package "test"
# (Debian: libpython3.N-testsuite). They are for the system's python3, or for
# the one that TEST_PYTHON names.
python=$(command -v "${TEST_PYTHON:-/usr/bin/python3}")

suite_ready() {
    local version
    [ -x "$python" ] || { echo "python3 is not installed"; return 1; }
    "$python" -c 'import test.test_queue' 2>/dev/null && return 0
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ -n "$full" ] && [ "$(id -u)" -eq 0 ] && {
        apt-get update -qq && apt-get install -y -qq \
            --no-install-recommends "libpython$version-testsuite"
    } >/dev/null 2>&1 && return 0
    echo "libpython$version-testsuite is not installed"
    return 1
}

suite_cases() {
    local quick='thread threadsignals'
    local all="$quick wait3 fork1 queue wait4 pty select signal faulthandler threading
        threading_local threadedtempfile thread_local_bytecode subprocess
        asyncio posix os eintr selectors mmap resource time io fileio socket
        socketserver ssl concurrent_futures multiprocessing_fork
        multiprocessing_spawn multiprocessing_forkserver
        multiprocessing_main_handling sys sysconfig tracemalloc gc
        generators exceptions traceback epoll poll kqueue asyncore
        popen cmd_line ctypes dbm sqlite3 lzma bz2 zlib hashlib json pickle
        contextlib memoryio shutil tempfile glob
        getpass pwd grp signal_wakeup sched timeout timeit
        import importlib embed capi gdb frame code coroutines interpreters
        _interpreters _xxsubinterpreters sys_settrace sys_setprofile
        cprofile monitoring"
    local name
    for name in $([ -z "$1" ] && echo "$quick" || echo "$all"); do
        "$python" -c "import importlib.util, sys
sys.exit(not importlib.util.find_spec('test.test_$name'))" 2>/dev/null &&
            echo "test_$name"
    done
}

suite_run() {
    local status=0
    under_deadline=1200
    # A virtual machine's socket to its host may wait for that for ever.
    under "$python" -m test --junit-xml results.xml --tempdir . \
        -u subprocess --ignore '*VSOCK*' "$1" || status=$?
    say_status "$1" "$status"
    [ ! -e results.xml ] || "$python" - <<'P'
import xml.etree.ElementTree as tree
for case in tree.parse("results.xml").iter("testcase"):
    kinds = sorted({part.tag for part in case
                    if part.tag in ("failure", "error", "skipped")})
    name = case.get("name").replace(" ", "_")
    print(name, "+".join(kinds) or case.get("result") or "passed")
P
}
