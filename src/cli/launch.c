/* SPDX-License-Identifier: MIT */
/*
 * launch.c -- see launch.h. Signals are blocked here and taken one by one, so
 * that none of them ends this process before it has written the profile; the
 * program starts with the mask that this process had.
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TICK_NS = 500000000 };

/* What people and their tools send to programs. Those that stop and continue
 * reach both, or are for this process alone. */
static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGWINCH, SIGPIPE};

/* SIGPIPE would end this process when nobody reads its messages. */
enum { SIGNALS = sizeof passed_on / sizeof passed_on[0] };

/* Beside this command first, so that a build tree and an unpacked archive work
 * as they are. The path is absolute: programs change their directory. The
 * linker parts LD_PRELOAD at blanks and colons, with no way to quote them. */
int
launch_find_library(char *path, size_t size, char *error, size_t error_size)
{
    static const char *const places[] = {"", SPROF_LIBRARY_DIRECTORY "/"};
    char own[PATH_MAX], tried[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    own[length > 0 ? length : 0] = '\0';
    if (length > 0)
        strrchr(own, '/')[1] = '\0';
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *resolved;
        snprintf(tried, sizeof tried, "%s%slibsprof.so", own, places[i]);
        resolved = realpath(tried, NULL);
        if (resolved == NULL)
            continue;
        snprintf(path, size, "%s", resolved);
        free(resolved);
        if (strpbrk(path, " :\t\n") == NULL)
            return 0;
        snprintf(error, error_size,
                 "%s: the dynamic linker takes no path with a blank or a colon "
                 "(LD_PRELOAD, ld.so(8))",
                 path);
        return -1;
    }
    snprintf(error, error_size,
             "libsprof.so is neither beside this command nor in %s%s", own,
             SPROF_LIBRARY_DIRECTORY);
    return -1;
}

/* Whether VARIABLE ("NAME=value") has the name of one of SETTINGS. */
static bool
is_set(const char *variable, const char *const *settings)
{
    size_t length = strcspn(variable, "=");

    for (; *settings != NULL; settings++)
        if (strncmp(*settings, variable, length + 1) == 0)
            return true;
    return false;
}

/* Our library stands behind others: some insist on being first. */
static char *
make_preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *variable;

    if (others == NULL)
        others = "";
    if (asprintf(&variable, "LD_PRELOAD=%s%s%s", others,
                 others[0] != '\0' ? ":" : "", library) < 0)
        return NULL;
    return variable;
}

/* The environment of the program; NULL if memory is short. */
static char **
make_environment(const struct launch *launch, char *preload)
{
    size_t count = 0, own = 0, to = 0;
    char **all;

    while (environ[count] != NULL)
        count++;
    while (launch->settings[own] != NULL)
        own++;
    all = calloc(count + own + 2, sizeof *all);
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
            !is_set(environ[i], launch->settings))
            all[to++] = environ[i];
    for (size_t i = 0; i < own; i++)
        all[to++] = (char *)launch->settings[i];
    all[to] = preload;
    return all;
}

/* sigtimedwait(2) takes blocked signals only. */
static void
keep_signals(struct launch *launch)
{
    sigemptyset(&launch->set);
    sigaddset(&launch->set, SIGCHLD);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&launch->set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &launch->set, &launch->mask);
}

/* posix_spawnp searches PATH, and returns the error of execve: that tells "not
 * found" from "cannot be run". */
static int
spawn(struct launch *launch, char *const *environment)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);

    if (error != 0)
        return error;
    posix_spawnattr_setsigmask(&attributes, &launch->mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&launch->pid, launch->command[0], NULL, &attributes,
                         launch->command, environment);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* The old mask comes back at once if nothing was started, else at the end of
 * launch_wait. */
int
launch_start(struct launch *launch)
{
    char *preload = make_preload(launch->library);
    char **environment =
        preload != NULL ? make_environment(launch, preload) : NULL;
    int error = ENOMEM;

    if (environment != NULL) {
        keep_signals(launch);
        error = spawn(launch, environment);
        if (error != 0)
            sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    }
    free(environment);
    free(preload);
    return error;
}

/* The next signal, or 0 after half a second without one. */
static int
take_signal(const struct launch *launch, siginfo_t *info)
{
    static const struct timespec tick = {0, TICK_NS};
    int signo = sigtimedwait(&launch->set, info, &tick);

    return signo > 0 ? signo : 0;
}

/* What the terminal sends comes from the kernel, and went to both. */
static void
pass_on(const struct launch *launch, int signo, const siginfo_t *info)
{
    if (signo != SIGCHLD && signo != SIGPIPE && info->si_code != SI_KERNEL)
        kill(launch->pid, signo);
}

/* What came for the program after it had ended is not for this command: a
 * Ctrl-C that ended it would end us, too, before the profile is written. */
static void
drop_signals(const struct launch *launch)
{
    static const struct timespec at_once;

    while (sigtimedwait(&launch->set, NULL, &at_once) > 0)
        continue;
}

/* The child is asked about after every signal, not only SIGCHLD: signals of one
 * number that come together are one. The result is as a shell has it. */
int
launch_wait(struct launch *launch, void (*tick)(void *), void *context)
{
    int status = 0;
    pid_t ended;

    do {
        siginfo_t info;
        int signo = take_signal(launch, &info);
        if (signo == 0)
            tick(context);
        else
            pass_on(launch, signo, &info);
        ended = waitpid(launch->pid, &status, WNOHANG);
    } while (ended == 0 || (ended < 0 && errno == EINTR));
    drop_signals(launch);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    if (ended < 0)
        return 1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
