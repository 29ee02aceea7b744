#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: an exec is as without the library.
# - by whatever function, from whatever thread, into whatever program;
# - the new image inherits the signals that the program blocks and ignores, and
#   no descriptor of ours;
# - one that fails leaves the program as it was, and profiled;
# - a chain of images under one pid reaches its end, also past the hooks of the
#   exec family.
. "$(dirname "$0")/lib.sh"

export SPROF_SYMBOLIZE=off
links=30
[ -z "${SPROF_TEST_FULL:-}" ] || links=100

for way in execve execl execle execlp fexecve execveat raw thread threads shell \
    pending blocked
do
    expect_same "$work/exec_ways" "$way"
    rm -f p*
done
expect_same "$work/exec_ways" next "$links"
rm -f p*
expect_same "$work/exec_ways" raw_next "$links"
rm -f p*

unset SPROF_SYMBOLIZE
expect_same "$work/exec_ways" failing
# In one profile, because what cannot succeed does not end it.
expect_share 40 'failing;.*ways_compute' p.folded 'failing;[^\[]*$'
rm -f p*

# A child that has ended, of a program with one thread, is there after that.
printf '\177ELF' >bad_program
chmod +x bad_program
ended_child='
import os, time
child = os.fork()
if child == 0:
    os._exit(5)
while time.process_time() < 0.1:
    pass
try:
    os.execv("./bad_program", ["nothing"])
except OSError as error:
    print(error)
print(os.waitpid(child, 0)[1])'
expect_same python3 -c "$ended_child"
[ -s p.exec1.folded ] || fail "the child of a program: no profile before the exec"

finish
