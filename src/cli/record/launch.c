/* SPDX-License-Identifier: MIT */
/*
 * launch.c -- see launch.h. Before the start only what the kernel itself reads
 * is checked: the mode, the first line of a script, the program headers.
 * Signals are blocked here and taken one by one, so that none of them ends this
 * process before it has written the profile. The program starts with the mask
 * that this process had.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/path.h"
#include "base/program.h"
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

/* The file that is checked, and the buffer for the reason. */
struct look {
    char path[PATH_MAX];
    int fd;
    char *why;
    size_t size;
};

/* Write why this file cannot be profiled. Returns -1. */
static int
refuse_file(const struct look *look, const char *reason)
{
    snprintf(look->why, look->size, "%s %s", look->path, reason);
    return -1;
}

/* Store DIRECTORY/COMMAND in PATH. DIRECTORY has LENGTH bytes; an empty one is
 * the present directory. */
static void
join_path(char *path, const char *directory, size_t length, const char *command)
{
    snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, directory,
             length > 0 ? "/" : "", command);
}

/* Find the path of COMMAND as execvp(3) does. Returns -1 if it is not found. */
static int
find_in_path(const char *command, char *path)
{
    const char *all = getenv("PATH");
    if (all == NULL || strchr(command, '/') != NULL) {
        join_path(path, "", 0, command);
        return 0;
    }
    for (;;) {
        size_t length = strcspn(all, ":");
        join_path(path, all, length, command);
        if (access(path, X_OK) == 0)
            return 0;
        if (all[length] == '\0')
            return -1;
        all += length + 1;
    }
}

/* Whether NAME runs a command as another user, in an environment without
 * LD_PRELOAD. */
static bool
changes_user(const char *name)
{
    return strcmp(name, "sudo") == 0 || strcmp(name, "doas") == 0 ||
           strcmp(name, "pkexec") == 0;
}

/* Refuse a file that runs with other privileges than those of this user. One
 * that runs a command is refused to its owner, too: the command is meant. */
static int
check_privileges(const struct look *look)
{
    struct stat file;
    if (fstat(look->fd, &file) != 0)
        return 0;
    bool is_set_user = (file.st_mode & S_ISUID) != 0;
    const char *name = path_name(look->path);
    if (is_set_user && changes_user(name)) {
        snprintf(look->why, look->size,
                 "%s preloads no library into what it runs: use `%s sprofile "
                 "record -- COMMAND`",
                 name, name);
        return -1;
    }
    if (is_set_user && file.st_uid != geteuid())
        return refuse_file(look, "is set-user-ID: the dynamic linker preloads "
                                 "nothing into it; run it as its owner");
    if ((file.st_mode & S_ISGID) != 0 && (file.st_mode & S_IXGRP) != 0 &&
        file.st_gid != getegid())
        return refuse_file(look, "is set-group-ID: the dynamic linker preloads "
                                 "nothing into it; run it in its group");
    if (geteuid() != 0 &&
        fgetxattr(look->fd, "security.capability", NULL, 0) > 0)
        return refuse_file(look, "has file capabilities: the dynamic linker "
                                 "preloads nothing into it; run it as root");
    return 0;
}

/* Whether the file is the dynamic linker itself, which preloads libraries into
 * the program that it is given (ld.so(8)). */
static bool
is_linker(const struct look *look)
{
    struct stat file, linker;
    return strncmp(path_name(look->path), "ld-linux", 8) == 0 ||
           (fstat(look->fd, &file) == 0 &&
            stat(ARCH_DYNAMIC_LINKER, &linker) == 0 &&
            file.st_dev == linker.st_dev && file.st_ino == linker.st_ino);
}

/* Note that the library cannot be in this program itself, because of REASON.
 * Returns 0. */
static int
note_children(struct launch *launch, const struct look *look,
              const char *reason)
{
    snprintf(launch->only_children, sizeof(launch->only_children), "%s %s",
             look->path, reason);
    return 0;
}

/* Check one file. Returns 0 if it can be run, or -1. Returns 1 for a script;
 * LOOK->path is then its interpreter. */
static int
check_file(struct launch *launch, struct look *look)
{
    char interpreter[PROGRAM_PATH];
    if (check_privileges(look) != 0)
        return -1;
    switch (program_look(look->fd, look->path, interpreter)) {
    case PROGRAM_SCRIPT:
        strcpy(look->path, interpreter);
        return 1;
    case PROGRAM_FOREIGN:
        return refuse_file(look, "is for another kind of machine: expected "
                                 "an " ARCH_NAME " program");
    case PROGRAM_LINKER:
        return refuse_file(look, "has a dynamic linker that ends it for a "
                                 "library of glibc; link it with glibc");
    case PROGRAM_MUSL:
        launch->is_musl = true;
        return note_children(launch, look, "is linked with musl, not glibc");
    case PROGRAM_STATIC:
        return is_linker(look)
                   ? 0
                   : note_children(launch, look, "is statically linked");
    default:
        return 0;
    }
}

int
launch_check(struct launch *launch, char *why, size_t size)
{
    struct look look = {.why = why, .size = size};
    int result = 1;
    if (find_in_path(launch->command[0], look.path) != 0)
        return 0;
    for (int i = 0; i < PROGRAM_SCRIPTS && result == 1; i++) {
        look.fd = open(look.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (look.fd < 0)
            return 0;
        result = check_file(launch, &look);
        close(look.fd);
    }
    return result < 0 ? -1 : 0;
}

/* Replace all values of NAME in the environment by VALUE: it may have several,
 * and setenv(3) alone replaces only one. */
int
launch_set(const char *name, const char *value)
{
    return unsetenv(name) == 0 ? setenv(name, value, 1) : -1;
}

/* Preload the library. It stands after other preloaded libraries, because some
 * insist on being first. */
static int
set_preload(const struct launch *launch)
{
    const char *others = getenv("LD_PRELOAD");
    char *all;
    if (asprintf(&all, "%s%s%s%s", others != NULL ? others : "",
                 others != NULL && others[0] != '\0' ? ":" : "",
                 launch->is_musl ? PROGRAM_HIDDEN : "", launch->library) < 0)
        return -1;
    int result = launch_set("LD_PRELOAD", all);
    free(all);
    return result;
}

/* posix_spawnp(3) searches PATH and returns the error of execve(2). That
 * distinguishes "not found" from "cannot be run". */
static int
spawn_program(struct launch *launch)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0)
        return error;
    posix_spawnattr_setsigmask(&attributes, &launch->mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&launch->pid, launch->command[0], NULL, &attributes,
                         launch->command, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Signals are blocked, because sigtimedwait(2) takes blocked signals only. If
 * nothing was started, the old mask is restored at once, else at the end of
 * launch_wait. */
int
launch_start(struct launch *launch)
{
    if (set_preload(launch) != 0)
        return ENOMEM;
    sigemptyset(&launch->set);
    sigaddset(&launch->set, SIGCHLD);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&launch->set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &launch->set, &launch->mask);
    int error = spawn_program(launch);
    if (error != 0)
        sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    return error;
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
    static const struct timespec half_second = {0, TICK_NS}, at_once;
    struct rusage usage = {0};
    pid_t ended;
    do {
        siginfo_t info;
        int signo = sigtimedwait(&launch->set, &info, &half_second);
        /* A signal from the terminal comes from the kernel (SI_KERNEL) and
         * reached both processes already. */
        if (signo <= 0)
            tick(context);
        else if (signo != SIGCHLD && signo != SIGPIPE &&
                 info.si_code != SI_KERNEL)
            kill(launch->pid, signo);
        ended = wait4(launch->pid, &launch->status, WNOHANG, &usage);
    } while (ended == 0 || (ended < 0 && errno == EINTR));
    /* Signals that came after the program had ended are not for this command: a
     * Ctrl-C that ended the program would end us, too, before the profile is
     * written. */
    while (sigtimedwait(&launch->set, NULL, &at_once) > 0)
        continue;
    (void)signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    if (ended < 0)
        return 1;
    launch->cpu = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
    return WIFSIGNALED(launch->status) ? 128 + WTERMSIG(launch->status)
                                       : WEXITSTATUS(launch->status);
}
