/* SPDX-License-Identifier: MIT */
/*
 * journal_context.c -- see journal_context.h. Its labels and texts have higher
 * numbers than those of other source files.
 */
#include <string.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "labels/label_tree.h"
#include "store/layout.h"
#include "unwind/script.h"
#include "journal.h"
#include "journal_context.h"

/* The first numbers of labels and of their texts. */
#define FIRST_LABEL (1u << LABEL_TREE_BITS)
#define FIRST_TEXT (1u << 31)

/* The mark before the last two labels, which a span may need. */
#define LAST_MARK                                                            \
    "tasks and spans that come now are left out: 524288 labels are in this " \
    "file"
_Static_assert(JOURNAL_CONTEXT_LABELS_MOST == 524288, "as the mark says");

/* Number of tasks and contexts that are remembered: a power of two. */
#define KNOWN 1024u

/* Bytes of a trace id, the longer one. */
#define ID_MOST 16u

/* The subject of labels: the name of a task, or a context. Unused fields are
 * zero.
 */
union subject {
    char task[SCRIPT_TASK_NAME];
    struct trace_context context;
    uint64_t words[SCRIPT_TASK_NAME / 8];
};

/* The number of the labels for SUBJECT on top of SET. The memory comes with the
 * first one. */
struct known {
    union subject subject;
    uint32_t set, number, generation;
    bool is_task;
};
static struct known *known;

static OF_PROFILE uint32_t used; /* labels in the file of GENERATION */
static OF_PROFILE uint32_t generation;

static bool
write_text(uint32_t number, const char *text)
{
    struct record_text record = {.id = FIRST_TEXT + number,
                                 .text_length = (uint16_t)(strlen(text) + 1)};
    const struct writer_tail tail = {text, record.text_length};
    return journal_append(RECORD_TEXT, &record, sizeof(record), &tail, 1) != 0;
}

static void
write_mark(void)
{
    const struct record_mark record = {.mark = MARK_USER,
                                       .time = journal_time(clock_now()),
                                       .text_length = sizeof(LAST_MARK)};
    const struct writer_tail tail = {LAST_MARK, sizeof(LAST_MARK)};
    journal_append(RECORD_MARK, &record, sizeof(record), &tail, 1);
}

/* Write the label KEY with the value TEXT on top of SET. Returns its number, 0
 * if it could not be written. */
static uint32_t
write_label(uint32_t set, const char *key, const char *text)
{
    if (used == JOURNAL_CONTEXT_LABELS_MOST)
        return 0;
    if (used == JOURNAL_CONTEXT_LABELS_MOST - 2)
        write_mark();
    struct record_label record = {.id = FIRST_LABEL + used,
                                  .parent = set,
                                  .key = journal_text(key),
                                  .value = FIRST_TEXT + used};
    return record.key != 0 && write_text(used, text) &&
                   journal_append(RECORD_LABEL, &record, sizeof(record), NULL,
                                  0) != 0
               ? FIRST_LABEL + used++
               : 0;
}

/* The same for the LENGTH bytes at ID, in hexadecimal digits. */
static uint32_t
write_id(uint32_t set, const char *key, const void *id, size_t length)
{
    const uint8_t *bytes = id;
    char text[2 * ID_MOST + 1] = "";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return write_label(set, key, text);
}

static uint32_t
write_context(uint32_t set, const struct trace_context *context)
{
    if (used + 2 > JOURNAL_CONTEXT_LABELS_MOST)
        return 0;
    uint32_t trace =
        write_id(set, "trace_id", context->trace, sizeof(context->trace));
    return trace != 0 ? write_id(trace, "span_id", &context->span,
                                 sizeof(context->span))
                      : 0;
}

static struct known *
place_of(uint32_t set, const union subject *subject)
{
    uint64_t hash = set;
    for (size_t i = 0; i < sizeof(subject->words) / 8; i++) {
        hash = (hash ^ subject->words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return &known[hash & (KNOWN - 1)];
}

/* Returns the number of the labels for SUBJECT on top of SET. Returns SET if
 * they could not be written. */
static uint32_t
find_labels(uint32_t set, const union subject *subject, bool is_task)
{
    if (known == NULL)
        known = sys_reserve_for_one(KNOWN * sizeof(*known));
    if (known == NULL)
        return set;
    if (generation != journal_generation())
        used = 0;
    generation = journal_generation();
    struct known *place = place_of(set, subject);
    if (place->generation == generation && place->set == set &&
        place->is_task == is_task &&
        memcmp(&place->subject, subject, sizeof(*subject)) == 0)
        return place->number;
    uint32_t number = is_task ? write_label(set, "task", subject->task)
                              : write_context(set, &subject->context);
    if (number == 0)
        return set;
    *place = (struct known){*subject, set, number, generation, is_task};
    return number;
}

uint32_t
journal_context(uint32_t set, const struct trace_context *context,
                const char *task)
{
    if (task != NULL && task[0] != '\0') {
        union subject subject = {.task = ""};
        memcpy(subject.task, task, strnlen(task, sizeof(subject.task) - 1));
        set = find_labels(set, &subject, true);
    }
    if (context->span != 0) {
        union subject subject = {.task = ""};
        subject.context = *context;
        set = find_labels(set, &subject, false);
    }
    return set;
}
