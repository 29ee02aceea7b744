/* SPDX-License-Identifier: MIT */
/*
 * helper.c -- see helper.h. A helper is in a process group of its own, so that
 * Ctrl-C is for the recorded program alone. It may then still write to the
 * terminal, because SIGTTOU is ignored. What it prints on stdout goes to this
 * process, because stdout belongs to the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"

/* Become the helper. Does not return. OUTPUT is its stdout. */
static void
become(const char *const *arguments, int output, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)setpgid(0, 0);
    (void)signal(SIGTTOU, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(output, STDOUT_FILENO) < 0)
        _exit(1);
    execv("/proc/self/exe", (char *const *)arguments);
    fprintf(stderr, "/proc/self/exe: %s\n", strerror(errno));
    _exit(1);
}

/* Read the first line from FD. Returns whether it is whole. */
static int
read_line(int fd, char *line, size_t size)
{
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, line + length, size - 1 - length)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
        line[length] = '\0';
        char *end = strchr(line, '\n');
        if (end != NULL || length == size - 1) {
            line[end != NULL ? (size_t)(end - line) : length] = '\0';
            return 1;
        }
    }
    return 0;
}

static int
wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

int
helper_start(struct helper *helper, const char *const *arguments)
{
    int pipe_fds[2];
    pid_t parent = getpid();
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return -1;
    helper->pid = fork();
    if (helper->pid == 0)
        become(arguments, pipe_fds[1], parent);
    int error = errno;
    close(pipe_fds[1]);
    int has_begun = helper->pid > 0 &&
                    read_line(pipe_fds[0], helper->line, sizeof(helper->line));
    close(pipe_fds[0]);
    if (helper->pid < 0) {
        helper->pid = 0;
        errno = error;
        return -1;
    }
    if (has_begun)
        return 0;
    int status = wait_for(helper->pid);
    helper->pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status)
                                                         : 1;
}

void
helper_end(struct helper *helper)
{
    if (helper->pid == 0)
        return;
    kill(helper->pid, SIGTERM);
    (void)wait_for(helper->pid);
    helper->pid = 0;
}
