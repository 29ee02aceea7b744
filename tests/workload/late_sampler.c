/* SPDX-License-Identifier: MIT */
/*
 * late_sampler.c -- changes its user and then its group, by a capability that
 * it keeps, while a tracer holds the thread "sprof", as a busy machine would.
 * glibc aborts where one thread may do that and another may not. To be run as
 * root.
 *
 * Argument: milliseconds for which the thread is held, 300.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum { OTHER = 64321 };

static int ready[2];

/* The tid of PROCESS's thread "sprof", 0 if it has none. */
static pid_t
find_sampler(pid_t process)
{
    char path[300], name[32] = "";
    const struct dirent *entry;
    pid_t found = 0;
    DIR *directory;

    snprintf(path, sizeof path, "/proc/%d/task", process);
    directory = opendir(path);
    while (directory != NULL && found == 0 &&
           (entry = readdir(directory)) != NULL) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", process,
                 entry->d_name);
        FILE *stream = fopen(path, "r");
        if (stream == NULL)
            continue;
        if (fgets(name, sizeof name, stream) != NULL &&
            strcmp(name, "sprof\n") == 0)
            found = atoi(entry->d_name);
        fclose(stream);
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

/* The tracer, a child. */
static void
hold(pid_t process, unsigned ms)
{
    pid_t tid = find_sampler(process);

    if (tid != 0 && (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0 ||
                     ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0 ||
                     waitpid(tid, NULL, __WALL) != tid))
        work_fail("ptrace");
    if (write(ready[1], "x", 1) != 1)
        work_fail("write");
    work_sleep(ms);
    _exit(0);
}

static void
keep_one_capability(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    data[0].effective = data[0].permitted = 1u << CAP_SETGID;
    if (syscall(SYS_capset, &header, data) != 0)
        work_fail("capset");
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 300);
    pid_t process = getpid(), child;
    char byte;

    if (pipe(ready) != 0)
        work_fail("pipe");
    child = fork();
    if (child == 0)
        hold(process, ms);
    if (read(ready[0], &byte, 1) != 1)
        work_fail("read");
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresuid(OTHER, OTHER, OTHER) != 0)
        work_fail("setresuid");
    keep_one_capability();
    if (setresgid(OTHER, OTHER, OTHER) != 0)
        work_fail("setresgid");
    if (waitpid(child, NULL, 0) != child)
        work_fail("waitpid");
    printf("%d %d\nok\n", getuid(), getgid());
    return 0;
}
