/* SPDX-License-Identifier: MIT */
/*
 * chaos_malloc.c -- eight threads that hold every lock a profiler might want:
 * malloc's arenas, stdio's, the loader's, the unwinder's. A profiler that
 * takes one of them while a thread is suspended hangs here. Every thread
 * checks its own results.
 *
 * Argument: seconds of wall time, 5; half as many of CPU time pass, too. Prints
 * how often each kind of work was done on stderr, and "ok".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chaos.h"
#include "work.h"

static atomic_bool stop;
static char plugin_path[4200];

/* Blocks of many sizes, each filled with its own byte and checked. */
static void
do_malloc(unsigned seed)
{
    unsigned char *blocks[64];
    size_t sizes[64];

    for (unsigned i = 0; i < 64; i++) {
        sizes[i] = 1 + (size_t)rand_r(&seed) % (i % 16 == 0 ? 300000 : 2000);
        blocks[i] = malloc(sizes[i]);
        if (blocks[i] == NULL)
            work_fail("malloc");
        memset(blocks[i], (int)i, sizes[i]);
    }
    for (unsigned i = 0; i < 64; i++) {
        if (blocks[i][0] != i || blocks[i][sizes[i] - 1] != i)
            work_fail("a block was overwritten");
        free(blocks[i]);
    }
}

static void
do_stdio(unsigned seed)
{
    FILE *file = fopen("/dev/null", "w");
    char text[64];

    if (file == NULL)
        work_fail("fopen");
    for (unsigned i = 0; i < 200; i++)
        if (fprintf(file, "%u %s %f\n", seed + i, "text", 1.0 / (i + 1)) < 0)
            work_fail("fprintf");
    fclose(file);
    snprintf(text, sizeof text, "%u", seed);
    if (strtoul(text, NULL, 10) != seed)
        work_fail("snprintf");
}

static void
do_dlopen(unsigned seed)
{
    void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    uint64_t (*compute)(uint64_t), (*result)(void);

    (void)seed;
    if (plugin == NULL)
        work_fail(dlerror());
    *(void **)&compute = dlsym(plugin, "plugin_compute");
    *(void **)&result = dlsym(plugin, "plugin_result");
    if (compute(20000) != result())
        work_fail("the plugin computed something else");
    dlclose(plugin);
}

static void
do_throw(unsigned seed)
{
    unsigned depth = 1 + seed % 50;

    if (chaos_throw(depth) != depth)
        work_fail("an exception was not unwound as it should");
}

static void (*const kinds[])(unsigned) = {do_malloc, do_stdio, do_dlopen,
                                          do_throw};
static atomic_ulong done[4];

/* Usually its own kind of work, now and then another. */
static void *
worker(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    unsigned own = seed % 4;

    while (!atomic_load(&stop)) {
        unsigned kind = rand_r(&seed) % 8 == 0 ? (seed >> 8) % 4 : own;

        kinds[kind](seed);
        atomic_fetch_add(&done[kind], 1);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned seconds = work_argument(argc, argv, 1, 5);
    pthread_t threads[8];

    work_beside("plugin.so", plugin_path, sizeof plugin_path);
    for (uintptr_t i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)(i + 8)) != 0)
            work_fail("pthread_create");
    work_sleep(seconds * 1000);
    /* A busy machine may have left a thread without a CPU, or all of them. */
    while (clock() < (clock_t)seconds * CLOCKS_PER_SEC / 2)
        work_sleep(10);
    for (unsigned i = 0; i < 4; i++)
        while (atomic_load(&done[i]) == 0)
            work_sleep(10);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "malloc %lu, stdio %lu, dlopen %lu, throw %lu\n", done[0],
            done[1], done[2], done[3]);
    puts("ok");
    return 0;
}
