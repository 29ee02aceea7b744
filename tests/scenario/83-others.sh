#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: programs that the library cannot be in, or that go on
# without it, are left unharmed, and the user learns of it.
. "$(dirname "$0")/lib.sh"

# What is profiled: 0.3 s of CPU time.
burn='import time
end = time.thread_time() + 0.3
while time.thread_time() < end:
    sum(range(1000))'

# Goals:
# - a program with musl's dynamic linker runs as without the library, by
#   whatever call it was started;
# - what it starts has the library again;
# - other paths in LD_PRELOAD stay.
section "a program of musl"

cat >musl.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    const char *preload = getenv("LD_PRELOAD");
    printf("musl %s\n", preload != NULL ? preload : "none");
    fflush(stdout);
    words += count > 1 && strstr(words[1], "script") != NULL ? 2 : 1;
    if (words[0] != NULL)
        execvp(words[0], words);
    return 3;
}
END
if has musl-gcc && musl-gcc musl.c -o musl; then
    mkdir deep
    cp musl deep/found_by_path
    printf '#!%s\n' "$tmp/musl" >script
    chmod +x script
    for way in posix_spawn posix_spawnp vfork execv execvp execlp fexecve \
        execveat syscall
    do
        profile "$work/starts_program" "$way" "$tmp/musl"
        expect_status 3
        [ ! -s err ] || fail "$way: $(head -n 2 err)"
        grep -q '^musl ' out || fail "$way: it did not run"
    done
    for way in execvp execlp posix_spawnp; do
        profile PATH="/nowhere:$tmp/deep:$PATH" "$work/starts_program" "$way" \
            found_by_path
        expect_status 3
    done
    profile "$work/starts_program" execv "$tmp/script" /bin/true
    expect_status 0
    grep -q '^musl ' out || fail "no script is run: $(cat err)"
    profile LD_PRELOAD="$library /nowhere/other.so:$library" \
        "$work/starts_program" execv "$tmp/musl"
    expect_status 3
    grep -q '[ :]/nowhere/other.so:' out || fail "another library: $(cat out)"
    # A path that musl could not be made to ignore is not there at all.
    (cd "$build" && plain env LD_PRELOAD=./libsprof.so \
        SPROF_OUTPUT="$tmp/p.folded" "$work/starts_program" execv "$tmp/musl")
    grep -qx 'musl ' "$build/out" && rm -f "$build/out" "$build/err" ||
        fail "a relative path: $(cat "$build/out")"
    rm -f p*
    profile "$work/starts_program" execv "$tmp/musl" \
        /usr/bin/python3 -c "$burn"
    expect_status 0
    cat p*.folded >all.folded
    expect_share 60 '<string>' all.folded ||
        fail "what a program of musl starts is not profiled"

    plain "$sprofile" record -o m.folded -- sh -c './musl; exit $?'
    expect_status 3
    ! grep relocating err || fail "record: $(head -n 2 err)"
    plain "$sprofile" record -o m.folded -- ./musl /usr/bin/python3 -c "$burn"
    expect_status 0
    grep -qx 'sprof: ./musl is linked with musl, not glibc: only programs that it starts are recorded' err ||
        fail "record: $(head -n 2 err)"
    expect_samples 100 m.folded
fi

# Goals:
# - a dynamic linker that is given a program is recorded with it;
# - a static program is run, and what it starts is recorded;
# - one that starts nothing leaves no profile, and a line says why.
section "programs without a dynamic linker"

linker=$(readelf -l /usr/bin/python3 |
    sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
plain "$sprofile" record -o l.folded -- "$linker" /usr/bin/python3 -c "$burn"
expect_status 0
expect_samples 100 l.folded
! grep 'only programs' err || fail "the linker is taken for a static program"
cat >init.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    int status = 0;
    if (count < 2)
        return 0;
    if (fork() == 0) {
        execv(words[1], words + 1);
        _exit(9);
    }
    wait(&status);
    return WEXITSTATUS(status);
}
END
if cc -static init.c -o init 2>cc.err; then
    plain "$sprofile" record -o s.folded -- ./init /usr/bin/python3 -c "$burn"
    expect_status 0
    grep -qx 'sprof: ./init is statically linked: only programs that it starts are recorded' err ||
        fail "no word: $(head -n 2 err)"
    expect_samples 100 s.folded
    plain "$sprofile" record -q -o s.folded -- ./init /usr/bin/python3 -c "$burn"
    [ ! -s err ] || fail "-q says: $(cat err)"
    printf '#!%s\n' "$tmp/init" >script
    chmod +x script
    for program in ./init "env -i ./script"; do
        rm -f s.folded
        # shellcheck disable=SC2086
        plain "$sprofile" record -q -o s.folded -- $program
        [ ! -e s.folded ] || fail "$program has a profile"
    done
    plain "$sprofile" record -o s.folded -- ./init
    expect_status 1
    grep -q 'no profile is written: ./init is statically linked, and' err ||
        fail "no reason: $(cat err)"
    ! ls -d sprof.record.* 2>/dev/null || fail "the spools were left"
fi

# Goals: a command that runs others without LD_PRELOAD is not recorded, and the
# user learns what to do.
section "sudo"

for name in sudo doas pkexec; do
    cp /bin/true $name
    plain "$sprofile" record -o s.folded -- ./$name
    expect_status 0
    chmod 4755 $name
    plain "$sprofile" record -o s.folded -- ./$name ./w
    expect_status 1
    grep -q "use \`$name sprofile record -- COMMAND\`" err ||
        fail "$name: $(cat err)"
done

# Goals: what goes on when the program has ended is named, also if it has just
# begun or has written its title over its environment. It has no output of ours.
section "a daemon"

cat >daemon.py <<'END'
import ctypes, os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
null = os.open("/dev/null", os.O_RDWR)
for fd in 0, 1, 2:
    os.dup2(null, fd)
if "title" in sys.argv:
    fields = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
    start, end = int(fields[47]), int(fields[48])
    ctypes.memset(start, 0, end - start)
with open("pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename("pid.new", "pid")
time.sleep(300)
END
for way in plain title; do
    for round in 1 2 3; do
        rm -f pid
        plain "$sprofile" record -o "d.sprof" -- /usr/bin/python3 daemon.py $way
        expect_status 0
        until_true [ -e pid ]
        grep -qE "^sprofile record: 1 of its processes still runs \(python3 $(cat pid)\); .*in the foreground.* LD_PRELOAD" err ||
            fail "$way: the daemon is not named: $(head -n 2 err)"
        kill "$(cat pid)"
    done
done
plain "$sprofile" record -o "d.sprof" -- sh -c 'sleep 0.1 >/dev/null 2>&1 & exit 0'
! grep 'still run' err || fail "it has ended"
# What the library does not record is named as that; without a spool there is no
# profile to speak of.
left='sleep 300 >/dev/null 2>&1 & echo $! >pid'
plain env SPROF_ONLY=bash "$sprofile" record -o d.sprof -- bash -c "$left"
kill "$(cat pid)"
grep -qE "^sprofile record: 1 of its processes still runs \(sleep $(cat pid)\); the profile has nothing of that" err ||
    fail "it is not recorded: $(cat err)"
plain env SPROF_ONLY=none "$sprofile" record -o d.sprof -- bash -c "$left"
kill "$(cat pid)"
grep -q "1 of its processes still runs (sleep $(cat pid))$" err ||
    fail "there is no profile: $(cat err)"

# Goals: what a process of a recording writes on request has a name that holds,
# is beside the profile of the recording, and is no part of that.
section "a dump under record"

mkdir run
(cd run && exec "$sprofile" record -o r.sprof -- \
    "$work/busy_and_waiting" 200000) >record.out 2>record.err &
recorder=$!
until_true pgrep -P $recorder -x busy_and_waitin >pid
dumped() {
    "$sprofile" dump "$(cat pid)" >name 2>dump.err
}
until_true dumped
dumped || fail "no second dump: $(cat dump.err)"
[ "$(cat name)" = "$tmp/run/sprof.busy_and_waiting.$(cat pid).dump2.sprof" ] ||
    fail "the dump is $(cat name)"
kill "$(cat pid)"
wait $recorder
! grep '^sprofile' record.err || fail "the recorder complains"
[ "$(cd run && echo *)" = "r.sprof $(cd run && echo sprof.*.dump[12].sprof)" ] ||
    fail "left: $(cd run && echo *)"
plain "$sprofile" report "$(cat name)"
expect_status 0
grep -q hot_spot out || fail "the dump has no function: $(cat out)"
plain "$sprofile" info run/r.sprof
grep -q '^process ' out || fail "more than a process: $(cat out)"

# Goals:
# - where the present directory cannot be written and no output is named, the
#   profile is in $TMPDIR, and a line says where;
# - no message blames SPROF_OUTPUT if it is not set.
section "a directory that cannot be written"

mkdir ro other
# read_only COMMAND...: in a directory that is mounted read-only.
read_only() {
    plain unshare -rm sh -c 'mount --bind ro ro &&
        mount -o remount,ro,bind ro && cd ro && exec "$@"' sh "$@"
}
read_only true
if [ "$status" -eq 0 ]; then
    part "read-only"
    read_only env LD_PRELOAD="$library" TMPDIR="$tmp/other" \
        /usr/bin/python3 -c "$burn"
    expect_status 0
    file=$(cd other && echo sprof.*.pb.gz)
    grep -qx "sprof: the present directory cannot be written: the profile is $tmp/other/$file" err ||
        fail "no line: $(cat err)"
    [ -s "other/$file" ] || fail "no profile: $(ls other)"
    rm -f other/*
    read_only env TMPDIR="$tmp/other" "$sprofile" record -- \
        /usr/bin/python3 -c "$burn"
    expect_status 0
    file=$(cd other && echo sprof.python3.*.sprof)
    grep -q "^sprof: the present directory cannot be written (Read-only file system): the profile will be in $tmp/other$" err &&
        grep -q "^sprof: wrote $tmp/other/$file: " err ||
        fail "no line: $(head -n 3 err)"
    [ "$(cd other && echo *)" = "$file" ] || fail "left: $(ls other)"
    for wrong in "-o p.sprof" "-o $tmp/ro/p.sprof"; do
        # shellcheck disable=SC2086
        read_only "$sprofile" record $wrong -- true
        expect_status 1
    done
    read_only env LD_PRELOAD="$library" TMPDIR=/nowhere \
        /usr/bin/python3 -c "$burn"
    expect_note "/ro/: expected a directory that can be written: " \
        "; SPROF_OUTPUT can name another place; not profiling"
    ! grep '^sprof: SPROF_OUTPUT' err || fail "SPROF_OUTPUT is blamed"
    read_only env LD_PRELOAD="$library" SPROF_OUTPUT=p.folded \
        /usr/bin/python3 -c "$burn"
    expect_note "SPROF_OUTPUT: "
else
    lacks "read-only" "no mount namespace"
fi
if [ "$(id -u)" -eq 0 ]; then
    # Nobody can make a file there, and the kernel does not say so before.
    plain sh -c 'cd /proc && exec env LD_PRELOAD="$@"' sh "$library" \
        /usr/bin/python3 -c "$burn"
    expect_status 0
    ! grep '^sprof: SPROF_OUTPUT' err || fail "SPROF_OUTPUT is blamed"
    expect_note "cannot create /proc/sprof." "SPROF_OUTPUT can name another"
fi

finish
