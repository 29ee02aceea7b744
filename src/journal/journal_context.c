/* SPDX-License-Identifier: MIT */
/*
 * journal_context.c -- see journal_context.h. The numbers of its labels and
 * texts lie above all those that other files of the journal give.
 */
#include <string.h>

#include "base/state.h"
#include "base/sys.h"
#include "labels/label_tree.h"
#include "store/layout.h"
#include "journal.h"
#include "journal_context.h"

/* The first numbers, and how many of each there are in a file. */
#define FIRST_LABEL (1u << LABEL_TREE_BITS)
#define FIRST_TEXT (1u << 31)
#define NUMBERS (1u << 30)

/* How many contexts are remembered: a power of two. */
#define KNOWN 1024u

/* Bytes of a trace id, the longer one. */
#define ID_MOST 16u

/* A context on top of SET. The memory comes with the first one. */
struct known {
    struct trace_context context;
    uint32_t set, number, generation;
};
static struct known *known;

static OF_PROFILE uint32_t used; /* of NUMBERS, in the file of GENERATION */
static OF_PROFILE uint32_t generation;

/* Write LENGTH bytes at ID as a text of hexadecimal digits, with NUMBER. */
static bool
write_id(uint32_t number, const void *id, size_t length)
{
    const uint8_t *bytes = id;
    char text[2 * ID_MOST + 1] = "";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    struct record_text record = {.id = number,
                                 .text_length = (uint16_t)(2 * length + 1)};
    const struct writer_tail tail = {text, record.text_length};
    return journal_append(RECORD_TEXT, &record, sizeof(record), &tail, 1) != 0;
}

/* Write label NUMBER on top of the set PARENT. */
static bool
write_label(uint32_t number, uint32_t parent, const char *key, uint32_t value)
{
    struct record_label record = {.id = FIRST_LABEL + number,
                                  .parent = parent,
                                  .key = journal_text(key),
                                  .value = value};
    return record.key != 0 &&
           journal_append(RECORD_LABEL, &record, sizeof(record), NULL, 0) != 0;
}

/* Returns the number of the labels, 0 if they could not be written. */
static uint32_t
write_context(uint32_t set, const struct trace_context *context)
{
    if (used > NUMBERS - 2)
        return 0;
    uint32_t trace = used++, span = used++;
    bool is_written =
        write_id(FIRST_TEXT + trace, context->trace, sizeof(context->trace)) &&
        write_id(FIRST_TEXT + span, &context->span, sizeof(context->span)) &&
        write_label(trace, set, "trace_id", FIRST_TEXT + trace) &&
        write_label(span, FIRST_LABEL + trace, "span_id", FIRST_TEXT + span);
    return is_written ? FIRST_LABEL + span : 0;
}

static struct known *
place_of(uint32_t set, const struct trace_context *context)
{
    uint64_t hash = (context->span ^ set) * 0x9e3779b97f4a7c15u;
    return &known[hash >> 32 & (KNOWN - 1)];
}

uint32_t
journal_context(uint32_t set, const struct trace_context *context)
{
    if (context->span == 0)
        return set;
    if (known == NULL)
        known = sys_reserve_for_one(KNOWN * sizeof(*known));
    if (known == NULL)
        return set;
    if (generation != journal_generation())
        used = 0;
    generation = journal_generation();
    struct known *place = place_of(set, context);
    if (place->generation == generation && place->set == set &&
        memcmp(&place->context, context, sizeof(*context)) == 0)
        return place->number;
    uint32_t number = write_context(set, context);
    if (number == 0)
        return set;
    *place = (struct known){*context, set, number, generation};
    return number;
}
