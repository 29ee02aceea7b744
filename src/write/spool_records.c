/* SPDX-License-Identifier: MIT */
/*
 * spool_records.c -- see spool_records.h. The check of a record depends on its
 * offset, so each record gets its head here.
 */
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "store/record.h"
#include "util/intern.h"
#include "spool_records.h"

/* Limit of the bytes of a text: its length has 16 bits. */
enum { TEXT_MOST = 60000 };

void
spool_records_put(struct spool_records *records, const void *bytes,
                  size_t length)
{
    fwrite(bytes, 1, length, records->stream);
    records->offset += length;
}

/* All records are multiples of 8 bytes. The size in the head includes the zeros
 * at the end. */
void
spool_records_add(struct spool_records *records, enum record_kind kind,
                  void *record, size_t fixed, const void *tail, size_t length)
{
    static const char zeros[8];
    size_t padding = -(fixed + length) % 8;
    uint64_t head = record_head(records->offset, (uint8_t)kind, 0,
                                (uint32_t)(fixed + length + padding));
    memcpy(record, &head, sizeof(head));
    spool_records_put(records, record, fixed);
    if (length > 0)
        spool_records_put(records, tail, length);
    spool_records_put(records, zeros, padding);
}

void
spool_records_copy(struct spool_records *records, enum record_kind kind,
                   const void *record)
{
    const char *bytes = record;
    uint32_t size = record_size_of(*(const uint64_t *)record);
    uint64_t head = record_head(records->offset, (uint8_t)kind, 0, size);
    spool_records_put(records, &head, sizeof(head));
    spool_records_put(records, bytes + sizeof(head), size - sizeof(head));
}

void
spool_records_tree(struct spool_records *records)
{
    const struct profile_cost *cost = &records->profile->cost;
    struct record_tree record = {.cpu = cost->tree_cpu,
                                 .unseen = cost->unseen_cpu};
    if (cost->unseen_cpu > 0)
        SPOOL_RECORDS_ADD(records, RECORD_TREE, record);
}

void
spool_records_whole(struct spool_records *records)
{
    struct record_whole record;
    SPOOL_RECORDS_ADD(records, RECORD_WHOLE, record);
}

/* A text is written before the first record that refers to it. It is cut if its
 * length does not fit into the record. */
uint32_t
spool_records_text(struct spool_records *records, const char *text)
{
    struct record_text record = {0};
    uint32_t known = intern_count(records->texts);
    size_t length = strlen(text);
    if (length == 0)
        return 0;
    uint32_t number = intern_string(records->texts, text);
    if (number == INTERN_NONE) {
        records->failed = true;
        return 0;
    }
    record.id = records->first_text + number;
    if (number < known)
        return record.id;
    if (length > TEXT_MOST)
        length = TEXT_MOST;
    record.text_length = (uint16_t)(length + 1);
    if (length == strlen(text)) {
        spool_records_add(records, RECORD_TEXT, &record, sizeof(record), text,
                          length + 1);
    } else {
        char *cut = strndup(text, length);
        records->failed |= cut == NULL;
        spool_records_add(records, RECORD_TEXT, &record, sizeof(record),
                          cut != NULL ? cut : "", cut != NULL ? length + 1 : 1);
        free(cut);
    }
    return record.id;
}

/* The texts of a symbol are written before it. FLAGS: enum symbol_flags. */
static void
put_symbol(struct spool_records *records, uint32_t id,
           const struct symbol *symbol, uint32_t flags)
{
    for (unsigned i = 0; i < symbol->count; i++) {
        const struct symbol_frame *frame = &symbol->frames[i];
        struct record_symbol record = {
            .id = id,
            .count = symbol->count,
            .function = spool_records_text(records, frame->function),
            .linkage = spool_records_text(records, frame->linkage),
            .file = spool_records_text(records, frame->file),
            .line = frame->line,
            .start_line = frame->start_line,
            .flags = flags,
        };
        SPOOL_RECORDS_ADD(records, RECORD_SYMBOL, record);
    }
}

/* A symbol of the profile is one symbol in the file: its address is the key.
 * Many nodes share one symbol. */
void
spool_records_name(struct spool_records *records, uint32_t node, uint32_t id,
                   const struct symbol *symbol)
{
    bool is_collector = symbol->is_collector ||
                        records->profile->nodes[node].mark == NAMING_COLLECTOR;
    const uintptr_t key = (uintptr_t)symbol;
    uint32_t known = intern_count(records->symbols);
    uint32_t number = intern_put(records->symbols, &key, sizeof(key));
    struct record_named record = {
        .node = id,
        .symbol = number + 1,
        .names = profile_module_names(records->profile,
                                      records->profile->nodes[node].module),
    };
    if (number == INTERN_NONE) {
        records->failed = true;
        return;
    }
    if (number == known)
        put_symbol(records, number + 1, symbol,
                   (symbol->named ? SYMBOL_NAMED : 0) |
                       (is_collector ? SYMBOL_COLLECTOR : 0));
    SPOOL_RECORDS_ADD(records, RECORD_NAMED, record);
}

int
spool_records_begin_names(struct spool_records *records, uint32_t first_text)
{
    records->first_text = first_text;
    records->texts = intern_new();
    records->symbols = intern_new();
    records->failed |= records->texts == NULL || records->symbols == NULL;
    return records->failed ? -1 : 0;
}

int
spool_records_end_names(struct spool_records *records)
{
    intern_free(records->texts);
    intern_free(records->symbols);
    return records->failed ? -1 : 0;
}
