/* SPDX-License-Identifier: MIT */
/* catcher.c -- see catcher.h. MUTEX protects what both threads use. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "util/array.h"
#include "catcher.h"

/* CAUGHT_MOST: spools that wait to be taken; more are left to the next look. */
enum { CAUGHT_MOST = 256 };

struct watched {
    int watch;
    char *path;
};

struct caught {
    int fd;
    char path[PATH_MAX + 64];
};

struct catcher {
    pthread_t thread;
    pthread_mutex_t mutex;
    int notify;              /* inotify(7) */
    int news, end;           /* eventfd(2): for the caller, for the thread */
    struct watched *watched; /* MUTEX */
    size_t watched_count;    /* MUTEX */
    struct caught *caught;   /* MUTEX */
    size_t caught_count;     /* MUTEX */
};

static bool
is_spool(const char *name)
{
    static const char ending[] = ".sprof";
    size_t length = strlen(name), size = sizeof(ending) - 1;
    return length > size && strcmp(name + length - size, ending) == 0;
}

/* Open the file that EVENT names. */
static void
catch_one(struct catcher *catcher, const struct inotify_event *event)
{
    struct caught caught = {.fd = -1};
    if (event->len == 0 || !is_spool(event->name))
        return;
    pthread_mutex_lock(&catcher->mutex);
    for (size_t i = 0; i < catcher->watched_count; i++)
        if (catcher->watched[i].watch == event->wd)
            snprintf(caught.path, sizeof(caught.path), "%s/%s",
                     catcher->watched[i].path, event->name);
    if (caught.path[0] != '\0' && catcher->caught_count < CAUGHT_MOST)
        caught.fd = open(caught.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (caught.fd >= 0 && ARRAY_GROW(catcher->caught, catcher->caught_count))
        catcher->caught[catcher->caught_count++] = caught;
    else if (caught.fd >= 0)
        close(caught.fd);
    pthread_mutex_unlock(&catcher->mutex);
    uint64_t one = 1;
    (void)!write(catcher->news, &one, sizeof(one));
}

static void *
run(void *context)
{
    struct catcher *catcher = context;
    struct pollfd fds[] = {{.fd = catcher->notify, .events = POLLIN},
                           {.fd = catcher->end, .events = POLLIN}};
    _Alignas(struct inotify_event) char events[16 * 1024];
    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        if (fds[1].revents != 0)
            break;
        ssize_t size = read(catcher->notify, events, sizeof(events));
        for (ssize_t at = 0; at < size;) {
            const struct inotify_event *event =
                (const struct inotify_event *)(const void *)(events + at);
            catch_one(catcher, event);
            at += (ssize_t)(sizeof(*event) + event->len);
        }
    }
    return NULL;
}

/* Signals are for the caller's thread. */
static int
begin_thread(struct catcher *catcher)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&catcher->thread, NULL, run, catcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0 ? 0 : -1;
}

static void
close_all(struct catcher *catcher)
{
    const int fds[] = {catcher->notify, catcher->news, catcher->end};
    for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (size_t i = 0; i < catcher->caught_count; i++)
        close(catcher->caught[i].fd);
    for (size_t i = 0; i < catcher->watched_count; i++)
        free(catcher->watched[i].path);
    free(catcher->caught);
    free(catcher->watched);
    pthread_mutex_destroy(&catcher->mutex);
    free(catcher);
}

struct catcher *
catcher_new(void)
{
    struct catcher *catcher = calloc(1, sizeof(*catcher));
    if (catcher == NULL)
        return NULL;
    pthread_mutex_init(&catcher->mutex, NULL);
    catcher->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    catcher->news = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    catcher->end = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (catcher->notify >= 0 && catcher->news >= 0 && catcher->end >= 0 &&
        begin_thread(catcher) == 0)
        return catcher;
    int error = errno;
    close_all(catcher);
    errno = error;
    return NULL;
}

int
catcher_watch(struct catcher *catcher, const char *path)
{
    struct watched watched = {.path = strdup(path)};
    int status = -1;
    if (watched.path == NULL)
        return -1;
    pthread_mutex_lock(&catcher->mutex);
    watched.watch = inotify_add_watch(catcher->notify, path,
                                      IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    if (watched.watch >= 0 &&
        ARRAY_GROW(catcher->watched, catcher->watched_count)) {
        catcher->watched[catcher->watched_count++] = watched;
        status = 0;
    }
    pthread_mutex_unlock(&catcher->mutex);
    if (status != 0)
        free(watched.path);
    return status;
}

int
catcher_fd(const struct catcher *catcher)
{
    return catcher->news;
}

int
catcher_take(struct catcher *catcher, char *path, size_t size)
{
    int fd = -1;
    uint64_t unused;
    (void)!read(catcher->news, &unused, sizeof(unused));
    pthread_mutex_lock(&catcher->mutex);
    if (catcher->caught_count > 0) {
        const struct caught *caught = &catcher->caught[--catcher->caught_count];
        fd = caught->fd;
        snprintf(path, size, "%s", caught->path);
    }
    pthread_mutex_unlock(&catcher->mutex);
    return fd;
}

void
catcher_free(struct catcher *catcher)
{
    uint64_t one = 1;
    if (catcher == NULL)
        return;
    (void)!write(catcher->end, &one, sizeof(one));
    pthread_join(catcher->thread, NULL);
    close_all(catcher);
}
