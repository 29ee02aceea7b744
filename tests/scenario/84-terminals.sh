#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: what the command prints on a terminal, and beside a
# program that uses the terminal.
. "$(dirname "$0")/lib.sh"

# terminal.py COLUMNS ANSWER SECONDS COMMAND...: runs COMMAND on a terminal of
# so many columns, and prints what it wrote there. ANSWER is typed when "? " has
# been there for so many seconds.
write_terminal() {
    cat >terminal.py <<'END'
import fcntl, os, pty, select, struct, sys, termios, time
columns, answer, pause = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.execvp(sys.argv[4], sys.argv[4:])
seen, asked = b"", None
while True:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    if answer and asked is None and b"? " in seen:
        asked = time.time()
    if answer and asked and time.time() > asked + pause:
        os.write(fd, answer.encode() + b"\n")
        answer = None
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}

# Goals: the line of progress is not written over a prompt, neither of a
# question nor of a password; it is there while the program is silent.
section "prompts"

write_terminal
cat >ask.py <<'END'
import os, sys, termios, time
if sys.argv[1] == "password":
    mode = termios.tcgetattr(0)
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, mode)
os.write(1, b"Name? ")
if sys.argv[1] == "silence":
    time.sleep(2.5)
    sys.exit(0)
print("is", sys.stdin.readline())
END
for way in question password; do
    # A program that a loaded machine stops before it asks is only silent.
    for round in 1 2 3 4; do
        plain /usr/bin/python3 terminal.py 80 Ada 2.5 "$sprofile" record \
            -o p.sprof -- /usr/bin/python3 ask.py $way
        expect_status 0
        grep -q 'is Ada' out || fail "$way: it was not answered: $(cat out)"
        sed '/^sprof: wrote/,$d' out >with
        ! grep -q 'lost' with || continue
        break
    done
    ! grep 'lost' with || fail "$way: the line is over the prompt"
done
plain /usr/bin/python3 terminal.py 80 "" 0 "$sprofile" record -o p.sprof -- \
    /usr/bin/python3 ask.py silence
grep -q 'Name? .*sprof: [0-9.]* s, .* lost' out || fail "no line: $(cat out)"

# Goals:
# - each command that takes a PID lists what it can be given, if it is given
#   none, each with its whole command, or as much of it as a terminal has room
#   for;
# - root is not advised to try as root.
section "which process"

profile_begin watched "$work/busy_and_waiting" 200000
pid=$(pgrep -P "$running" -x busy_and_waitin)
for command in top stacks start stop dump; do
    until_true [ -e "/proc/$pid" ]
    plain "$sprofile" $command
    expect_status 2
    grep -q "^sprofile $command: expected " err &&
        grep -q '^These processes run with libsprof.so:$' err &&
        grep -qx " *$pid  $work/busy_and_waiting 200000" err ||
        fail "$command does not list the process: $(cat err)"
done
write_terminal
plain /usr/bin/python3 terminal.py 40 "" 0 "$sprofile" stacks
line="$(printf '%9d  %s 200000' "$pid" "$work/busy_and_waiting")"
tr -d '\r' <out | grep -qxF "${line:0:40}" || fail "40 columns: $(cat out)"
kill "$pid"
wait "$running"
if [ "$(id -u)" -eq 0 ] && unshare -Ur true 2>/dev/null; then
    setpriv --reuid 65534 --clear-groups sleep 100 &
    pid=$!
    until_true grep -qx sleep "/proc/$pid/comm"
    plain unshare -Ur "$sprofile" stacks $pid
    expect_status 1
    grep -q 'may not be looked at' err && ! grep 'as root' err ||
        fail "root is told: $(cat err)"
    kill $pid
fi

# Goals: with --fold a function stands once on each stack of a tree, also where
# the recursion goes through others; no time is lost.
section "recursion is folded"

cat >twins.c <<'END'
#include <time.h>
static volatile unsigned long sink;
static void odd(int n);
__attribute__((noinline)) static void even(int n)
{
    for (int i = 0; i < 20000; i++)
        sink++;
    if (n > 0)
        odd(n - 1);
    sink++;
}
__attribute__((noinline)) static void odd(int n)
{
    even(n - 1);
    sink++;
}
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 4)
        even(20);
}
END
cc -O1 -g twins.c -o twins
plain "$sprofile" record -q -o t.sprof -- ./twins
for shape in --tree "--callees main" "--flame --tree"; do
    # shellcheck disable=SC2086
    plain "$sprofile" report --fold --min 0 $shape t.sprof
    expect_status 0
    [ "$(grep -c '\[\?even ' out)" -le 1 ] && [ "$(grep -c 'odd' out)" -le 1 ] ||
        fail "$shape: not folded: $(cat out)"
done
plain "$sprofile" report --fold --tree --json t.sprof
python3 -c '
import json, sys
tree = json.load(sys.stdin)
rows = tree["rows"]
own = sum(row["cpu_flat_ns"] for row in rows)
assert own == tree["totals"]["cpu_ns"], (own, tree["totals"])
above = {row["id"]: row for row in rows}
for row in rows:
    up = row
    while up["parent"]:
        up = above[up["parent"]]
        assert (up["function"], up["module"]) != (
            row["function"], row["module"]), row
even = [row for row in rows if row["function"] == "even"]
assert len(even) == 1 and even[0]["cpu_cum_ns"] > 0.8 * own, even
' <out 2>py.err || fail "the folded tree: $(tail -n 1 py.err)"
plain "$sprofile" report --fold t.sprof
expect_status 2

# Goals: no row and no head of a table is wider than a terminal of 40 columns, and
# each row still has its time and its name.
section "a narrow terminal"

write_terminal
cat >too_wide.py <<'END'
import re, sys
for line in sys.stdin.read().replace("\r", "").split("\n"):
    line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
    if re.match(r"^ +([0-9]+\.[0-9]|[a-z]+ (flat|cum|time|%|s)( |$)|pid |tid )|"
                r"^(functions|threads) +by |^.* machine code|^hot_spot |^/", line):
        if len(line) > 40:
            print(len(line), line)
END
"$work/make_spool" "$tmp/a.sprof"
plain "$sprofile" record -q -o b.sprof -- "$work/busy_and_waiting" 400
plain "$sprofile" record -q -o c.sprof -- "$work/busy_and_waiting" 1200
for command in "report b.sprof" "report --wall b.sprof" "report --by line b.sprof" \
    "report --by thread b.sprof" "report --by state --wall b.sprof" \
    "report --tree b.sprof" "report --tree --wall b.sprof" \
    "report --callers clone3 b.sprof" "report --lines hot_spot b.sprof" \
    "report --by command b.sprof" "diff --all b.sprof c.sprof" \
    "top --once b.sprof" "top --once --wall b.sprof" "top --once --wall --idle b.sprof" \
    "info b.sprof" "annotate hot_spot b.sprof"
do
    # shellcheck disable=SC2086
    plain env SPROF_PAGER= /usr/bin/python3 terminal.py 40 "" 0 \
        "$sprofile" $command
    expect_status 0
    [ -z "$(python3 too_wide.py <out)" ] ||
        fail "$command: $(python3 too_wide.py <out)"
    grep -qE '^[^a-z]*[0-9]\.[0-9]{3}.*[a-z]' out || grep -q '[0-9]\.[0-9].*hot_spot' out ||
        fail "$command: no rows: $(cat out)"
done

finish
