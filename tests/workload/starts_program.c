/* SPDX-License-Identifier: MIT */
/*
 * starts_program.c -- starts a program that need not be able to have the
 * library preloaded, and passes its environment on.
 *
 * Arguments: a word of the table below, the program, its arguments. The exit
 * status is the program's.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int
status_of(pid_t pid)
{
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 99;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int count, char **words)
{
    const char *way = words[1], *path = words[2];
    char **arguments = words + 2;
    pid_t pid = -1;
    if (count < 3)
        return 98;
    if (strcmp(way, "posix_spawn") == 0) {
        posix_spawn(&pid, path, NULL, NULL, arguments, environ);
        return status_of(pid);
    }
    if (strcmp(way, "posix_spawnp") == 0) {
        posix_spawnp(&pid, path, NULL, NULL, arguments, environ);
        return status_of(pid);
    }
    if (strcmp(way, "vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            execve(path, arguments, environ);
            _exit(97);
        }
        return status_of(pid);
    }
    if (strcmp(way, "execv") == 0)
        execv(path, arguments);
    if (strcmp(way, "execvp") == 0)
        execvp(path, arguments);
    if (strcmp(way, "execlp") == 0)
        execlp(path, path, (char *)NULL);
    if (strcmp(way, "fexecve") == 0)
        fexecve(open(path, O_PATH | O_CLOEXEC), arguments, environ);
    if (strcmp(way, "execveat") == 0)
        execveat(AT_FDCWD, path, arguments, environ, 0);
    if (strcmp(way, "syscall") == 0)
        syscall(SYS_execve, path, arguments, environ);
    return 96;
}
