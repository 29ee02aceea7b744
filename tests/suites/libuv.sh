# SPDX-License-Identifier: MIT
#
# libuv.sh -- the tests of libuv, an event loop: signals, processes, threads,
# timers, sockets. A case is a test, run in its own process.
uv=$sources/libuv1/build/uv_run_tests_a
[ "$(id -u)" -ne 0 ] ||
    as_user=(setpriv --reuid nobody --regid nogroup --clear-groups)

suite_ready() {
    [ ! -x "$uv" ] || return 0
    [ -n "$full" ] || { echo "libuv is not built here"; return 1; }
    get_source libuv1 || return 1
    (cd "$sources/libuv1" && cmake -S . -B build -DBUILD_TESTING=ON &&
        cmake --build build -j "$(nproc)" --target uv_run_tests_a) \
        >"$sources/libuv1/build.log" 2>&1 || {
        echo "libuv does not build: $sources/libuv1/build.log"
        return 1
    }
}

suite_cases() {
    "${as_user[@]}" "$uv" --list | if [ -z "$1" ]; then
        grep -xE 'signal_.*|loop_(stop|alive)|spawn_(exit_code|stdin)'
    else
        grep -xE '[a-z0-9_]+'
    fi
}

suite_run() {
    local status=0
    under_deadline=90
    cp -r "$sources/libuv1/test" . 2>/dev/null
    under "$uv" "$1" || status=$?
    say_status "$1" "$status"
    # What it left out, and why.
    sed -n 's/^ok [0-9]* - \([a-z0-9_]*\) # SKIP.*/\1 skipped/p' log
}
