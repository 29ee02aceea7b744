/* SPDX-License-Identifier: MIT */
/*
 * odd_names.c -- a program that writes its title over its arguments and
 * environment, as servers do, names its threads with control characters, a
 * semicolon, a newline and broken UTF-8, and then has a forked child compute.
 *
 * Argument: milliseconds, 300.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

static volatile uint64_t sink;

static void *
compute(void *name)
{
    pthread_setname_np(pthread_self(), name);
    sink += work_burn(100);
    return NULL;
}

/* From the first argument to the end of the environment it is one stretch. */
static void
write_title(char **argv)
{
    char *end = argv[0] + strlen(argv[0]);

    for (char **variable = environ; *variable != NULL; variable++)
        end = *variable + strlen(*variable);
    memset(argv[0], 'T', (size_t)(end - argv[0]));
}

int
main(int argc, char **argv)
{
    static char *names[] = {"\033[31m;a b\n", "\xff\xfe\xc2\x9b", "\t\r\x7f;"};
    unsigned budget = work_argument(argc, argv, 1, 300);
    pthread_t threads[3];
    pid_t child;
    int status = 0;

    write_title(argv);
    for (unsigned i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, compute, names[i]) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    child = fork();
    if (child == 0) {
        sink += work_burn(budget);
        _exit(3);
    }
    sink += work_burn(budget);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
        work_fail("the child did not end as it should");
    puts("ok");
    return 0;
}
