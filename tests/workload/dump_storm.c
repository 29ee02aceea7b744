/* SPDX-License-Identifier: MIT */
/*
 * dump_storm.c -- asks for the stacks of all threads again and again, by the
 * public header alone, while threads come and go, children are forked and a
 * library is loaded and unloaded. Threads that stay must be in every dump,
 * those that wait with their stack; and descriptors and memory must not grow.
 *
 * Usage: dump_storm DUMPS PLUGIN
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

#define STAY 8

/* KiB that memory may differ by: stacks and arenas of threads that live now. */
#define GROWTH 8192

static int stay_tids[STAY];
static atomic_uint begun;
static atomic_bool is_over;
static const char *plugin;

static void *
stay(void *number)
{
    stay_tids[(long)number] = (int)syscall(SYS_gettid);
    begun++;
    /* Half of them wait, the others compute now and then. */
    if ((long)number % 2 == 0)
        for (;;)
            pause();
    while (!is_over) {
        work_burn(1);
        work_sleep(3);
    }
    return NULL;
}

static void *
nothing(void *unused)
{
    return unused;
}

static void *
make_threads(void *unused)
{
    pthread_t thread;
    while (!is_over)
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
    return unused;
}

static void *
make_children(void *unused)
{
    while (!is_over) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child > 0)
            waitpid(child, NULL, 0);
        work_sleep(5);
    }
    return unused;
}

static void *
load(void *unused)
{
    while (!is_over) {
        void *handle = dlopen(plugin, RTLD_NOW);
        if (handle == NULL)
            work_fail("dlopen");
        dlclose(handle);
        work_sleep(2);
    }
    return unused;
}

struct seen {
    bool is_there[STAY], has_stack[STAY];
    unsigned threads;
};

static int
see(const struct sprof_stack *stack, void *context)
{
    struct seen *seen = context;
    seen->threads++;
    for (int i = 0; i < STAY; i++)
        if (stack->tid == stay_tids[i]) {
            seen->is_there[i] = true;
            seen->has_stack[i] = stack->depth > 2 && stack->frames[0] != 0;
        }
    return 0;
}

static unsigned
count_descriptors(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

/* Resident memory that is no file's, in KiB. */
static long
memory(void)
{
    char line[256];
    long size = 0;
    FILE *stream = fopen("/proc/self/status", "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            size = strtol(line + 8, NULL, 10);
    if (stream != NULL)
        fclose(stream);
    return size;
}

/* Returns how many threads were not in it, or had no stack though they wait. */
static unsigned
dump(unsigned *failed)
{
    struct seen seen;
    unsigned missing = 0;
    memset(&seen, 0, sizeof seen);
    if (sprof_stacks_collect(see, &seen) != 0) {
        ++*failed;
        return 0;
    }
    for (int i = 0; i < STAY; i++)
        missing += !seen.is_there[i] || (i % 2 == 0 && !seen.has_stack[i]);
    return missing;
}

int
main(int argc, char **argv)
{
    static void *(*const others[])(void *) = {make_threads, make_children,
                                              load};
    unsigned dumps = work_argument(argc, argv, 1, 100);
    unsigned missing = 0, failed = 0;
    pthread_t thread, churn[3];
    plugin = argc > 2 ? argv[2] : "./plugin.so";
    for (long i = 0; i < STAY; i++)
        if (pthread_create(&thread, NULL, stay, (void *)i) != 0)
            work_fail("pthread_create");
    while (begun < STAY)
        work_sleep(1);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&churn[i], NULL, others[i], NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < dumps / 10; i++)
        missing += dump(&failed);
    long before = memory();
    unsigned descriptors = count_descriptors();
    for (unsigned i = 0; i < dumps; i++)
        missing += dump(&failed);
    long after = memory();
    is_over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(churn[i], NULL);
    printf("missing %u\nfailed %u\ndescriptors %s\nmemory %s\n", missing,
           failed, count_descriptors() <= descriptors + 2 ? "flat" : "more",
           after < before + GROWTH ? "flat" : "more");
    if (after >= before + GROWTH)
        printf("%ld -> %ld KiB\n", before, after);
    puts("ok");
    fflush(stdout);
    _exit(0);
}
