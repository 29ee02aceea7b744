/* SPDX-License-Identifier: MIT */
/*
 * dlopen_loop.c -- several threads load a plugin, compute in it and unload it,
 * again and again. Code comes and goes while stacks through it are walked;
 * the same addresses are soon something else.
 *
 * Arguments: milliseconds of wall time, 1000; threads, 3. The plugin lies
 * beside the program.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static char plugin_path[4200];
static atomic_bool stop;
static uint64_t first_result;

FRAME static uint64_t
load_and_compute(void)
{
    void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    uint64_t (*compute)(uint64_t);
    uint64_t value;

    if (plugin == NULL)
        work_fail(dlerror());
    *(void **)&compute = dlsym(plugin, "plugin_compute");
    if (compute == NULL)
        work_fail(dlerror());
    value = compute(500000);
    if (dlclose(plugin) != 0)
        work_fail(dlerror());
    return value;
}

static void *
loader(void *argument)
{
    while (!atomic_load(&stop))
        if (load_and_compute() != first_result)
            work_fail("the plugin computed something else");
    return argument;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000);
    unsigned count = work_argument(argc, argv, 2, 3);
    pthread_t threads[64];

    if (count > 64)
        work_fail("at most 64 threads");
    work_beside("plugin.so", plugin_path, sizeof plugin_path);
    first_result = load_and_compute();
    work_expect("load_and_compute");
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, loader, NULL) != 0)
            work_fail("pthread_create");
    work_sleep(ms);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
