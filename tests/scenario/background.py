# SPDX-License-Identifier: MIT
"""background.py COMMAND...: runs it in the background of a terminal that stops
who writes to it there (stty tostop), which is its stderr; ends as it did."""
import fcntl
import os
import pty
import signal
import sys
import termios


def make_terminal():
    master, terminal = pty.openpty()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    settings = termios.tcgetattr(terminal)
    settings[3] |= termios.TOSTOP
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    return master, terminal


def run(terminal):
    os.setpgid(0, 0)
    os.dup2(terminal, 2)
    os.execvp(sys.argv[1], sys.argv[1:])


def main():
    # The session's own process group is the one in the foreground.
    if (session := os.fork()) == 0:
        _, terminal = make_terminal()
        if (child := os.fork()) == 0:
            run(terminal)
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.kill(child, signal.SIGKILL)
            os._exit(100 + os.WSTOPSIG(status))
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    _, status = os.waitpid(session, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
