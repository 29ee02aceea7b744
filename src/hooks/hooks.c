/* SPDX-License-Identifier: MIT */
/*
 * hooks.c -- the hooks on functions of libc that have no file of their own. The
 * other files are: hooks_block.c (calls that may wait), hooks_count.c (the
 * number of threads in a file), hooks_exec.c (other programs), hooks_sandbox.c
 * (namespaces, and a look at the threads), hooks_signal.c and hooks_wait.c
 * (signals), hooks_syscall.c (syscall, prctl, ptrace, clone). Each hook is
 * thin: it reports to the profiler what is about to happen or has happened, and
 * calls the real function. Hooks work before the constructor and in processes
 * that only share our memory (vfork). There they only call the real function
 * and note where the thread waits.
 *
 * The hard thing is what must not change: arguments, results, errno, and that a
 * process which is not profiled behaves as if the hooks were not there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <threads.h>
#include <unistd.h>

#include "agent/credentials.h"
#include "agent/guardian.h"
#include "agent/lifecycle.h"
#include "agent/loaded.h"
#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "libc/real.h"
#include "process/threads.h"
#include "process/unloads.h"
#include "sampling/single_thread.h"
#include "sampling/thread_ends.h"
#include "hook.h"

/* The device that /dev/null is (null(4)). */
#define NULL_MAJOR 1
#define NULL_MINOR 3

/* Threads are known at once, not only at the next enumeration. */

HOOK int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *), void *argument)
{
    single_thread_end();
    lifecycle_hurry();
    int result = thread_ends_create(thread, attributes, start, argument);
    threads_touch();
    return result;
}

HOOK int
thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    single_thread_end();
    lifecycle_hurry();
    int result = thread_ends_create_c11(thread, start, argument);
    threads_touch();
    return result;
}

/* Keys are few (PTHREAD_KEYS_MAX), and all of them are for the program. */

HOOK int
pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = REAL(pthread_key_create)(key, destructor);
    if (error == EAGAIN && thread_ends_release_key())
        error = REAL(pthread_key_create)(key, destructor);
    return error;
}

HOOK int
tss_create(tss_t *key, tss_dtor_t destructor)
{
    int result = REAL(tss_create)(key, destructor);
    if (result == thrd_error && thread_ends_release_key())
        result = REAL(tss_create)(key, destructor);
    return result;
}

HOOK void
pthread_exit(void *result)
{
    lifecycle_hurry();
    if (phase_is_running() && sys_gettid() == sys_getpid())
        guardian_start();
    unloads_thread_ends();
    REAL(pthread_exit)(result);
    __builtin_unreachable();
}

/* Modules: earlier rules are not trusted until the map is read again. dlopen
 * has no hook: it uses the RUNPATH of the calling library, which would then be
 * ours. New code is noticed when a pc lies in it.
 */

HOOK int
dlclose(void *handle)
{
    loaded_before_close();
    int result = REAL(dlclose)(handle);
    loaded_after_close();
    return result;
}

/* A program that loads modules by itself may map the code of one where another
 * one lay. It maps privately; code that a runtime generates is shared. */

static void *
map(void *place, size_t size, int access, int flags, int fd, off_t offset)
{
    if ((access & PROT_EXEC) == 0 || (flags & MAP_ANONYMOUS) != 0 ||
        (flags & MAP_TYPE) != MAP_PRIVATE)
        return real_mmap(place, size, access, flags, fd, offset);
    bool has_words = words_are_there();
    if (has_words)
        unloads_closing(1);
    void *result = real_mmap(place, size, access, flags, fd, offset);
    if (result != MAP_FAILED)
        unloads_note((uint64_t)result, (uint64_t)result + size);
    if (has_words)
        unloads_closing(-1);
    return result;
}

/* Two names of one function (glibc, where off_t has 64 bits). */

HOOK void *
mmap(void *place, size_t size, int access, int flags, int fd, off_t offset)
{
    return map(place, size, access, flags, fd, offset);
}

HOOK void *
mmap64(void *place, size_t size, int access, int flags, int fd, off64_t offset)
{
    return map(place, size, access, flags, fd, offset);
}

/* Ids of the process: the sampler must be able to make the same change. USER is
 * the user that the process becomes for good. */
#define CHANGES_IDS(name, parameters, arguments, user)         \
    HOOK int name parameters                                   \
    {                                                          \
        credentials_before_change(user);                       \
        return credentials_after_change(REAL(name) arguments); \
    }

CHANGES_IDS(setuid, (uid_t uid), (uid), uid)
CHANGES_IDS(setgid, (gid_t gid), (gid), CREDENTIALS_SAME_USER)
CHANGES_IDS(seteuid, (uid_t uid), (uid), CREDENTIALS_SAME_USER)
CHANGES_IDS(setegid, (gid_t gid), (gid), CREDENTIALS_SAME_USER)
CHANGES_IDS(setreuid, (uid_t uid, uid_t euid), (uid, euid),
            uid == euid ? euid : CREDENTIALS_SAME_USER)
CHANGES_IDS(setregid, (gid_t gid, gid_t egid), (gid, egid),
            CREDENTIALS_SAME_USER)
CHANGES_IDS(setresuid, (uid_t uid, uid_t euid, uid_t suid), (uid, euid, suid),
            uid == euid && euid == suid ? euid : CREDENTIALS_SAME_USER)
CHANGES_IDS(setresgid, (gid_t gid, gid_t egid, gid_t sgid), (gid, egid, sgid),
            CREDENTIALS_SAME_USER)
CHANGES_IDS(setgroups, (size_t count, const gid_t *groups), (count, groups),
            CREDENTIALS_SAME_USER)
CHANGES_IDS(initgroups, (const char *user, gid_t group), (user, group),
            CREDENTIALS_SAME_USER)

/* The files lie in the root that the process leaves. Before that, the sampler
 * gets its own copy of that root. */
HOOK int
chroot(const char *path)
{
    if (lifecycle_is_early())
        lifecycle_hurry();
    return REAL(chroot)(path);
}

/* Forks that call handlers (pthread_atfork(3)), which report them. Only the
 * start of the child's sampler waits for the return. */

static pid_t
fork_by_libc(void *unused)
{
    (void)unused;
    return REAL(fork)();
}

HOOK pid_t
fork(void)
{
    struct regs at;
    arch_entry(&at, (void *)REAL(fork));
    return lifecycle_fork(fork_by_libc, NULL, &at);
}

struct forkpty_arguments {
    int *master;
    char *name;
    const struct termios *terminal;
    const struct winsize *size;
};

static pid_t
forkpty_by_libc(void *argument)
{
    const struct forkpty_arguments *given = argument;
    return REAL(forkpty)(given->master, given->name, given->terminal,
                         given->size);
}

HOOK int
forkpty(int *master, char *name, const struct termios *terminal,
        const struct winsize *size)
{
    struct forkpty_arguments arguments = {master, name, terminal, size};
    struct regs at;
    arch_entry(&at, (void *)REAL(forkpty));
    return lifecycle_fork(forkpty_by_libc, &arguments, &at);
}

/* Put /dev/null in place of the standard descriptors. A root made for few
 * programs may have another file there, or none. As in libc, errno is then
 * ENODEV or EBADF. */
static int
take_null(void)
{
    struct stat status;
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || fstat(null, &status) != 0) {
        close(null);
        return -1;
    }
    if (!S_ISCHR(status.st_mode) ||
        status.st_rdev != makedev(NULL_MAJOR, NULL_MINOR)) {
        close(null);
        errno = ENODEV;
        return -1;
    }
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    return 0;
}

/* daemon(3). Inside libc its first process ends by a call that no hook sees. So
 * this version uses calls that have hooks. */
HOOK int
daemon(int stays_in_directory, int keeps_files)
{
    switch (fork()) {
    case -1:
        return -1;
    case 0:
        break;
    default:
        _exit(0);
    }
    if (setsid() < 0)
        return -1;
    if (!stays_in_directory)
        (void)!chdir("/");
    return keeps_files ? 0 : take_null();
}

/* Ends of the process that run no destructor. */

#define ENDS(storage, name, told, real) \
    storage void name(int status)       \
    {                                   \
        told;                           \
        real(status);                   \
        __builtin_unreachable();        \
    }

ENDS(HOOK, _exit, lifecycle_end_apart(END_QUICK), REAL(_exit))
ENDS(HOOK, _Exit, lifecycle_end_apart(END_QUICK), REAL(_exit))
/* Functions of at_quick_exit(3) may follow. */
ENDS(HOOK, quick_exit, lifecycle_end_apart(END_EXIT), REAL(quick_exit))

HOOK_OLD(quick_exit, ARCH_OLD_QUICK_EXIT);
HOOK void old_quick_exit(int status);
/* Runs after the destructors of thread_local objects. */
ENDS(, old_quick_exit, lifecycle_end(END_EXIT),
     REAL_OLD(quick_exit, ARCH_OLD_QUICK_EXIT))
