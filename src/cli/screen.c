/* SPDX-License-Identifier: MIT */
/*
 * screen.c -- standard output becomes the pager's pipe, so that code that
 * writes need not know of it. While a pager runs, SIGPIPE is ignored, because
 * the user may leave the pager at any time. Ctrl-C and Ctrl-\ are ignored, too;
 * they are for the pager.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show/paint.h"
#include "screen.h"

bool
screen_has_colour(enum screen_colour colour, int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (colour != SCREEN_AUTO)
        return colour == SCREEN_ALWAYS;
    return isatty(fd) && (none == NULL || none[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

/* The pager's command; NULL for none. */
static const char *
pager_command(void)
{
    const char *command = getenv("SPROF_PAGER");
    if (command == NULL)
        command = getenv("PAGER");
    if (command == NULL)
        command = "less";
    return command[0] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* In the child: standard input becomes the pipe, and the pager is run. */
static void
run_pager(const char *command, const int *ends)
{
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("LESS", "FRX", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Whether the first word of COMMAND is a program that can be found. A shell
 * checks that, because it knows all rules. A pager that does not exist would
 * lose the output. */
static bool
pager_exists(const char *command)
{
    size_t length = strcspn(command, " \t");
    if (length > 128 || strpbrk(command, "'\"$`\\;&|<>()=") != NULL)
        return true;
    char test[256];
    snprintf(test, sizeof(test), "command -v %.*s >/dev/null 2>&1", (int)length,
             command);
    return system(test) == 0;
}

/* Start the pager. If that fails, output goes to standard output as before. */
static void
start_pager(struct screen *screen, const char *command)
{
    int ends[2];
    if (!pager_exists(command) || pipe(ends) != 0)
        return;
    screen->saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    screen->pager = fork();
    if (screen->pager == 0)
        run_pager(command, ends);
    if (screen->pager > 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
    } else {
        close(screen->saved);
        screen->pager = 0;
    }
    close(ends[0]);
    close(ends[1]);
}

void
screen_begin(struct screen *screen, enum screen_colour colour, bool pages)
{
    const char *command = pager_command();
    bool is_terminal = isatty(STDOUT_FILENO);
    *screen = (struct screen){.paint = &paint_none};
    if (!pages)
        return;
    if (screen_has_colour(colour, STDOUT_FILENO))
        screen->paint = &paint_terminal;
    if (!is_terminal)
        return;
    /* 80, as usual, if the terminal does not report its width. */
    struct winsize size = {.ws_col = 0};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    screen->columns = size.ws_col > 0 ? size.ws_col : 80;
    fflush(stdout);
    if (command != NULL)
        start_pager(screen, command);
}

void
screen_end(struct screen *screen)
{
    bool is_left = fflush(stdout) != 0 && errno == EPIPE;
    if (is_left || (screen->pager > 0 && ferror(stdout) != 0)) {
        __fpurge(stdout);
        clearerr(stdout);
    }
    if (screen->pager == 0)
        return;
    dup2(screen->saved, STDOUT_FILENO);
    close(screen->saved);
    while (waitpid(screen->pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}
