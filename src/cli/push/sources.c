/* SPDX-License-Identifier: MIT */
/*
 * sources.c -- see sources.h. Of a process in another container its pid means
 * nothing here. Its spool is complete when the library says so, or when it has
 * not ticked for STALE_NS.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/proc.h"
#include "cli/command.h"
#include "cli/process/discover.h"
#include "store/reader.h"
#include "symbol/symbolizer.h"
#include "util/array.h"
#include "catcher.h"
#include "sources_parts.h"
#include "sources.h"

#define STALE_NS (UINT64_C(600) * NS_PER_SECOND)

/* LEFT_NS: time for which a spool is kept that its process does not have
 * open. */
#define LEFT_NS (UINT64_C(10) * NS_PER_SECOND)

/* DONE_NS: least time for which a spool that was taken whole is remembered. */
#define DONE_NS (UINT64_C(60) * NS_PER_SECOND)

/* JUMP_NS: the clock of the day may have been set since a process began. By
 * more than this, the times of its profiles follow it. */
#define JUMP_NS NS_PER_SECOND

/* SERVER_SECONDS: for servers of debug files. PATH_SIZE: bytes of a path.
 * FILES_MOST: files whose names one symbolizer keeps. PASSED_MOST: files that
 * are remembered because they are not followed. */
enum {
    SERVER_SECONDS = 5,
    PATH_SIZE = PATH_MAX + 64,
    FILES_MOST = 2000,
    PASSED_MOST = 20000
};

/* Watch the directory PATH, unless it is watched. */
static int
add_directory(struct sources *sources, const char *path, bool is_given)
{
    for (size_t i = 0; i < sources->directory_count; i++)
        if (strcmp(sources->directories[i].path, path) == 0)
            return 0;
    if (!ARRAY_GROW(sources->directories, sources->directory_count))
        return -1;
    struct sources_directory directory = {.path = strdup(path),
                                          .is_given = is_given};
    if (directory.path == NULL)
        return -1;
    (void)catcher_watch(sources->catcher, path);
    sources->directories[sources->directory_count++] = directory;
    return 0;
}

int
sources_begin(struct sources *sources, const char *const *directories,
              const char *only)
{
    *sources =
        (struct sources){.begun = clock_realtime(), .is_closed = only != NULL};
    sources->catcher = catcher_new();
    if (sources->catcher == NULL)
        return -1;
    if (only != NULL && add_directory(sources, only, true) != 0)
        return -1;
    for (; *directories != NULL; directories++)
        if (add_directory(sources, *directories, true) != 0)
            return -1;
    return 0;
}

/* The value of the variable NAME in the environment of PID, for the caller to
 * free; NULL if it has none or may not be read. */
static char *
variable_of(pid_t pid, const char *name)
{
    enum { SIZE = 1 << 17 };
    size_t length = strlen(name);
    char *text = calloc(1, SIZE), *value = NULL;
    long size = 0;
    if (text != NULL)
        size = proc_read(pid, PROC_PROCESS, "/environ", text, SIZE - 1);
    for (long at = 0; at < size && value == NULL;
         at += (long)strlen(text + at) + 1)
        if (strncmp(text + at, name, length) == 0 &&
            text[at + (long)length] == '=')
            value = strdup(text + at + (long)length + 1);
    free(text);
    return value;
}

/* The id of the container that PID runs in, as its cgroup is named: 64
 * hexadecimal digits. NULL: none is known. */
static char *
container_of(pid_t pid)
{
    enum { DIGITS = 64 };
    char text[4096] = "";
    long size = proc_read(pid, PROC_PROCESS, "/cgroup", text, sizeof(text));
    for (const char *at = text; size > 0 && *at != '\0'; at++) {
        size_t length = strspn(at, "0123456789abcdef");
        if (length == DIGITS)
            return strndup(at, DIGITS);
        at += length;
        if (*at == '\0')
            break;
    }
    return NULL;
}

/* The variables of the process itself say more than ours. */
static void
find_resource(struct source *source)
{
    struct otlp_resource *resource = &source->resource;
    const char *ours = getenv("OTEL_RESOURCE_ATTRIBUTES");
    if (source->has_process) {
        pid_t pid = source->process.pid;
        resource->service = variable_of(pid, "OTEL_SERVICE_NAME");
        resource->attributes = variable_of(pid, "OTEL_RESOURCE_ATTRIBUTES");
        resource->container = container_of(pid);
    }
    if (resource->attributes == NULL && ours != NULL)
        resource->attributes = strdup(ours);
}

void
sources_release(struct source *source)
{
    interval_close(source->interval);
    free(source->path);
    free((char *)source->resource.service);
    free((char *)source->resource.attributes);
    free((char *)source->resource.container);
}

/* A file, as it is now. */
struct file_key {
    uint64_t device, inode, size, changed;
};

/* Which file ENTRY of DIRECTORY is. Returns 0, or -1 if it is no file. */
static int
key_of(int directory, const char *entry, struct file_key *key)
{
    struct stat now;
    if (fstatat(directory, entry, &now, 0) != 0 || !S_ISREG(now.st_mode))
        return -1;
    *key = (struct file_key){now.st_dev, now.st_ino, (uint64_t)now.st_size,
                             (uint64_t)now.st_mtim.tv_sec * NS_PER_SECOND +
                                 (uint64_t)now.st_mtim.tv_nsec};
    return 0;
}

/* Add source AT to the tables. If memory is short, its file is looked at again,
 * which costs time. */
static void
index_source(struct sources *sources, size_t at)
{
    const struct source *source = &sources->all[at];
    dev_t device;
    ino_t inode;
    interval_file(source->interval, &device, &inode);
    const uint64_t file[] = {device, inode};
    const uint64_t process[] = {(uint64_t)source->process.pid,
                                source->process.start};
    (void)intern_put(&sources->followed, file, sizeof(file));
    if (!source->has_process ||
        !ARRAY_GROW(sources->latest, intern_count(&sources->processes)))
        return;
    uint32_t number = intern_put(&sources->processes, process, sizeof(process));
    if (number != INTERN_NONE)
        sources->latest[number] = at;
}

static void
clear_index(struct sources *sources)
{
    intern_clear(&sources->followed);
    intern_clear(&sources->processes);
    free(sources->latest);
    sources->latest = NULL;
}

/* Whether the file of KEY is followed, or need not be. */
static bool
is_seen(const struct sources *sources, const struct file_key *key)
{
    const uint64_t file[] = {key->device, key->inode};
    return intern_find(&sources->followed, file, sizeof(file)) != INTERN_NONE ||
           intern_find(&sources->passed, key, sizeof(*key)) != INTERN_NONE;
}

/* Whether the spool called NAME is followed, or was taken whole. */
static bool
is_known(const struct sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(interval_name(sources->all[i].interval), name) == 0)
            return true;
    for (size_t i = 0; i < sources->done_count; i++)
        if (strcmp(sources->done[i].name, name) == 0)
            return true;
    return false;
}

/* Note whether the process of SOURCE lives, if its pid counts here. */
static void
find_process(struct source *source)
{
    const struct spool_header *header = interval_header(source->interval);
    char path[PATH_SIZE], error[PATH_SIZE + 512];
    struct stat own = {0};
    (void)stat("/proc/self/ns/pid", &own);
    source->is_foreign = header->pid_namespace != 0 &&
                         header->pid_namespace != (uint32_t)own.st_ino;
    if (source->is_foreign)
        return;
    source->has_process =
        process_look(&source->process, (pid_t)header->pid, error,
                     sizeof(error)) == 0 &&
        process_find_spool((pid_t)header->pid, path, sizeof(path), error,
                           sizeof(error)) == 0 &&
        interval_is_at(source->interval, path);
}

/* The options of the next source. Processes share files, so they share the
 * symbolizer. One that has met many files lives only as long as its sources. */
static struct symbolizer_options
symbolizer_for(struct sources *sources)
{
    struct symbolizer_options options = {.inlines = true,
                                         .server_seconds = SERVER_SECONDS};
    if (sources->symbolizer != NULL &&
        symbolizer_files(sources->symbolizer) > FILES_MOST) {
        symbolizer_free(sources->symbolizer);
        sources->symbolizer = NULL;
    }
    if (sources->symbolizer == NULL)
        sources->symbolizer = symbolizer_new(&options);
    options.shared = sources->symbolizer;
    return options;
}

struct source *
sources_follow(struct sources *sources, const char *path,
               const struct process *process, uint64_t since, bool *is_early)
{
    const struct symbolizer_options options = symbolizer_for(sources);
    char error[PATH_SIZE + 256];
    struct source source = {0};
    source.interval = interval_open(path, &options, error, sizeof(error));
    *is_early = source.interval == NULL;
    if (source.interval == NULL)
        return NULL;
    const struct spool_header *header = interval_header(source.interval);
    if (is_known(sources, interval_name(source.interval)) ||
        header->purpose == SPOOL_RESULT || header->start_realtime < since ||
        !ARRAY_GROW(sources->all, sources->count))
        goto err;
    source.path = strdup(path);
    if (source.path == NULL)
        goto err;
    source.ticked_at = clock_now();
    if (process != NULL) {
        source.process = *process;
        source.has_process = true;
        interval_tell_pid(source.interval, (uint32_t)process->pid);
    } else {
        find_process(&source);
    }
    sources->all[sources->count] = source;
    index_source(sources, sources->count);
    return &sources->all[sources->count++];

err:
    sources_release(&source);
    return NULL;
}

void
sources_watch_beside(struct sources *sources, const char *path)
{
    char directory[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    /* What another root shows is not watched: its process knows it. */
    if (slash == NULL || strncmp(path, "/proc/", 6) == 0)
        return;
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
    (void)add_directory(sources, directory[0] != '\0' ? directory : "/", false);
}

/* For discover_each: follow the spool of PROCESS. */
static void
take_process(const struct process *process, void *context)
{
    struct sources *sources = context;
    char path[PATH_SIZE], error[PATH_SIZE + 512];
    bool unused;
    const uint64_t key[] = {(uint64_t)process->pid, process->start};
    uint32_t number = intern_find(&sources->processes, key, sizeof(key));
    if (number != INTERN_NONE) {
        const struct source *source = &sources->all[sources->latest[number]];
        if (interval_is_at(source->interval, source->path))
            return;
    }
    if (process_find_spool(process->pid, path, sizeof(path), error,
                           sizeof(error)) != 0)
        return;
    struct source *source = sources_follow(sources, path, process, 0, &unused);
    if (source != NULL)
        find_resource(source);
    sources_watch_beside(sources, path);
}

/* Follow the new spools in DIRECTORY. Returns whether one was too early. */
static bool
take_directory(struct sources *sources, const char *path, bool is_given)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool any = false;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char file[PATH_SIZE];
        struct file_key key;
        bool is_early;
        if (!path_ends_with(entry->d_name, ".sprof") ||
            path_ends_with(entry->d_name, ".past.sprof") ||
            key_of(dirfd(directory), entry->d_name, &key) != 0 ||
            is_seen(sources, &key))
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        struct source *source =
            sources_follow(sources, file, NULL, is_given ? 0 : sources->begun,
                           &is_early);
        if (source != NULL)
            find_resource(source);
        else if (!is_early)
            (void)intern_put(&sources->passed, &key, sizeof(key));
        any |= is_early && access(file, R_OK) == 0;
    }
    if (directory != NULL)
        closedir(directory);
    return any;
}

int
sources_fd(const struct sources *sources)
{
    return catcher_fd(sources->catcher);
}

/* Follow the caught spool FD. Its name may lead nowhere by now. Returns whether
 * it has no header yet; then it stays open. */
static bool
take_caught(struct sources *sources, int fd)
{
    char link[64], path[PATH_SIZE];
    bool is_early;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    struct source *source = sources_follow(sources, link, NULL, 0, &is_early);
    if (source != NULL) {
        static const char gone[] = " (deleted)";
        ssize_t length = readlink(link, path, sizeof(path) - 1);
        path[length > 0 ? length : 0] = '\0';
        if (path_ends_with(path, gone))
            path[strlen(path) - strlen(gone)] = '\0';
        free(source->path);
        source->path = strdup(path);
        find_resource(source);
    }
    if (is_early)
        return true;
    close(fd);
    return false;
}

/* Take the spools that were caught, and those that lacked a header. One that
 * was removed without a header has nothing. */
static bool
take_all_caught(struct sources *sources)
{
    char path[PATH_SIZE];
    unsigned left = 0;
    struct stat now;
    for (unsigned i = 0; i < sources->early_count; i++) {
        int fd = sources->early[i];
        if (fstat(fd, &now) != 0 || now.st_nlink == 0)
            close(fd);
        else if (take_caught(sources, fd))
            sources->early[left++] = fd;
    }
    sources->early_count = left;
    for (int fd;
         (fd = catcher_take(sources->catcher, path, sizeof(path))) >= 0;)
        if (take_caught(sources, fd)) {
            if (sources->early_count < SOURCES_EARLY)
                sources->early[sources->early_count++] = fd;
            else
                close(fd);
        }
    return sources->early_count > 0;
}

bool
sources_look(struct sources *sources)
{
    clear_index(sources);
    for (size_t i = 0; i < sources->count; i++)
        index_source(sources, i);
    if (intern_count(&sources->passed) > PASSED_MOST)
        intern_clear(&sources->passed);
    /* First what may be gone soon. */
    bool any = take_all_caught(sources);
    for (size_t i = 0; i < sources->directory_count; i++) {
        const struct sources_directory *directory = &sources->directories[i];
        any |= take_directory(sources, directory->path, directory->is_given);
    }
    if (!sources->is_closed)
        (void)discover_each(take_process, sources);
    return any;
}

/* Whether the process of SOURCE, which does not have the spool open, has ended.
 * One that has just begun, or that is about to end, may not have it open. And
 * its pid may belong to another process by now. */
static bool
is_left(const struct source *source)
{
    struct process process;
    char unused[256];
    pid_t pid = (pid_t)interval_header(source->interval)->pid;
    return process_look(&process, pid, unused, sizeof(unused)) != 0 ||
           process.state == 'Z' || clock_now() - source->ticked_at > LEFT_NS;
}

/* Whether nothing will be added to the spool of SOURCE. */
static bool
is_complete(struct source *source)
{
    uint64_t tick = interval_profile(source->interval)->start +
                    interval_profile(source->interval)->duration;
    if (tick != source->tick) {
        source->tick = tick;
        source->ticked_at = clock_now();
    }
    if (interval_is_over(source->interval))
        return true;
    if (source->is_foreign)
        return clock_now() - source->ticked_at > STALE_NS;
    if (!source->has_process)
        find_process(source);
    if (!source->has_process)
        return is_left(source);
    return !process_is_alive(&source->process) ||
           (interval_header(source->interval)->keep != 0 &&
            !interval_is_at(source->interval, source->path));
}

/* Let the time of the profile follow the clock of the day, if that was set
 * since the process began. The monotonic clock shows when it was set. */
static void
follow_clock(const struct source *source)
{
    struct profile *profile = interval_profile(source->interval);
    const struct spool_header *header = interval_header(source->interval);
    uint64_t begun = clock_realtime() - clock_now() + header->start_monotonic;
    int64_t jump = (int64_t)(begun - header->start_realtime);
    if (source->has_process &&
        (jump > (int64_t)JUMP_NS || -jump > (int64_t)JUMP_NS))
        profile->start += (uint64_t)jump;
}

void
sources_add_done(struct sources *sources, const char *name, const char *path)
{
    struct sources_done done = {strdup(name),
                                path != NULL ? strdup(path) : NULL,
                                clock_now()};
    if (done.name != NULL && ARRAY_GROW(sources->done, sources->done_count)) {
        sources->done[sources->done_count++] = done;
        return;
    }
    free(done.name);
    free(done.path);
}

/* Forget spools that were taken whole and removed since. One that a flight
 * recorder puts aside may still be found for a moment under another name; it
 * must not be taken twice. */
static void
forget_done(struct sources *sources)
{
    size_t left = 0;
    for (size_t i = 0; i < sources->done_count; i++) {
        struct sources_done *done = &sources->done[i];
        if (done->path == NULL || clock_now() - done->time < DONE_NS ||
            access(done->path, F_OK) == 0) {
            sources->done[left++] = *done;
            continue;
        }
        free(done->name);
        free(done->path);
    }
    sources->done_count = left;
}

/* The process may add to its spool until the moment at which it is known to
 * have ended. So that is asked before the rest is taken. */
void
sources_take(struct sources *sources,
             void (*use)(struct profile *profile,
                         const struct otlp_resource *resource, void *context),
             void *context)
{
    size_t left = 0;
    for (size_t i = 0; i < sources->count; i++) {
        struct source source = sources->all[i];
        bool is_last = is_complete(&source);
        int status = is_last ? interval_finish(source.interval)
                             : interval_take(source.interval);
        struct profile *profile = interval_profile(source.interval);
        if (status != 0)
            command_fail("%s: %s", source.path, strerror(errno));
        follow_clock(&source);
        if (profile->sample_count > 0)
            use(profile, &source.resource, context);
        if (is_last) {
            sources_add_done(sources, interval_name(source.interval),
                             source.path);
            sources_release(&source);
        } else {
            sources->all[left++] = source;
        }
    }
    sources->count = left;
    forget_done(sources);
    if (sources->symbolizer != NULL)
        symbolizer_rest(sources->symbolizer);
}

void
sources_end(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        sources_release(&sources->all[i]);
    for (size_t i = 0; i < sources->done_count; i++) {
        free(sources->done[i].name);
        free(sources->done[i].path);
    }
    for (size_t i = 0; i < sources->directory_count; i++)
        free(sources->directories[i].path);
    clear_index(sources);
    intern_clear(&sources->passed);
    symbolizer_free(sources->symbolizer);
    free(sources->all);
    free(sources->done);
    free(sources->directories);
    for (unsigned i = 0; i < sources->early_count; i++)
        close(sources->early[i]);
    catcher_free(sources->catcher);
}
