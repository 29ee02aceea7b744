/* SPDX-License-Identifier: MIT */
/*
 * respool.c -- copies records and adds others:
 *
 *   header | records of process 1 | TEXT SYMBOL NAMED ... | NEXT |
 *   records of process 2 | TEXT SYMBOL NAMED ...
 *
 * A record's check depends on where it stands, so each gets a new head. Names
 * that came with a spool are written again from the model.
 */
#include "respool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"
#include "store/record.h"

#include "intern.h"

/* Texts have 16 bits for their length. */
enum { TEXT_MOST = 60000 };

struct respool {
    FILE *stream;
    struct profile *profile;
    uint64_t offset;
    uint32_t last_text;     /* id of the process at hand */
    struct intern *texts;   /* of ours; numbers + first_text are ids */
    struct intern *symbols; /* pointers; numbers + 1 are ids */
    uint32_t first_text;
    bool failed; /* memory was short */
};

static void
put(struct respool *respool, const void *bytes, size_t length)
{
    fwrite(bytes, 1, length, respool->stream);
    respool->offset += length;
}

/* Write RECORD of KIND and the TAIL behind its FIXED bytes. The rest of its
 * head is made here. */
static void
put_record(struct respool *respool, enum record_kind kind, void *record,
           size_t fixed, const void *tail, size_t length)
{
    static const char zeros[8];
    size_t padding = -(fixed + length) % 8;
    uint64_t head = record_head(respool->offset, (uint8_t)kind, 0,
                                (uint32_t)(fixed + length + padding));

    memcpy(record, &head, sizeof head);
    put(respool, record, fixed);
    if (length > 0)
        put(respool, tail, length);
    put(respool, zeros, padding);
}

/* A record as it was read, all but its head. */
static void
copy_record(struct respool *respool, enum record_kind kind, const void *record)
{
    const char *bytes = record;
    uint32_t size = record_size_of(*(const uint64_t *)record);
    uint64_t head = record_head(respool->offset, (uint8_t)kind, 0, size);

    put(respool, &head, sizeof head);
    put(respool, bytes + sizeof head, size - sizeof head);
}

/* The id of TEXT, written if it is new. */
static uint32_t
text_id(struct respool *respool, const char *text)
{
    struct record_text record = {0};
    uint32_t known = intern_count(respool->texts), number;
    size_t length = strlen(text);

    if (length == 0)
        return 0;
    number = intern_string(respool->texts, text);
    if (number == INTERN_NONE) {
        respool->failed = true;
        return 0;
    }
    record.id = respool->first_text + number;
    if (number < known)
        return record.id;
    if (length > TEXT_MOST)
        length = TEXT_MOST;
    record.text_length = (uint16_t)(length + 1);
    if (length == strlen(text)) {
        put_record(respool, RECORD_TEXT, &record, sizeof record, text,
                   length + 1);
    } else {
        char *cut = strndup(text, length);
        respool->failed |= cut == NULL;
        put_record(respool, RECORD_TEXT, &record, sizeof record,
                   cut != NULL ? cut : "", cut != NULL ? length + 1 : 1);
        free(cut);
    }
    return record.id;
}

/* The texts of a symbol stand before it. */
static void
put_symbol(struct respool *respool, uint32_t id, const struct symbol *symbol)
{
    for (unsigned i = 0; i < symbol->count; i++) {
        const struct symbol_frame *frame = &symbol->frames[i];
        struct record_symbol record = {
            .id = id,
            .count = symbol->count,
            .function = text_id(respool, frame->function),
            .linkage = text_id(respool, frame->linkage),
            .file = text_id(respool, frame->file),
            .line = frame->line,
            .start_line = frame->start_line,
            .flags = symbol->named ? SYMBOL_NAMED : 0,
        };
        put_record(respool, RECORD_SYMBOL, &record, sizeof record, NULL, 0);
    }
}

static void
put_name(struct respool *respool, uint32_t node, uint32_t id)
{
    const struct symbol *symbol = profile_symbol(respool->profile, node);
    const uintptr_t key = (uintptr_t)symbol;
    uint32_t known = intern_count(respool->symbols);
    uint32_t number = intern_put(respool->symbols, &key, sizeof key);
    struct record_named record = {
        .node = id,
        .symbol = number + 1,
        .names = profile_module_names(respool->profile,
                                      respool->profile->nodes[node].module),
    };

    if (number == INTERN_NONE) {
        respool->failed = true;
        return;
    }
    if (number == known)
        put_symbol(respool, number + 1, symbol);
    put_record(respool, RECORD_NAMED, &record, sizeof record, NULL, 0);
}

/* The names of all nodes of process NUMBER: those from its first to the next
 * process's first. */
static int
put_names(struct respool *respool, uint32_t number)
{
    const struct profile *profile = respool->profile;
    uint32_t first = profile->processes[number].first_node;
    uint32_t end = number + 1 < profile->process_count
                       ? profile->processes[number + 1].first_node
                       : profile->node_count;

    respool->first_text = respool->last_text + 1;
    respool->texts = intern_new();
    respool->symbols = intern_new();
    respool->failed |= respool->texts == NULL || respool->symbols == NULL;
    for (uint32_t i = first; i < end && !respool->failed; i++)
        if (!profile_is_marker(profile, i))
            put_name(respool, i, i - first + 1);
    intern_free(respool->texts);
    intern_free(respool->symbols);
    return respool->failed ? -1 : 0;
}

/* Copy the records of one process. Returns whether NEXT ended them, which is
 * then in *NEXT. */
static bool
copy_process(struct respool *respool, struct reader *reader,
             struct record_next *next)
{
    enum record_kind kind;
    const void *record;

    respool->last_text = 0;
    while ((record = reader_next(reader, &kind)) != NULL) {
        if (kind == RECORD_NEXT) {
            *next = *(const struct record_next *)record;
            return true;
        }
        if (kind == RECORD_SYMBOL || kind == RECORD_NAMED)
            continue;
        if (kind == RECORD_TEXT &&
            ((const struct record_text *)record)->id > respool->last_text &&
            ((const struct record_text *)record)->id < UINT32_MAX / 2)
            respool->last_text = ((const struct record_text *)record)->id;
        copy_record(respool, kind, record);
    }
    return false;
}

/* Copy the spool that has process *NUMBER, and all its other processes;
 * *NUMBER is then the one behind them. */
static int
copy_spool(struct respool *respool, uint32_t *number)
{
    const struct profile *profile = respool->profile;
    const char *path = profile->processes[*number].spool;
    struct record_next next = {0};
    char error[512];
    struct reader *reader = reader_open(path, error, sizeof error);
    bool goes_on = true;

    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    next.start_monotonic = reader_header(reader)->start_monotonic;
    next.start_realtime = reader_header(reader)->start_realtime;
    next.pid = reader_header(reader)->pid;
    next.machine = reader_header(reader)->machine;
    while (goes_on && *number < profile->process_count &&
           profile->processes[*number].spool == path) {
        if (*number > 0)
            put_record(respool, RECORD_NEXT, &next, sizeof next, NULL, 0);
        goes_on = copy_process(respool, reader, &next);
        if (put_names(respool, *number) < 0) {
            reader_end(reader);
            errno = ENOMEM;
            return -1;
        }
        ++*number;
    }
    reader_end(reader);
    return 0;
}

/* The header is that of the first process. */
static int
put_header(struct respool *respool)
{
    const struct profile *profile = respool->profile;
    char error[512];
    struct reader *reader =
        reader_open(profile->processes[0].spool, error, sizeof error);
    struct spool_header header;

    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    header = *reader_header(reader);
    reader_end(reader);
    header.header_size = sizeof header;
    header.version =
        profile->process_count > 1 ? SPOOL_VERSION_SEVERAL : SPOOL_VERSION;
    put(respool, &header, sizeof header);
    return 0;
}

int
respool_write(FILE *stream, struct profile *profile)
{
    struct respool respool = {.stream = stream, .profile = profile};

    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].spool == NULL) {
            errno = ENOTSUP;
            return -1;
        }
    if (profile->process_count == 0 || put_header(&respool) < 0)
        return -1;
    for (uint32_t i = 0; i < profile->process_count;)
        if (copy_spool(&respool, &i) < 0)
            return -1;
    return ferror(stream) == 0 ? 0 : -1;
}
