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
    os.execvp(sys.argv[4], sys.argv[4:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
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

finish
