/* SPDX-License-Identifier: MIT */
/* backlog.c -- see backlog.h. Files are written under another name and renamed,
 * and synced before the state refers to them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "backlog.h"

/* NAME_SIZE: bytes of a request's name. */
enum { NAME_SIZE = 64 };

static void
name_of(const struct backlog_item *item, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 ".%c.%u", item->round,
             item->protocol, item->number);
}

/* Make the directory PATH and those above it. Returns 0, or -1. */
static int
make_directories(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return -1;
    for (char *at = strchr(copy + 1, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(copy, 0700);
        *at = '/';
    }
    int status = mkdir(copy, 0700) == 0 || errno == EEXIST ? 0 : -1;
    free(copy);
    return status;
}

static int
add_item(struct backlog *backlog, const struct backlog_item *item)
{
    if (!ARRAY_GROW(backlog->items, backlog->count))
        return -1;
    backlog->items[backlog->count++] = *item;
    backlog->size += item->size;
    return 0;
}

static int
compare_items(const void *a, const void *b)
{
    const struct backlog_item *left = a, *right = b;
    if (left->round != right->round)
        return left->round < right->round ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Take the file NAME, if it is a request. */
static int
take_file(struct backlog *backlog, const char *name)
{
    struct backlog_item item = {0};
    struct stat now;
    char same[NAME_SIZE];
    if (sscanf(name, "%16" SCNx64 ".%c.%u", &item.round, &item.protocol,
               &item.number) != 3)
        return 0;
    name_of(&item, same);
    if (strcmp(name, same) != 0 || item.round > backlog->round) {
        (void)unlinkat(backlog->directory, name, 0);
        return 0;
    }
    if (fstatat(backlog->directory, name, &now, 0) != 0)
        return 0;
    item.size = (uint64_t)now.st_size;
    return add_item(backlog, &item);
}

static int
take_files(struct backlog *backlog)
{
    int fd =
        openat(backlog->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    int status = 0;
    if (directory == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    const struct dirent *entry;
    while (status == 0 && (entry = readdir(directory)) != NULL)
        status = take_file(backlog, entry->d_name);
    closedir(directory);
    if (backlog->count > 0)
        qsort(backlog->items, backlog->count, sizeof(*backlog->items),
              compare_items);
    return status;
}

/* Open the state and read its first line. Without one the directory gets a
 * key. */
static FILE *
open_state(struct backlog *backlog)
{
    int fd = openat(backlog->directory, "state", O_RDONLY | O_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (stream != NULL && fscanf(stream, "sprofile push 1 %" SCNu64 " %32s\n",
                                 &backlog->round, backlog->key) == 2)
        return stream;
    if (stream != NULL)
        fclose(stream);
    backlog->round = 0;
    uint64_t chance[2] = {0};
    (void)getrandom(chance, sizeof(chance), 0);
    snprintf(backlog->key, sizeof(backlog->key), "%016" PRIx64 "%016" PRIx64,
             chance[0], chance[1]);
    return NULL;
}

int
backlog_open(struct backlog *backlog, const char *path, uint64_t most,
             FILE **state, char *error, size_t size)
{
    *backlog = (struct backlog){.directory = -1, .lock = -1, .most = most};
    *state = NULL;
    if (make_directories(path) != 0)
        goto err;
    backlog->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (backlog->directory < 0)
        goto err;
    backlog->lock =
        openat(backlog->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (backlog->lock < 0)
        goto err;
    if (flock(backlog->lock, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, size, "%s: another sprofile push uses it", path);
        backlog_close(backlog);
        return -1;
    }
    *state = open_state(backlog);
    if (take_files(backlog) == 0) {
        backlog->round++;
        return 0;
    }

err:
    snprintf(error, size, "%s: %s", path, strerror(errno));
    if (*state != NULL)
        fclose(*state);
    *state = NULL;
    backlog_close(backlog);
    return -1;
}

/* Write SIZE BYTES to the file NAME. Returns 0, or -1 with errno set. */
static int
write_file(const struct backlog *backlog, const char *name, const void *bytes,
           size_t size)
{
    int fd = openat(backlog->directory, name,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int status = 0;
    for (size_t done = 0; fd >= 0 && status == 0 && done < size;) {
        ssize_t part = write(fd, (const char *)bytes + done, size - done);
        if (part > 0)
            done += (size_t)part;
        else if (errno != EINTR)
            status = -1;
    }
    if (fd < 0)
        return -1;
    if (status == 0)
        status = fdatasync(fd);
    int error = errno;
    close(fd);
    errno = error;
    return status;
}

int
backlog_put(struct backlog *backlog, char protocol, const void *bytes,
            size_t size)
{
    const struct backlog_item item = {.round = backlog->round,
                                      .number = backlog->next_number,
                                      .protocol = protocol,
                                      .size = size};
    char name[NAME_SIZE];
    name_of(&item, name);
    if (write_file(backlog, name, bytes, size) != 0 ||
        add_item(backlog, &item) != 0)
        return -1;
    backlog->next_number++;
    return 0;
}

/* Drop the oldest requests that do not fit, except those in use. */
static void
drop_oldest(struct backlog *backlog)
{
    for (size_t i = 0; i < backlog->count && backlog->size > backlog->most;)
        if (backlog->items[i].is_sent) {
            i++;
        } else {
            backlog_remove(backlog, &backlog->items[i]);
            backlog->dropped++;
        }
}

int
backlog_commit(struct backlog *backlog,
               void (*write)(FILE *stream, void *context), void *context)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return -1;
    fprintf(stream, "sprofile push 1 %" PRIu64 " %s\n", backlog->round,
            backlog->key);
    write(stream, context);
    int status =
        fclose(stream) == 0 ? write_file(backlog, "state.new", text, size) : -1;
    free(text);
    if (status == 0)
        status = renameat(backlog->directory, "state.new", backlog->directory,
                          "state");
    if (status != 0)
        return -1;
    (void)fsync(backlog->directory);
    backlog->round++;
    backlog->next_number = 0;
    drop_oldest(backlog);
    return 0;
}

void *
backlog_read(const struct backlog *backlog, const struct backlog_item *item)
{
    char name[NAME_SIZE];
    name_of(item, name);
    int fd = openat(backlog->directory, name, O_RDONLY | O_CLOEXEC);
    char *bytes = fd >= 0 ? malloc(item->size + 1) : NULL;
    size_t done = 0;
    while (bytes != NULL && done < item->size) {
        ssize_t part = read(fd, bytes + done, item->size - done);
        if (part <= 0) {
            free(bytes);
            bytes = NULL;
            errno = EIO;
        } else {
            done += (size_t)part;
        }
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

void
backlog_remove(struct backlog *backlog, const struct backlog_item *item)
{
    char name[NAME_SIZE];
    size_t at = (size_t)(item - backlog->items);
    name_of(item, name);
    (void)unlinkat(backlog->directory, name, 0);
    backlog->size -= item->size;
    backlog->count--;
    memmove(backlog->items + at, backlog->items + at + 1,
            (backlog->count - at) * sizeof(*backlog->items));
}

void
backlog_close(struct backlog *backlog)
{
    if (backlog->lock >= 0)
        close(backlog->lock);
    if (backlog->directory >= 0)
        close(backlog->directory);
    free(backlog->items);
    *backlog = (struct backlog){.directory = -1, .lock = -1};
}
