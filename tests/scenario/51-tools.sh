#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: other tools that look at, replace or check a program, and
# the tools of everyday.
# - under gdb, strace, ltrace and valgrind a profiled program does what it does
#   there without the library; gdb stops where it should and nowhere else;
# - sanitizers find nothing in the profiler, and what they found before;
# - allocators preloaded before and after the library work;
# - servers serve and end on SIGTERM; builds, archives, version control and
#   programs with other rights give what they gave.
# What is not installed is left out; clang and PostgreSQL need SPROF_TEST_FULL=1.
. "$(dirname "$0")/lib.sh"

known=$work/known_stack.o2
settings=(LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded")

# expect_program: the workload's own output is there, whichever tool ran it.
expect_program() {
    expect_status 0
    grep -qx ok out || fail "the program did not print ok"
    ! grep -H '^sprof:' err || fail "the profiler complained"
}

has gdb && {
    commands=()
    for setting in "${settings[@]}"; do
        commands+=(-ex "set environment ${setting/=/ }")
    done
    # What docs/options.md asks users to set.
    commands+=(-ex 'handle SIGPROF nostop noprint pass')
    plain gdb -nx -q -batch "${commands[@]}" -ex 'break leaf_spin' -ex run \
        -ex backtrace -ex finish -ex next -ex continue --args "$known" 300
    expect_program
    for line in 'Breakpoint 1, leaf_spin' '#6 .* main ' \
        'exited normally'; do
        grep -q "$line" out || fail "gdb does not say \"$line\""
    done
    ! grep -E 'SIG(TRAP|PROF)' out err | grep -v '^out:SIGPROF .*No' ||
        fail "gdb saw a signal of ours"
    expect_samples 20 p.folded
    rm -f p.folded
}

has strace && {
    plain strace -f -o trace env "${settings[@]}" "$known" 200
    expect_program
    expect_samples 10 p.folded
    ! grep -qe '--- SIGTRAP' trace || fail "SIGTRAP under strace"
    rm -f p.folded
    # Preloaded into strace itself, too, which forks, traces and waits.
    mkdir both
    for hz in $rates; do
        plain env LD_PRELOAD="$library" SPROF_COST=off SPROF_FREQUENCY="$hz" \
            SPROF_OUTPUT="$tmp/both/%e.%p.folded" strace -f -o trace "$known" 200
        expect_program
    done
}

# Not with -f: what it holds back it sends again as another signal.
has ltrace && {
    plain ltrace -o trace env "${settings[@]}" "$known" 100
    expect_program
    rm -f p.folded
}

has valgrind && {
    # Without --trace-children only valgrind's launcher would be followed. What
    # "auto" picks there is a timer.
    for trigger in auto:timer ask:ask; do
        plain env "${settings[@]}" SPROF_OUTPUT="$tmp/v.sprof" \
            SPROF_TRIGGER=${trigger%:*} SPROF_COST=off SPROF_FREQUENCY=10000 \
            valgrind -q --fair-sched=yes --error-exitcode=99 "$known" 2000
        expect_program
        "$sprofile" info v*.sprof >v.info
        grep -q "^triggers .*${trigger#*:} [1-9]" v.info ||
            fail "no samples under valgrind, $trigger: $(cat v.info)"
        rm v*.sprof
    done
    # By name there is no other trigger: a clear line, and no profile. It lasts
    # until the sampler has had its turn of valgrind's lock.
    plain valgrind -q --fair-sched=yes --trace-children=yes \
        env "${settings[@]}" SPROF_TRIGGER=perf "$known" 1000
    expect_status 0
    expect_note SPROF_TRIGGER
}

# Threads, exceptions, allocations and locks; and with an argument a fault
# that each sanitizer finds.
cat >threads.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
static std::mutex lock;
static long total;
static void work(int n)
{
    for (int i = 0; i < 8000; i++) {
        std::vector<int> v(100 + i % 50);
        v[i % 100] = n;
        try {
            if (i % 50 == 0)
                throw std::runtime_error("caught");
        } catch (std::exception &) {
        }
        std::lock_guard<std::mutex> hold(lock);
        total += v[i % 100];
    }
}
int main(int argc, char **)
{
    for (int round = 0; round < 20; round++) {
        std::vector<std::thread> all;
        for (int i = 0; i < 4; i++)
            all.emplace_back(work, i);
        for (auto &one : all)
            one.join();
    }
    printf("%ld\n", total);
    if (argc > 1) {
        volatile int *bad = (int *)malloc(argc * sizeof(int));
        bad[argc] = 1;
        bad = nullptr;
    }
    puts("ok");
}
C
# sanitized COMPILER KIND [FLAG...]: the program is found clean at both rates.
sanitized() {
    local compiler=$1 kind=$2 first=
    shift 2
    "$compiler" -std=c++17 -O1 -g "-fsanitize=$kind" "$@" -pthread threads.cc \
        -o "threads.$kind" 2>compile.err || {
        echo "   no $kind here"
        return
    }
    # A sanitizer that is a library wants to stand first, and says so.
    [ "$compiler$kind$*" != g++address ] ||
        first=$(g++ -print-file-name=libasan.so):
    for hz in $rates; do
        plain env LD_PRELOAD="$first$library" SPROF_OUTPUT="$tmp/p.folded" \
            SPROF_COST=off SPROF_FREQUENCY="$hz" "./threads.$kind"
        expect_program
        ! grep -H Sanitizer err || fail "$compiler $kind at $hz Hz"
        expect_samples 20 p.folded
        rm -f p.folded
    done
}
has g++ && {
    for kind in thread undefined leak; do
        sanitized g++ $kind
    done
    # TSan ends a child that makes a thread.
    cat >forks.cc <<'C'
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main()
{
    int status = 0;
    volatile long sum = 0;
    for (long i = 0; i < 100000000; i++)
        sum = sum + i;
    if (fork() == 0) {
        for (long i = 0; i < 100000000; i++)
            sum = sum + i;
        _exit(3);
    }
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
}
C
    if g++ -O1 -fsanitize=thread forks.cc -o forks 2>compile.err; then
        plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.folded" ./forks
        expect_status 0
        grep -qx 'child 3' out || fail "TSan ended the child: $(cat err)"
        expect_samples 20 p.folded
        rm -f p.folded
    fi
    sanitized g++ address -static-libasan
    sanitized g++ address
    [ ! -e threads.address ] || {
        asan=$(g++ -print-file-name=libasan.so)
        plain env LD_PRELOAD="$asan:$library" SPROF_OUTPUT="$tmp/p.folded" \
            ./threads.address fault
        expect_status 1
        grep -q heap-buffer-overflow err || fail "ASan found no fault"
        plain env "${settings[@]}" ./threads.address
        grep -q 'ASan runtime does not come first' err ||
            fail "ASan did not ask to come first"
    }
}
[ -z "${SPROF_TEST_FULL:-}" ] || { has clang++ && {
    for kind in address thread undefined; do
        sanitized clang++ $kind
    done
}; }

# allocator LIBRARY: before us and after us.
allocator() {
    local path order
    path=$(ldconfig -p | sed -n "s/.*$1.* => //p" | head -n 1)
    [ -n "$path" ] || { lacks "$1" "not installed"; return; }
    part "$1"
    for order in "$path:$library" "$library:$path"; do
        for hz in $rates; do
            plain env LD_PRELOAD="$order" SPROF_COST=off SPROF_FREQUENCY="$hz" \
                SPROF_OUTPUT="$tmp/p.wall.folded" ./threads
            expect_program
            expect_samples 20 p.wall.folded
            rm -f p.wall.folded
        done
    done
}
has g++ && g++ -std=c++17 -O1 -g -pthread threads.cc -o threads && {
    for name in libjemalloc libtcmalloc_minimal libmimalloc; do
        allocator $name
    done
}

# ended_by PID SIGNAL: sends it, and gives the status once it has ended.
ended_by() {
    local begun=$SECONDS
    kill "-$2" "$1"
    while kill -0 "$1" 2>/dev/null && [ $((SECONDS - begun)) -lt "$deadline" ]; do
        sleep 0.1
    done
    ! kill -0 "$1" 2>/dev/null || {
        fail "process $1 did not end on SIG$2"
        kill -KILL "$1"
    }
    status=0
    wait "$1" || status=$?
}

mkdir servers
served=(LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/servers/%e.%p.folded"
    SPROF_COST=off SPROF_FREQUENCY=10000)

# expect_server NAME: it ended as it does without the library, has no message
# of ours, and left a profile.
expect_server() {
    [ "$status" -eq 0 ] || fail "$1 ended with $status"
    ! grep -H '^sprof:' server.log || fail "the profiler complained in $1"
    compgen -G "servers/$1*.folded" >/dev/null || fail "no profile of $1"
}

has redis-server && has redis-cli && {
    env "${served[@]}" redis-server --port 0 --unixsocket "$tmp/redis.sock" \
        --dir "$tmp" --save '' >server.log 2>&1 &
    server=$!
    until_true redis-cli -s redis.sock ping
    for command in 'set a 1' 'incr a' 'bgsave' 'get a'; do
        # shellcheck disable=SC2086
        redis-cli -s redis.sock $command
    done >answers
    redis-cli -s redis.sock eval \
        'local s = 0 for i = 1, 1e6 do s = (s + i) % 7 end return s' 0 >>answers
    [ "$(tail -n 1 answers)" = 1 ] && grep -qx 2 answers ||
        fail "redis answered: $(cat answers)"
    until_true test -s dump.rdb
    ended_by $server TERM
    expect_server redis
}

nginx=$(PATH=$PATH:/usr/sbin command -v nginx || echo nginx)
has "$nginx" && has curl && {
    seq 1 100000 >index.html
    cat >nginx.conf <<P
worker_processes 2;
daemon off;
error_log $tmp/nginx.log;
pid $tmp/nginx.pid;
events { }
http {
    access_log off;
    gzip on; gzip_types text/html text/plain;
    client_body_temp_path $tmp/a; proxy_temp_path $tmp/b;
    fastcgi_temp_path $tmp/c; uwsgi_temp_path $tmp/d; scgi_temp_path $tmp/e;
    server { listen unix:$tmp/nginx.sock; root $tmp; }
}
P
    chmod 755 "$tmp"
    env "${served[@]}" "$nginx" -c "$tmp/nginx.conf" >server.log 2>&1 &
    server=$!
    get() {
        curl -sf --compressed --unix-socket nginx.sock http://here/index.html
    }
    until_true get
    for i in 1 2 3 4 5 6 7 8 9 10; do
        get | cmp - index.html || fail "nginx served something else"
    done
    # New workers; the old ones end.
    before=$(pgrep -P $server)
    kill -HUP $server
    until_true eval '! pgrep -P $server | grep -qxF "$before"'
    get | cmp - index.html || fail "nginx served something else"
    ended_by $server QUIT
    expect_server nginx
}

postgres=$(compgen -G '/usr/lib/postgresql/*/bin' | tail -n 1)
[ -n "${SPROF_TEST_FULL:-}" ] && [ "$(id -u)" -eq 0 ] && [ -n "$postgres" ] && {
    part "$postgres"
    mkdir pg servers/pg
    chmod 755 "$tmp" servers
    chown -R postgres pg servers/pg
    as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
    as_postgres "$postgres/initdb" -D pg/data >/dev/null || fail initdb
    # Not by the function: the pid is to be the server's.
    setpriv --reuid postgres --regid postgres --clear-groups \
        env LD_PRELOAD="$library" SPROF_COST=off SPROF_FREQUENCY=10000 \
        SPROF_OUTPUT="$tmp/servers/pg/%e.%p.folded" "$postgres/postgres" \
        -D "$tmp/pg/data" -k "$tmp/pg" -h '' >server.log 2>&1 &
    server=$!
    query() { as_postgres psql -h "$tmp/pg" -tA -c "$1" postgres; }
    until_true query 'select 1'
    as_postgres "$postgres/pgbench" -h "$tmp/pg" -i -q postgres 2>/dev/null
    as_postgres "$postgres/pgbench" -h "$tmp/pg" -c 4 -T 5 postgres \
        >bench 2>&1 || fail "pgbench failed"
    grep -q 'number of failed transactions: 0 ' bench ||
        fail "transactions failed"
    [ "$(query 'select count(*) from pgbench_accounts')" = 100000 ] ||
        fail "rows are missing"
    ended_by $server TERM
    [ "$status" -eq 0 ] || fail "postgres ended with $status"
    ! grep '^sprof:' server.log || fail "the profiler complained in postgres"
    [ "$(find servers/pg -name '*.folded' | wc -l)" -ge 5 ] ||
        fail "no profiles of postgres and its processes"
}

# Many short processes. What they make is the same.
mkdir many
follow=SPROF_OUTPUT=$tmp/many/%e.%p.folded
has make && has gcc && {
    cat >Makefile <<'P'
all: prog
	@./prog
prog: a.o b.o c.o d.o
	@gcc -o $@ $^
%.o: %.c
	@gcc -O2 -c -o $@ $<
P
    for name in a b c d; do
        { echo '#include <stdio.h>'
        for i in $(seq 300); do
            echo "int ${name}_$i(int x) { return x * $i + x % ($i + 1); }"
        done; } >$name.c
    done
    echo 'int main(void) { printf("%d\n", a_300(7)); return 0; }' >>d.c
    sed -i '1a int a_300(int x);' d.c
    expect_same "$follow" sh -c 'rm -f *.o prog; make -s -j4 && cksum prog'
}
has git && {
    cat >history.sh <<'P'
rm -rf repo; git init -q repo; cd repo || exit 1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2000-01-01T00:00:00Z'
export GIT_COMMITTER_DATE='2000-01-01T00:00:00Z' HOME=$PWD
for i in 1 2 3 4; do
    seq 1 "${i}000" >numbers; git add numbers; git commit -qm "$i"
done
git gc -q; git clone -q . ../repo/copy; git -C copy log --stat --format=%H
git fsck; git grep -c 99; git blame numbers | tail -n 2
P
    expect_same "$follow" sh history.sh
}
has tar && expect_same "$follow" sh -c 'tar cJf a.tar.xz [a-d].c --mtime=@0 \
    --owner=0 --group=0 && cksum a.tar.xz && tar xJOf a.tar.xz | cksum'
has curl && expect_same "$follow" curl -s "file://$tmp/d.c"
has sqlite3 && expect_same "$follow" sqlite3 :memory: \
    'with recursive n(i) as (select 1 union all select i + 1 from n where
    i < 100000) select sum(i % 7) from n;'
has apt-get && {
    expect_same "$follow" apt-get --version
    expect_same "$follow" apt-cache policy bash
    expect_same "$follow" apt-get -s -q install bash
}

# Other rights: what runs with them is not profiled, what follows may be, but
# where the directory is closed to it. Nothing of it may hinder the program.
[ "$(id -u)" -ne 0 ] || {
    chmod 755 "$tmp"
    for tool in su sudo; do
        has $tool || continue
        case $tool in
        su) set -- su -s /bin/sh nobody -c 'id -un; exit 3' ;;
        sudo) set -- sudo -n -u nobody sh -c 'id -un; exit 3' ;;
        esac
        plain "$@"
        mv out out.plain
        [ "$status" -eq 3 ] || { echo "   cannot be used here"; continue; }
        plain env LD_PRELOAD="$library" "$follow" "$@"
        [ "$status" -eq 3 ] || fail "$tool ended with $status"
        cmp -s out out.plain || fail "other output of $tool"
        # One that was sampled before it changed its user leaves its spool.
        grep -vE '^sprof: .*(not profiling|the samples are kept; .*)$' err &&
            fail "other messages of $tool"
    done
}

finish
