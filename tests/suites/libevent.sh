# SPDX-License-Identifier: MIT
#
# libevent.sh -- the tests of libevent, an event loop with every way of waiting
# (epoll, poll, select). A case is a group of tests.
event=$sources/libevent/build/bin/regress

suite_ready() {
    [ ! -x "$event" ] || return 0
    [ -n "$full" ] || { echo "libevent is not built here"; return 1; }
    get_source libevent || return 1
    (cd "$sources/libevent" && cmake -S . -B build \
        -DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_MBEDTLS=ON \
        -DCMAKE_BUILD_TYPE=Release -DEVENT__LIBRARY_TYPE=STATIC &&
        cmake --build build -j "$(nproc)" --target regress) \
        >"$sources/libevent/build.log" 2>&1 || {
        echo "libevent does not build: $sources/libevent/build.log"
        return 1
    }
}

suite_cases() {
    if [ -z "$1" ]; then
        echo signal
        return
    fi
    "$event" --list-tests | sed -n 's|^ *\([a-z_]*\)/.*|\1|p' | sort -u
}

suite_run() {
    local status=0
    under_deadline=600
    under "$event" "$1/.." || status=$?
    say_status "$1" "$status"
    # A test that depends on the time is tried again; the last result counts.
    awk '/^[a-z_]+\/[A-Za-z0-9_]+: / { name = $1; sub(":", "", name) }
        match($0, /(OK|SKIPPED|DISABLED|FAILED)/) && name != "" {
            result[name] = substr($0, RSTART, RLENGTH)
        }
        END { for (name in result) print name, result[name] }' log
}
