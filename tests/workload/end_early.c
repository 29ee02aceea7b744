/* SPDX-License-Identifier: MIT */
/*
 * end_early.c -- a library that ends the process from its constructor, its
 * destructor or a second thread that its constructor starts, as END_EARLY says:
 * constructor, constructor_now, destructor, destructor_now, thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
is_wanted(const char *way)
{
    const char *wanted = getenv("END_EARLY");
    return wanted != NULL && strcmp(wanted, way) == 0;
}

static void *
end_soon(void *unused)
{
    usleep(100000);
    exit(45);
    return unused;
}

__attribute__((constructor)) static void
begin(void)
{
    pthread_t thread;
    if (is_wanted("constructor"))
        exit(41);
    if (is_wanted("constructor_now"))
        _exit(42);
    if (is_wanted("thread"))
        pthread_create(&thread, NULL, end_soon, NULL);
}

__attribute__((destructor)) static void
finish(void)
{
    if (is_wanted("destructor"))
        exit(43); /* undefined by C; glibc goes on with what is left */
    if (is_wanted("destructor_now"))
        _exit(44);
}
