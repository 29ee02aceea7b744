/* SPDX-License-Identifier: MIT */
/*
 * launch.c -- see launch.h. Signals are blocked here and taken one by one, so
 * that none of them ends this process before it has written the profile. The
 * program starts with the mask that this process had.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"

extern char **environ;

/* The time between two ticks, in ns. */
enum { TICK_NS = 500000000 };

/* The signals that people and tools send to programs. Signals that stop and
 * continue are not listed: they reach both processes, or are meant for this one
 * alone. SIGPIPE is listed because it would end this process when the reader of
 * its messages has gone, even while it writes the profile. It is blocked here,
 * but not passed on. */
static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGWINCH, SIGPIPE};

/* The number of passed_on. */
enum { SIGNALS = sizeof(passed_on) / sizeof(passed_on[0]) };

/* The directory of this command comes first, so that a build tree and an
 * unpacked archive work as they are. The path is absolute, because programs
 * change their directory. The dynamic linker splits LD_PRELOAD at blanks and
 * colons and has no way to quote them. */
int
launch_find_library(char *path, size_t size, char *error, size_t error_size)
{
    static const char *const places[] = {"", SPROF_LIBRARY_DIRECTORY "/"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length < 0) {
        snprintf(error, error_size,
                 "/proc/self/exe: %s; expected /proc to be mounted (proc(5))",
                 strerror(errno));
        return -1;
    }
    own[length] = '\0';
    strrchr(own, '/')[1] = '\0';
    char tried[PATH_MAX + 64];
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(tried, sizeof(tried), "%s%slibsprof.so", own, places[i]);
        char *resolved = realpath(tried, NULL);
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

/* Our library stands behind other preloaded libraries, because some insist on
 * being first. Returns NULL if memory is short. */
static char *
make_preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    if (others == NULL)
        others = "";
    char *variable;
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
    while (environ[count] != NULL)
        count++;
    while (launch->settings[own] != NULL)
        own++;
    char **all = calloc(count + own + 2, sizeof(*all));
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

/* Block the signals that are waited for: sigtimedwait(2) takes blocked signals
 * only. */
static void
keep_signals(struct launch *launch)
{
    sigemptyset(&launch->set);
    sigaddset(&launch->set, SIGCHLD);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&launch->set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &launch->set, &launch->mask);
}

/* posix_spawnp(3) searches PATH and returns the error of execve(2). That
 * distinguishes "not found" from "cannot be run". */
static int
spawn_program(struct launch *launch, char *const *environment)
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

/* If nothing was started, the old mask is restored at once, else at the end of
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
        error = spawn_program(launch, environment);
        if (error != 0)
            sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    }
    free(environment);
    free(preload);
    return error;
}

/* Take the next signal. Returns its number, or 0 after half a second without
 * one. */
static int
take_signal(const struct launch *launch, siginfo_t *info)
{
    static const struct timespec tick = {0, TICK_NS};
    int signo = sigtimedwait(&launch->set, info, &tick);
    return signo > 0 ? signo : 0;
}

/* A signal from the terminal comes from the kernel (SI_KERNEL) and reached both
 * processes already. */
static void
pass_on(const struct launch *launch, int signo, const siginfo_t *info)
{
    if (signo != SIGCHLD && signo != SIGPIPE && info->si_code != SI_KERNEL)
        kill(launch->pid, signo);
}

/* Drop the signals that came after the program had ended. They are not for this
 * command: a Ctrl-C that ended the program would end us, too, before the
 * profile is written. */
static void
drop_signals(const struct launch *launch)
{
    static const struct timespec at_once;
    while (sigtimedwait(&launch->set, NULL, &at_once) > 0)
        continue;
}

static uint64_t
ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u +
           (uint64_t)time->tv_usec * 1000u;
}

/* The child is asked about after every signal, not only after SIGCHLD, because
 * pending signals of one number are merged. */
int
launch_wait(struct launch *launch, void (*tick)(void *), void *context)
{
    struct rusage usage = {0};
    pid_t ended;
    do {
        siginfo_t info;
        int signo = take_signal(launch, &info);
        if (signo == 0)
            tick(context);
        else
            pass_on(launch, signo, &info);
        ended = wait4(launch->pid, &launch->status, WNOHANG, &usage);
    } while (ended == 0 || (ended < 0 && errno == EINTR));
    drop_signals(launch);
    (void)signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    if (ended < 0)
        return 1;
    launch->cpu = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
    return WIFSIGNALED(launch->status) ? 128 + WTERMSIG(launch->status)
                                       : WEXITSTATUS(launch->status);
}
