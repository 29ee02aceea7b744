/* SPDX-License-Identifier: MIT */
/* counters.c -- see counters.h. One table serves both directions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

/* NAME_SIZE: bytes for "sampler_cpu ", or for a key and a word of base/loss.h.
 */
enum { NAME_SIZE = 32 };

static const struct kind {
    const char *key;
    size_t at;      /* offset of the first counter in struct counters */
    unsigned count; /* of counters */
    const char *(*word)(unsigned); /* the second part of a name; NULL: none */
} kinds[] = {
#define COUNTER(key, field)                            \
    {                                                  \
        key, offsetof(struct counters, field), 1, NULL \
    }
    COUNTER("asked", cost.asked),
    COUNTER("taken", cost.taken),
    COUNTER("parked", cost.parked),
    COUNTER("missed", cost.missed),
    COUNTER("peeked", cost.peeked),
    COUNTER("process_cpu", cost.process_cpu),
    COUNTER("sampler_cpu", cost.sampler_cpu),
    COUNTER("stopped", cost.stopped),
    COUNTER("tree_cpu", cost.tree_cpu),
    COUNTER("unseen_cpu", cost.unseen_cpu),
    COUNTER("rate_cpu", cost.rate.cpu),
    COUNTER("tick", cost.rate.tick),
    COUNTER("by_signal", by_signal),
#undef COUNTER
    {"lost", offsetof(struct counters, cost.lost), LOSS_COUNT, loss_word},
    {"cut", offsetof(struct counters, cost.cut), CUT_COUNT, cut_word},
    {"due", offsetof(struct counters, cost.rate.due), LIMIT_COUNT, limit_word},
    {"sampled", offsetof(struct counters, cost.rate.taken), LIMIT_COUNT,
     limit_word},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* Write "lost exited " for counter I of KIND. Returns its length. */
static size_t
name_counter(const struct kind *kind, unsigned i, char name[NAME_SIZE])
{
    bool has_word = kind->word != NULL;
    return (size_t)snprintf(name, NAME_SIZE, "%s%s%s ", kind->key,
                            has_word ? " " : "", has_word ? kind->word(i) : "");
}

char *
counters_write(const struct counters *counters, char *text)
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < KIND_COUNT; k++) {
        const uint64_t *values =
            (const uint64_t *)((const char *)counters + kinds[k].at);
        for (unsigned i = 0; i < kinds[k].count; i++) {
            char name[NAME_SIZE];
            if (values[i] == 0)
                continue;
            name_counter(&kinds[k], i, name);
            length += (size_t)snprintf(text + length, COUNTERS_SIZE - length,
                                       "%s%s%llu", length > 0 ? ", " : "", name,
                                       (unsigned long long)values[i]);
        }
    }
    return text;
}

/* Set the counter that TEXT, "lost exited 2, ...", begins with. A number beyond
 * INT64_MAX is damage. */
static void
read_counter(struct counters *counters, const char *text)
{
    for (unsigned k = 0; k < KIND_COUNT; k++) {
        uint64_t *values = (uint64_t *)((char *)counters + kinds[k].at);
        for (unsigned i = 0; i < kinds[k].count; i++) {
            char name[NAME_SIZE];
            size_t length = name_counter(&kinds[k], i, name);
            if (strncmp(text, name, length) != 0)
                continue;
            uint64_t value = strtoull(text + length, NULL, 10);
            values[i] = value <= INT64_MAX ? value : 0;
        }
    }
}

void
counters_read(struct counters *counters, const char *text)
{
    *counters = (struct counters){0};
    while (text != NULL) {
        read_counter(counters, text);
        text = strstr(text, ", ");
        text = text != NULL ? text + 2 : NULL;
    }
}
