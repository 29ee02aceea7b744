#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what the library does with signals changes nothing for
# other processes, and for the program's own use of them. Each section names its
# goals.
. "$(dirname "$0")/lib.sh"

# A child that shares the table of signal handlers outlives its parent, and gets
# its signals. Children that are started while their parent ends ignore nothing
# that the parent handles.
section "the table of dispositions"

for way in quick exit thread fork vfork spawn; do
    expect_same "$work/shared_handlers" $way
    grep -qx ok out || fail "$way: $(cat out)"
    rm -f p.*
done

# A program that uses SIGPROF and all other numbers from 36, or all of the C
# library, gets each of them: by its handler, and where it waits.
section "no number is left"

for first in 34 36; do
    for way in '' waiter; do
        expect_same "$work/takes_all_numbers" $first $way
        [ "$(cat out)" = ok ] || fail "from $first $way: $(cat out)"
        rm -f p.*
    done
done

# Events of perf that the program opens itself (SIGTRAP) all reach its handler.
section "SIGTRAP of the program's own events"

expect_same "$work/own_events"
grep -qxE 'ok|none' out || fail "own events: $(cat out)"

# A tracer sees the signals that its child sends to itself, and no other.
section "a traced child"

expect_same "$work/traced_signals" 1
[ "$(cat out)" = ok ] || fail "traced child: $(cat out)"

# The leak sanitizer stops all threads of a forked child, and misses none.
section "the leak sanitizer"

cat >forks.c <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(void)
{
    for (int i = 0; i < 3; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            exit(3);
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
            return 1;
    }
    return 0;
}
EOF
# The library of the address sanitizer wants to stand first.
for flags in -fsanitize=leak '-fsanitize=address -static-libasan'; do
    # shellcheck disable=SC2086
    if gcc -O1 $flags forks.c -o forks 2>err; then
        part "$flags"
        expect_same ./forks
        expect_status 0
        rm -f p.*
    else
        lacks "$flags" "$(head -n 1 err)"
    fi
done

finish
