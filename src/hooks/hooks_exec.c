/* SPDX-License-Identifier: MIT */
/*
 * hooks_exec.c -- the hooks on functions that start other programs, in this
 * process or in a new one. A signal that is still pending at an exec would kill
 * the new image, so nothing may be in flight. The samples of this image are
 * written first. The new image inherits the program's settings, not ours
 * (mask.h). Vfork's children, which share our memory, call these hooks, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "agent/lifecycle.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/words.h"
#include "libc/real.h"
#include "signals/mask.h"
#include "hook.h"
#include "preload.h"

/* Called before an exec. With IS_LIKELY false the exec will fail, and the
 * profile goes on. */
static void
before(bool is_likely)
{
    if (is_likely)
        lifecycle_end_apart(END_EXEC);
    lifecycle_before_start();
}

/* Called when the exec has failed. errno says why, and is kept. */
static void
after(bool was_likely)
{
    mask_after_failed_exec();
    if (was_likely)
        lifecycle_after_failed_exec();
}

/* Whether PATH is a file that may be executed. */
static bool
may_execute(const char *path)
{
    struct stat file;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 &&
           sys_stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* The folders that execvp(3) searches, ':' between them. */
static const char *
search_path(void)
{
    for (char **variable = __environ; variable != NULL && *variable != NULL;
         variable++)
        if (strncmp(*variable, "PATH=", 5) == 0)
            return *variable + 5;
    return "/bin:/usr/bin";
}

typedef int exec_function(const char *path, char *const arguments[],
                          char *const environment[]);

/* Whether PATH may be executed. If so, PRELOAD becomes the change that its
 * environment needs. */
static bool
look_at(struct preload *preload, const char *path, char *const environment[])
{
    if (!may_execute(path))
        return false;
    preload_look(preload, AT_FDCWD, path, environment);
    return true;
}

/* The same of FILE in the folders. A path that is too long to be tried counts
 * as one that may. */
static bool
look_for(struct preload *preload, const char *file, char *const environment[])
{
    char path[PATH_MAX];
    const char *end;
    for (const char *folders = search_path();; folders = end + 1) {
        struct text text;
        end = strchrnul(folders, ':');
        text_begin(&text, path, sizeof(path));
        text_add_bytes(&text, folders, (size_t)(end - folders));
        text_add(&text, end > folders ? "/" : "");
        text_add(&text, file);
        if (text.cut || look_at(preload, path, environment))
            return true;
        if (*end == '\0')
            return false;
    }
}

/* Whether the exec of PATH will succeed, as far as can be known. */
static bool
look(struct preload *preload, const char *path, bool is_searched,
     char *const environment[])
{
    *preload = (struct preload){.words = 0};
    /* The check needs thread-local storage. */
    if (!phase_may_ask() || !words_are_there())
        return phase_may_ask();
    return is_searched && path != NULL && strchr(path, '/') == NULL
               ? look_for(preload, path, environment)
               : look_at(preload, path, environment);
}

/* A file that is missing, or cannot be executed, is left to the real function
 * alone. */
static int
exec(const char *path, char *const arguments[], char *const environment[],
     exec_function *real)
{
    struct preload preload;
    bool is_likely = look(&preload, path, real == REAL(execvpe), environment);
    char *copy[preload.words + 1];
    before(is_likely);
    int result =
        real(path, arguments, preload_change(&preload, environment, copy));
    after(is_likely);
    return result;
}

HOOK int
execve(const char *path, char *const arguments[], char *const environment[])
{
    return exec(path, arguments, environment, REAL(execve));
}

HOOK int
execv(const char *path, char *const arguments[])
{
    return exec(path, arguments, __environ, REAL(execve));
}

HOOK int
execvp(const char *file, char *const arguments[])
{
    return exec(file, arguments, __environ, REAL(execvpe));
}

HOOK int
execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return exec(file, arguments, environment, REAL(execvpe));
}

/* The program is the file FD, or PATH in DIRECTORY. */
static void
look_in(struct preload *preload, int directory, const char *path,
        char *const environment[])
{
    char link[PROC_PATH_SIZE], name[24];
    struct text text;
    *preload = (struct preload){.words = 0};
    if (!phase_may_ask())
        return;
    if (path != NULL && path[0] != '\0') {
        preload_look(preload, directory, path, environment);
        return;
    }
    text_begin(&text, name, sizeof(name));
    text_add(&text, "/fd/");
    text_add_number(&text, (uint64_t)directory);
    preload_look(preload, AT_FDCWD, proc_path(link, 0, PROC_PROCESS, name),
                 environment);
}

#define EXECS(name, parameters, directory, path, arguments)        \
    HOOK int name parameters                                       \
    {                                                              \
        struct preload preload;                                    \
        look_in(&preload, directory, path, environment);           \
        char *copy[preload.words + 1];                             \
        environment = preload_change(&preload, environment, copy); \
        bool is_likely = phase_may_ask();                          \
        before(is_likely);                                         \
        int result = REAL(name) arguments;                         \
        after(is_likely);                                          \
        return result;                                             \
    }

EXECS(fexecve, (int fd, char *const list[], char *const *environment), fd, NULL,
      (fd, list, environment))
EXECS(execveat,
      (int directory, const char *path, char *const list[],
       char *const *environment, int flags),
      directory, path, (directory, path, list, environment, flags))

/* The number of arguments from FIRST up to the NULL in LIST. */
static size_t
count_arguments(const char *first, va_list list)
{
    size_t count = 0;
    va_list copy;
    va_copy(copy, list);
    for (const char *a = first; a != NULL; a = va_arg(copy, const char *))
        count++;
    va_end(copy);
    return count;
}

/* exec with FIRST and the LIST of the other arguments, which the environment
 * may follow. */
static int
exec_list(const char *path, const char *first, va_list list,
          bool has_environment, exec_function *real)
{
    char *arguments[count_arguments(first, list) + 1];
    char **last = arguments;
    *last = (char *)(uintptr_t)first;
    while (*last != NULL)
        *++last = va_arg(list, char *);
    return exec(path, arguments,
                has_environment ? va_arg(list, char *const *) : __environ,
                real);
}

#define EXECS_LIST(name, has_environment, real)                           \
    HOOK int name(const char *path, const char *first, ...)               \
    {                                                                     \
        va_list list;                                                     \
        va_start(list, first);                                            \
        int result = exec_list(path, first, list, has_environment, real); \
        va_end(list);                                                     \
        return result;                                                    \
    }

EXECS_LIST(execl, false, REAL(execve))
EXECS_LIST(execlp, false, REAL(execvpe))
EXECS_LIST(execle, true, REAL(execve))

/* A new process inherits at its start, while the caller waits. */

#define STARTS(storage, result, name, real, parameters, arguments) \
    storage result name parameters                                 \
    {                                                              \
        lifecycle_before_start();                                  \
        result started = real arguments;                           \
        mask_after_failed_exec();                                  \
        return started;                                            \
    }

#define SPAWNS(storage, name, is_searched, real)                              \
    storage int name(pid_t *pid, const char *path,                            \
                     const posix_spawn_file_actions_t *actions,               \
                     const posix_spawnattr_t *attributes, char *const list[], \
                     char *const environment[])                               \
    {                                                                         \
        struct preload preload;                                               \
        (void)look(&preload, path, is_searched, environment);                 \
        char *copy[preload.words + 1];                                        \
        lifecycle_before_start();                                             \
        int error = real(pid, path, actions, attributes, list,                \
                         preload_change(&preload, environment, copy));        \
        mask_after_failed_exec();                                             \
        return error;                                                         \
    }

SPAWNS(HOOK, posix_spawn, false, REAL(posix_spawn))
SPAWNS(HOOK, posix_spawnp, true, REAL(posix_spawnp))

/* In these versions sh(1) runs a file that is no program. */
HOOK __typeof__(posix_spawn) old_posix_spawn, old_posix_spawnp;
HOOK_OLD(posix_spawn, ARCH_OLD_SPAWN);
HOOK_OLD(posix_spawnp, ARCH_OLD_SPAWN);
SPAWNS(, old_posix_spawn, false, REAL_OLD(posix_spawn, ARCH_OLD_SPAWN))
SPAWNS(, old_posix_spawnp, true, REAL_OLD(posix_spawnp, ARCH_OLD_SPAWN))

STARTS(HOOK, FILE *, popen, REAL(popen),
       (const char *command, const char *type), (command, type))
STARTS(HOOK, int, wordexp, REAL(wordexp),
       (const char *words, wordexp_t *expansion, int flags),
       (words, expansion, flags))
STARTS(HOOK, int, system, REAL(system), (const char *command), (command))
