/* SPDX-License-Identifier: MIT */
/*
 * same_place.c -- three libraries of one size are loaded in turns, so that each
 * lies where another lay just before. A load computes and waits in its library,
 * whose destructor computes, too, and a label says which library it is.
 *
 * Arguments: loads, 100; the most milliseconds of CPU time that a load takes,
 * 20; threads that do so side by side, 1. The libraries lie beside the program.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "sprof.h"

#include "work.h"

typedef uint64_t computing(unsigned ms);

static const char *const names[] = {"one", "two", "three"};
#define LIBRARIES (sizeof(names) / sizeof(names[0]))

static unsigned loads, most;

/* Load library I. Returns its function. */
static computing *
load(unsigned i, void **handle)
{
    char file[64], path[4200], function[64];
    computing *compute;

    snprintf(file, sizeof(file), "same_place_%s.so", names[i]);
    snprintf(function, sizeof(function), "%s_compute", names[i]);
    work_beside(file, path, sizeof(path));
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL)
        work_fail(dlerror());
    *(void **)&compute = dlsym(*handle, function);
    if (compute == NULL)
        work_fail(dlerror());
    return compute;
}

/* Compute and wait in library I. Returns where its function lay. */
FRAME static uint64_t
run(unsigned i, unsigned ms)
{
    void *handle;
    computing *compute = load(i, &handle);
    int64_t scope = sprof_label_begin("library", names[i]);

    (void)compute(ms);
    if (dlclose(handle) != 0)
        work_fail(dlerror());
    sprof_label_end(scope);
    return (uint64_t)compute;
}

static void *
run_all(void *is_quiet)
{
    uint64_t random = 1, places[LIBRARIES] = {0};

    for (unsigned i = 0; i < loads; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        places[i % LIBRARIES] =
            run(i % LIBRARIES, 1 + (unsigned)(random >> 33) % most);
    }
    if (is_quiet == NULL)
        puts(places[0] == places[1] && places[1] == places[2] ? "one place"
                                                              : "places");
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 3, 1);
    pthread_t threads[16];

    loads = work_argument(argc, argv, 1, 100);
    most = work_argument(argc, argv, 2, 20);
    if (count == 0 || count > 16)
        work_fail("1 to 16 threads");
    for (unsigned i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_all, "") != 0)
            work_fail("pthread_create");
    run_all(NULL);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
