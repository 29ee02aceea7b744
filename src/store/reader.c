/* SPDX-License-Identifier: MIT */
/*
 * reader.c -- walks the records of a spool. Report side, any one thread;
 * allocates.
 *
 * The hard part is that the bytes cannot be trusted: the file may be damaged,
 * may shrink, or may be written while it is read. So a record is checked only
 * when all of it lies in the window. Its head is taken as it was before the
 * rest was copied. The five rules of layout.h are applied in
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

#include "reader.h"

/* HEADER_SIZE_MAX: largest accepted header in bytes. Later versions may have
 * larger headers; records begin after them. */
#define HEADER_SIZE_MAX 65536

/* The bytes that are read ahead in one step. */
#define WINDOW_SIZE (256u << 10)

/*
 * A part of the file (or of memory), copied and never mapped: an access to a
 * mapping of a file that shrank raises SIGBUS. It is read ahead in large steps.
 * Each step asks for the size of the file.
 *
 * Each part of a file is copied twice, one copy after the other. The kernel
 * copies many bytes at once, in any order. So one copy may hold a record's
 * head, and then bytes from before the record was stored. But if an earlier
 * copy holds a head, a later copy holds all that was stored before that head.
 */
struct window {
    int fd;                     /* the file, or -1; owned */
    const unsigned char *bytes; /* the memory, if there is no file */
    uint64_t size;         /* of the whole file or memory, when last asked */
    uint64_t start;        /* offset of the window in the whole */
    size_t filled;         /* bytes in the window */
    size_t capacity;       /* capacity of each buffer in bytes */
    unsigned char *before; /* the first copy; NULL for memory */
    unsigned char *buffer; /* the second copy, which is returned */
    int failure;           /* errno if the last look failed, else 0 */
};

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

static void
refresh_size(struct window *window)
{
    struct stat now;
    if (window->fd >= 0 && fstat(window->fd, &now) == 0)
        window->size = (uint64_t)now.st_size;
}

/* The present size of the whole in bytes. */
static uint64_t
window_size(struct window *window)
{
    refresh_size(window);
    return window->size;
}

/* Copy up to LENGTH bytes from OFFSET to TO. Returns their number, or -1 with
 * errno set. */
static ssize_t
copy_from_file(const struct window *window, unsigned char *to, uint64_t offset,
               size_t length)
{
    size_t got = 0;
    while (got < length) {
        ssize_t part =
            pread(window->fd, to + got, length - got, (off_t)(offset + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        got += (size_t)part;
    }
    return (ssize_t)got;
}

/* Fill both buffers. Returns how many bytes are in each, or -1 with errno set.
 * Memory does not change, so one copy of it serves as both. */
static ssize_t
copy_in(struct window *window, uint64_t offset, size_t length)
{
    if (window->fd < 0) {
        memcpy(window->buffer, window->bytes + offset, length);
        return (ssize_t)length;
    }
    ssize_t first = copy_from_file(window, window->before, offset, length);
    if (first < 0)
        return -1;
    /* No byte of the second copy is loaded before the first is complete. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return copy_from_file(window, window->buffer, offset, (size_t)first);
}

static void
release_buffers(struct window *window)
{
    free(window->buffer);
    free(window->before);
    window->buffer = window->before = NULL;
    window->capacity = 0;
}

/* Enlarge the buffers to LENGTH bytes; their contents are lost. Returns 0, or
 * -1 with errno set. */
static int
widen_buffers(struct window *window, size_t length)
{
    if (length <= window->capacity)
        return 0;
    release_buffers(window);
    window->buffer = malloc(length);
    window->before = window->fd < 0 ? NULL : malloc(length);
    if (window->buffer == NULL || (window->fd >= 0 && window->before == NULL))
        return -1;
    window->capacity = length;
    return 0;
}

/* Move the window to OFFSET. Returns -1 if LENGTH bytes are not there; failure
 * is set unless the end of the file is the cause. */
static int
move_window(struct window *window, uint64_t offset, size_t length)
{
    size_t wanted = length > WINDOW_SIZE ? length : WINDOW_SIZE;
    ssize_t got = -1;
    window->filled = 0;
    refresh_size(window);
    uint64_t left = offset < window->size ? window->size - offset : 0;
    if (left < length)
        return -1;
    if (wanted > left)
        wanted = (size_t)left;
    if (widen_buffers(window, wanted) == 0)
        got = copy_in(window, offset, wanted);
    if (got < 0) {
        window->failure = errno;
        return -1;
    }
    window->start = offset;
    window->filled = (size_t)got;
    /* The file has shrunk since it was asked for its size. */
    if ((size_t)got < wanted)
        window->size = offset + (uint64_t)got;
    return (size_t)got < length ? -1 : 0;
}

/* Return LENGTH bytes of the whole from OFFSET, which is a multiple of 8. They
 * are aligned to 8 and valid until the next look. Returns NULL with failure set
 * to errno if they cannot be read. If the whole is too short, failure is 0 and
 * size is renewed. */
static const void *
window_look(struct window *window, uint64_t offset, size_t length)
{
    uint64_t skip = offset - window->start;
    window->failure = 0;
    if (skip <= window->filled && length <= window->filled - skip)
        return window->buffer + skip;
    return move_window(window, offset, length) == 0 ? window->buffer : NULL;
}

/* The word at OFFSET of the whole in the first copy. If it is a head, the bytes
 * of the last look have all that was stored before that head. The 8 bytes must
 * lie within the last look. */
static uint64_t
window_head(const struct window *window, uint64_t offset)
{
    const unsigned char *from =
        window->fd < 0 ? window->buffer : window->before;
    uint64_t head;
    memcpy(&head, from + (offset - window->start), sizeof(head));
    return head;
}

/* Copy LENGTH bytes of the whole from OFFSET, as they are now, and leave the
 * window where it is. Copies are made one after the other: a later copy has all
 * that an earlier one has. Returns 0, or -1 if the bytes are not there. */
static int
window_copy(const struct window *window, uint64_t offset, void *to,
            size_t length)
{
    if (window->fd < 0) {
        if (offset > window->size || length > window->size - offset)
            return -1;
        memcpy(to, window->bytes + offset, length);
        return 0;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    ssize_t got = copy_from_file(window, to, offset, length);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return got == (ssize_t)length ? 0 : -1;
}

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

/* Rule 1 failed. The end is regular if no bytes are left. But a result must
 * have its last record. */
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
    reader->window.filled = 0;
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

/* Returns how HEAD at the reader's offset breaks rule 3 or 4; NULL if it does
 * not. */
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

void
reader_rest(struct reader *reader)
{
    reader->window.filled = 0;
    release_buffers(&reader->window);
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
    reader->window.filled = 0;
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

void
reader_follow(const struct reader *reader)
{
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    (void)fcntl(reader->window.fd, F_OFD_SETLK, &lock);
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
    if (!SPOOL_IS_READ(header->version))
        return refuse_header(
            reader,
            "a spool of version %u, this program reads versions %u to %u",
            header->version, SPOOL_VERSION_OLDEST, SPOOL_VERSION_SEVERAL);
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
        reader_go(reader, reader->header.header_size);
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
    reader->window.fd = -1;
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
        reader->window.fd = fd;
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
        reader->window.bytes = bytes;
        reader->window.size = length;
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
    if (reader->window.fd >= 0)
        close(reader->window.fd);
    release_buffers(&reader->window);
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
