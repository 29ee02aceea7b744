/* SPDX-License-Identifier: MIT */
/*
 * reader.c -- walks the records of a spool. Report side, any one thread;
 * allocates.
 *
 * The hard part is that the bytes cannot be trusted: the file may be damaged,
 * may shrink, or may be written to while it is read. So a record is examined
 * only when all of it lies in the window (window.h). Its head is taken as it
 * was before the rest was copied. The five rules of layout.h are applied in
 * their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "window.h"
#include "reader.h"

/* HEADER_SIZE_MAX: largest accepted header in bytes. Later versions may have
 * larger headers; records begin behind them. */
#define HEADER_SIZE_MAX 65536

struct reader {
    struct window window; /* on the file or memory that is read */
    uint64_t offset;      /* of the next record */
    uint64_t place;       /* of the record returned last */
    struct spool_header header;
    char *name;    /* the name of the spool in sentences */
    bool is_whole; /* the last record of a result was read */
    bool stopped;  /* a problem was found; no further record is read */
    char problem[PATH_MAX + 256]; /* the sentence, or "" */
};

/* End the reading because of REASON, or of the window's error. Returns NULL,
 * which the callers return. */
static const void *
stop_reading(struct reader *reader, const char *reason)
{
    const struct window *window = &reader->window;
    reader->stopped = true;
    snprintf(reader->problem, sizeof(reader->problem),
             "%s: damaged at byte %llu of %llu: %s; everything before it is "
             "used",
             reader->name, (unsigned long long)reader->offset,
             (unsigned long long)window->size,
             window->failure != 0 ? strerror(window->failure) : reason);
    return NULL;
}

/* Rule 1 failed. The end is regular if no bytes are left, except in a result
 * without its last record. */
static const void *
end_without_head(struct reader *reader)
{
    if (reader->window.failure != 0 || reader->offset != reader->window.size)
        return stop_reading(reader,
                            "the file ends within the head of a record");
    if (reader->header.purpose == SPOOL_RESULT && !reader->is_whole)
        return stop_reading(reader, "the file ends before its last record");
    return NULL;
}

/* Rule 2 failed. The next call sees what has been written since. */
static const void *
end_at_zero(struct reader *reader)
{
    window_drop(&reader->window);
    return NULL;
}

/* Whether a record with HEAD is returned to the caller: its kind is known, and
 * has a meaning for the caller. */
static bool
is_returned(uint64_t head)
{
    uint8_t kind = record_kind_of(head);
    return kind != RECORD_FILLER && kind != RECORD_WHOLE &&
           record_fixed_size(kind) > 0;
}

/* What is wrong with HEAD at the reader's offset by rules 3 and 4; NULL if
 * nothing is. */
static const char *
head_problem(struct reader *reader, uint64_t head)
{
    uint64_t size = record_size_of(head);
    size_t fixed = record_fixed_size(record_kind_of(head));
    if (!record_is_genuine(head, reader->offset))
        return "no record begins here, its check is wrong";
    if (size % 8 != 0 || size < (fixed > 0 ? fixed : sizeof(head)) ||
        (is_returned(head) && size > RECORD_SIZE_MAX))
        return "the size of the record is not possible";
    /* The file may have grown since the last look. */
    if (size > reader->window.size - reader->offset &&
        size > window_size(&reader->window) - reader->offset)
        return "the file ends within the record";
    return NULL;
}

const void *
reader_next(struct reader *reader, enum record_kind *kind)
{
    while (!reader->stopped) {
        struct window *window = &reader->window;
        const void *record = window_look(window, reader->offset, 8);
        if (record == NULL)
            return end_without_head(reader);
        uint64_t head = window_head(window, reader->offset);
        if (head == 0)
            return end_at_zero(reader);
        const char *wrong = head_problem(reader, head);
        if (wrong != NULL)
            return stop_reading(reader, wrong);
        if (!is_returned(head)) {
            reader->is_whole |= record_kind_of(head) == RECORD_WHOLE;
            reader->offset += record_size_of(head);
            continue;
        }
        record = window_look(window, reader->offset, record_size_of(head));
        if (record == NULL)
            return stop_reading(reader, "the file ends within the record");
        /* The window may have moved; the head was then copied again with the
         * rest. It is the same unless another process rewrites the file. */
        if (*(const uint64_t *)record != head || !record_is_valid(record))
            return stop_reading(reader,
                                "a part of the record lies outside of it");
        reader->place = reader->offset;
        reader->offset += record_size_of(head);
        *kind = (enum record_kind)record_kind_of(head);
        return record;
    }
    return NULL;
}

uint64_t
reader_place(const struct reader *reader)
{
    return reader->place;
}

int
reader_again(const struct reader *reader, uint64_t place, void *record,
             size_t size)
{
    uint64_t head;
    if (window_copy(&reader->window, place, &head, sizeof(head)) != 0 ||
        !record_is_genuine(head, place))
        return -1;
    if (size > record_size_of(head))
        size = record_size_of(head);
    return window_copy(&reader->window, place, record, size);
}

uint64_t
reader_offset(const struct reader *reader)
{
    return reader->offset;
}

void
reader_go(struct reader *reader, uint64_t offset)
{
    reader->offset = offset;
    reader->stopped = false;
    reader->problem[0] = '\0';
    window_drop(&reader->window);
}

void
reader_rewind(struct reader *reader)
{
    reader_go(reader, reader->header.header_size);
}

const char *
reader_problem(const struct reader *reader)
{
    return reader->problem[0] == '\0' ? NULL : reader->problem;
}

const struct spool_header *
reader_header(const struct reader *reader)
{
    return &reader->header;
}

static int
refuse_header(struct reader *reader, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(reader->problem, sizeof(reader->problem), format, values);
    va_end(values);
    return -1;
}

static int
read_header(struct reader *reader)
{
    struct window *window = &reader->window;
    const struct spool_header *header = window_look(window, 0, sizeof(*header));
    if (header == NULL && window->failure != 0)
        return refuse_header(reader, "%s", strerror(window->failure));
    if (header == NULL)
        return refuse_header(reader,
                             "not a spool (%llu bytes, its header has %zu)",
                             (unsigned long long)window->size, sizeof(*header));
    /* Like a record's head, the magic is written last. */
    uint64_t magic = window_head(window, 0);
    if (memcmp(&magic, SPOOL_MAGIC, sizeof(magic)) != 0)
        return refuse_header(reader, "not a spool (no SPROFSP header)");
    if (header->version != SPOOL_VERSION &&
        header->version != SPOOL_VERSION_SEVERAL)
        return refuse_header(
            reader,
            "a spool of version %u, this program reads version %u and "
            "%u",
            header->version, SPOOL_VERSION, SPOOL_VERSION_SEVERAL);
    if (header->header_size < sizeof(*header) ||
        header->header_size > HEADER_SIZE_MAX || header->header_size % 8 != 0)
        return refuse_header(reader,
                             "a spool whose header is damaged (size %u)",
                             header->header_size);
    reader->header = *header;
    return 0;
}

/* Read the header and go to the first record. On failure, end READER and return
 * NULL with a sentence in ERROR. */
static struct reader *
begin_reading(struct reader *reader, char *error, size_t size)
{
    if (read_header(reader) == 0) {
        reader_rewind(reader);
        return reader;
    }
    snprintf(error, size, "%s: %s", reader->name, reader->problem);
    reader_end(reader);
    return NULL;
}

static struct reader *
reader_new(const char *name)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL)
        return NULL;
    window_on_memory(&reader->window, NULL, 0);
    reader->name = strdup(name);
    if (reader->name != NULL)
        return reader;
    free(reader);
    return NULL;
}

/* Open a regular file for reading. Returns the descriptor, or -1 with errno
 * set. O_NONBLOCK keeps open(2) from waiting for the other end of a pipe. */
static int
open_regular(const char *path)
{
    struct stat now = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &now) == 0 && S_ISREG(now.st_mode))
        return fd;
    close(fd);
    errno = S_ISDIR(now.st_mode) ? EISDIR : ESPIPE;
    return -1;
}

struct reader *
reader_open(const char *path, char *error, size_t size)
{
    struct reader *reader = reader_new(path);
    int fd = reader == NULL ? -1 : open_regular(path);
    if (fd >= 0) {
        window_on_file(&reader->window, fd);
        return begin_reading(reader, error, size);
    }
    snprintf(error, size, "%s: %s", path,
             errno == ESPIPE ? "not a regular file" : strerror(errno));
    reader_end(reader);
    return NULL;
}

struct reader *
reader_open_memory(const void *bytes, size_t length, char *error, size_t size)
{
    struct reader *reader = reader_new("spool");
    if (reader != NULL) {
        window_on_memory(&reader->window, bytes, length);
        return begin_reading(reader, error, size);
    }
    snprintf(error, size, "spool: %s", strerror(errno));
    return NULL;
}

int
reader_recognize(const char *path)
{
    int fd = open_regular(path);
    if (fd < 0)
        return 0;
    char magic[sizeof(((struct spool_header *)0)->magic)];
    ssize_t got = pread(fd, magic, sizeof(magic), 0);
    close(fd);
    return got == (ssize_t)sizeof(magic) &&
           memcmp(magic, SPOOL_MAGIC, sizeof(magic)) == 0;
}

void
reader_end(struct reader *reader)
{
    if (reader == NULL)
        return;
    window_end(&reader->window);
    free(reader->name);
    free(reader);
}

struct reader *
reader_open_past(const char *path, const struct spool_header *header)
{
    static const char ending[] = ".sprof";
    size_t length = strlen(path), cut = sizeof(ending) - 1;
    char name[PATH_MAX + 64];
    if (header->keep == 0 || header->begin == 0 || length < cut ||
        strcmp(path + length - cut, ending) != 0 ||
        snprintf(name, sizeof(name), "%.*s.past%s", (int)(length - cut), path,
                 ending) >= (int)sizeof(name))
        return NULL;
    char unused[sizeof(name) + 256];
    struct reader *reader = reader_open(name, unused, sizeof(unused));
    if (reader == NULL)
        return NULL;
    const struct spool_header *past = reader_header(reader);
    if (past->keep != 0 && past->pid == header->pid &&
        past->start_monotonic == header->start_monotonic)
        return reader;
    reader_end(reader);
    return NULL;
}
