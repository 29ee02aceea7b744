#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: an exec is as without the library, and each image has its
# profile. Each section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - a chain of images under one pid, each replaced while it is sampled at a high
#   rate, reaches its end;
# - the last image has the plain name, the others .exec1, .exec2, ...
section "chains of images"

profile SPROF_COST=off SPROF_FREQUENCY=5000 "$work/exec_chain" 10 40
expect_ok
cat p*.folded >all.folded
expect_share 95 'image_work;work_burn' all.folded ';(main|companion);[^[]*$'
count=$(find . -name 'p*exec[0-9]*folded' | wc -l)
[ "$count" -eq 10 ] || {
    fail "$count earlier images have a profile, expected 10"
    ls
}
rm -f p*

for round in 1 2 3 4 5; do
    profile SPROF_COST=off SPROF_FREQUENCY=20000 "$work/exec_chain" 30 2
    expect_ok
    [ "$failures" -eq 0 ] || { echo "in round $round"; break; }
done

# An exec is as without the library.
# - by whatever function, from whatever thread, into whatever program;
# - the new image inherits the signals that the program blocks and ignores, and
#   no descriptor of the library;
# - one that fails leaves the program as it was, and profiled;
# - a chain of images under one pid reaches its end, also past the hooks of the
#   exec family.
section "behaviour"

export SPROF_SYMBOLIZE=off
links=30
[ -z "${SPROF_TEST_FULL:-}" ] || links=100

for way in execve execl execle execlp fexecve execveat raw thread threads shell \
    pending blocked
do
    expect_same "$work/exec_cases" "$way"
    rm -f p*
done
# An instant in which what is ignored is not would be met by chance.
for _ in 1 2 3 4 5 6 7 8; do
    expect_same "$work/exec_cases" ignoring
    rm -f p*
done
expect_same "$work/exec_cases" next "$links"
rm -f p*
expect_same "$work/exec_cases" raw_next "$links"
rm -f p*

unset SPROF_SYMBOLIZE
expect_same "$work/exec_cases" failing
# In one profile, because what cannot succeed does not end it.
expect_share 40 'failing;.*cases_compute' p.folded 'failing;[^\[]*$'
rm -f p*

# A child that has ended, of a program with one thread, is there after that.
printf '\177ELF' >bad_program
chmod +x bad_program
ended_child='
import os, time
child = os.fork()
if child == 0:
    os._exit(5)
while time.process_time() < 1:
    pass
try:
    os.execv("./bad_program", ["nothing"])
except OSError as error:
    print(error)
print(os.waitpid(child, 0)[1])'
expect_same python3 -c "$ended_child"
[ -s p.exec1.folded ] || fail "the child of a program: no profile before the exec"

finish
