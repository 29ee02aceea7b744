/* SPDX-License-Identifier: MIT */
/*
 * record.c -- the structure of each kind of record: the size of its fixed part,
 * and the strings and arrays that follow it. No length is trusted before it was
 * compared with the bytes that are left. Any context; allocates nothing.
 */
#include <string.h>

#include "record.h"

/* The bytes of a record that are not taken yet. */
struct rest {
    const unsigned char *at;
    uint64_t left;
};

static const size_t fixed_sizes[RECORD_KIND_COUNT] = {
    [RECORD_FILLER] = sizeof(uint64_t),
    [RECORD_PROCESS] = sizeof(struct record_process),
    [RECORD_MODULE] = sizeof(struct record_module),
    [RECORD_MODULE_END] = sizeof(struct record_module_end),
    [RECORD_THREAD] = sizeof(struct record_thread),
    [RECORD_THREAD_END] = sizeof(struct record_thread_end),
    [RECORD_NODE] = sizeof(struct record_node),
    [RECORD_SAMPLE] = sizeof(struct record_sample),
    [RECORD_COUNTS] = sizeof(struct record_counts),
    [RECORD_MARK] = sizeof(struct record_mark),
    [RECORD_SUMMARY] = sizeof(struct record_summary),
    [RECORD_TEXT] = sizeof(struct record_text),
    [RECORD_SYMBOL] = sizeof(struct record_symbol),
    [RECORD_NAMED] = sizeof(struct record_named),
    [RECORD_NEXT] = sizeof(struct record_next),
    [RECORD_LABEL] = sizeof(struct record_label),
    [RECORD_CONTROL] = sizeof(struct record_control),
    [RECORD_ANSWER] = sizeof(struct record_answer),
    [RECORD_STACKS] = sizeof(struct record_stacks),
    [RECORD_RATE] = sizeof(struct record_rate),
    [RECORD_TREE] = sizeof(struct record_tree),
    [RECORD_WHOLE] = sizeof(struct record_whole),
    [RECORD_EPOCH] = sizeof(struct record_epoch),
    [RECORD_CLOCK] = sizeof(struct record_clock),
    [RECORD_JITDUMP] = sizeof(struct record_jitdump),
    [RECORD_SCRIPT] = sizeof(struct record_script),
    [RECORD_LIVE] = sizeof(struct record_live),
    [RECORD_FILE] = sizeof(struct record_file),
};

uint8_t
record_kind_of(uint64_t head)
{
    return (uint8_t)head;
}

uint32_t
record_size_of(uint64_t head)
{
    return (uint32_t)(head >> 32);
}

bool
record_is_genuine(uint64_t head, uint64_t offset)
{
    uint16_t check = (uint16_t)(head >> 16);
    return check ==
           record_check(offset, record_kind_of(head), record_size_of(head));
}

size_t
record_fixed_size(uint8_t kind)
{
    return kind < RECORD_KIND_COUNT ? fixed_sizes[kind] : 0;
}

static bool
take_bytes(struct rest *rest, uint64_t length)
{
    if (length > rest->left)
        return false;
    rest->at += length;
    rest->left -= length;
    return true;
}

/* Take a string of LENGTH bytes. An empty string may be stored as no bytes at
 * all. Every other string includes its NUL, so that the accessors can return
 * the bytes in place. */
static bool
take_string(struct rest *rest, uint16_t length)
{
    return take_bytes(rest, length) && (length == 0 || rest->at[-1] == '\0');
}

static bool
process_is_valid(const struct record_process *process, struct rest rest)
{
    return take_string(&rest, process->exe_length) &&
           take_string(&rest, process->command_length) &&
           take_string(&rest, process->version_length) &&
           take_string(&rest, process->host_length);
}

static bool
module_is_valid(const struct record_module *module, struct rest rest)
{
    return take_bytes(&rest, module->build_id_length) &&
           take_string(&rest, module->path_length);
}

static bool
script_is_valid(const struct record_script *script, struct rest rest)
{
    return take_string(&rest, script->name_length) &&
           take_string(&rest, script->file_length) &&
           take_bytes(&rest, script->table_length);
}

/* Check the counters. Eight times the sum of two 32-bit counts does not
 * overflow 64 bits. */
static bool
counts_are_valid(const struct record_counts *counts, struct rest rest)
{
    uint64_t words = (uint64_t)counts->loss_count + counts->cut_count;
    return take_bytes(&rest, words * sizeof(uint64_t));
}

/* A kind whose one variable part is a string. */
#define STRING_OF(kind, type, length) \
    case kind:                        \
        return take_string(&rest, ((const struct type *)record)->length);

bool
record_is_valid(const void *record)
{
    uint64_t head = *(const uint64_t *)record;
    size_t fixed = record_fixed_size(record_kind_of(head));
    struct rest rest = {(const unsigned char *)record + fixed,
                        record_size_of(head) - fixed};
    switch (record_kind_of(head)) {
    case RECORD_PROCESS:
        return process_is_valid(record, rest);
    case RECORD_MODULE:
        return module_is_valid(record, rest);
        STRING_OF(RECORD_THREAD, record_thread, name_length)
        STRING_OF(RECORD_MARK, record_mark, text_length)
        STRING_OF(RECORD_TEXT, record_text, text_length)
        STRING_OF(RECORD_ANSWER, record_answer, text_length)
        STRING_OF(RECORD_JITDUMP, record_jitdump, path_length)
    case RECORD_SCRIPT:
        return script_is_valid(record, rest);
    case RECORD_COUNTS:
        return counts_are_valid(record, rest);
    case RECORD_RATE:
        return take_bytes(&rest, ((const struct record_rate *)record)->count *
                                     (uint64_t)sizeof(struct rate_entry));
    case RECORD_STACKS:
        return take_bytes(&rest,
                          ((const struct record_stacks *)record)->capacity *
                              (uint64_t)sizeof(struct stacks_entry));
    default:
        return true;
    }
}

/* NAME returns the string of LENGTH bytes of a TYPE, which lies SKIP bytes
 * after the fixed part. */
#define STRING(name, type, length, skip)                                       \
    const char *name(const struct type *record)                                \
    {                                                                          \
        return record->length == 0 ? "" : (const char *)(record + 1) + (skip); \
    }

STRING(record_exe, record_process, exe_length, 0)
STRING(record_command, record_process, command_length, record->exe_length)
STRING(record_version, record_process, version_length,
       record->exe_length + record->command_length)
STRING(record_host, record_process, host_length,
       record->exe_length + record->command_length + record->version_length)

const char *
record_boot(const struct record_process *process)
{
    const char *host = record_host(process);
    size_t length = strlen(host) + 1;
    return length < process->host_length ? host + length : "";
}

STRING(record_path, record_module, path_length, record->build_id_length)
STRING(record_name, record_thread, name_length, 0)
STRING(record_text, record_mark, text_length, 0)
STRING(record_answer_text, record_answer, text_length, 0)
STRING(record_string, record_text, text_length, 0)
STRING(record_jitdump_path, record_jitdump, path_length, 0)
STRING(record_script_name, record_script, name_length, 0)
STRING(record_script_file, record_script, file_length, record->name_length)

const uint8_t *
record_script_table(const struct record_script *script)
{
    return (const uint8_t *)(script + 1) + script->name_length +
           script->file_length;
}

const struct stacks_entry *
record_entries(const struct record_stacks *stacks)
{
    return (const struct stacks_entry *)(stacks + 1);
}

const uint8_t *
record_build_id(const struct record_module *module)
{
    return module->build_id_length == 0 ? NULL : (const uint8_t *)(module + 1);
}

uint64_t
record_lost(const struct record_counts *counts, unsigned loss)
{
    const uint64_t *lost = (const uint64_t *)(counts + 1);
    return loss < counts->loss_count ? lost[loss] : 0;
}

struct rate_entry
record_rated(const struct record_rate *rate, unsigned limit)
{
    const struct rate_entry *entries = (const struct rate_entry *)(rate + 1);
    return limit < rate->count ? entries[limit] : (struct rate_entry){0, 0};
}

uint64_t
record_cut(const struct record_counts *counts, unsigned cut)
{
    const uint64_t *cuts = (const uint64_t *)(counts + 1) + counts->loss_count;
    return cut < counts->cut_count ? cuts[cut] : 0;
}

/* Word I after the losses and cuts; 0 in an old file, which ends before it. */
static uint64_t
late_word(const struct record_counts *counts, unsigned i)
{
    uint64_t at = (uint64_t)counts->loss_count + counts->cut_count + i;
    size_t end = sizeof(*counts) + (at + 1) * sizeof(uint64_t);
    return record_size_of(counts->head) >= end
               ? ((const uint64_t *)(counts + 1))[at]
               : 0;
}

uint64_t
record_expired(const struct record_counts *counts)
{
    return late_word(counts, 0);
}

uint64_t
record_missed(const struct record_counts *counts)
{
    return late_word(counts, 1);
}
