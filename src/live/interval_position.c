/* SPDX-License-Identifier: MIT */
/*
 * interval_position.c -- a position in a spool as lines of text:
 *
 *    position 82040 5003120911     the offset; ns since the start
 *    taken 4811 4020110 90133455   values since the beginning
 *    debts 0 0 312                 those that were taken too early
 *    cost 5003 4811 ...            counters at that time
 *    thread 3 1044031 1044031 17   id, clock, ns of it that were taken, node
 *    kept 71160 12 0 12000312      offset of a wait; what was taken of it
 *    end
 *
 * What the spool defines is not in it: the process that goes on reads that
 * again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"
#include "util/intern.h"
#include "interval_parts.h"
#include "interval.h"

static void
save_numbers(FILE *stream, const char *word, const int64_t *numbers,
             unsigned count)
{
    fprintf(stream, "%s", word);
    for (unsigned i = 0; i < count; i++)
        fprintf(stream, " %" PRId64, numbers[i]);
    fprintf(stream, "\n");
}

/* A thread that has ended is not needed any more. */
void
interval_position_save(const struct interval *interval, FILE *stream)
{
    const struct profile *profile = interval->profile;
    fprintf(stream, "position %" PRIu64 " %" PRIu64 "\n",
            reader_offset(interval->reader), interval->until);
    save_numbers(stream, "taken", interval->taken.of, VALUE_COUNT);
    save_numbers(stream, "debts", interval->debts.of, VALUE_COUNT);
    save_numbers(stream, "cost", (const int64_t *)&interval->cost,
                 INTERVAL_COUNTERS);
    for (uint32_t i = 0; i < interval->thread_count; i++) {
        const struct interval_thread *thread = &interval->threads[i];
        if (!thread->is_gone)
            fprintf(stream, "thread %u %" PRIu64 " %" PRId64 " %u\n",
                    profile->threads[i].id, thread->clock, thread->given,
                    thread->node);
    }
    for (uint32_t i = 0; i < interval->kept_count; i++) {
        const struct interval_kept *kept = &interval->kept[i];
        fprintf(stream, "kept %" PRIu64, kept->place);
        save_numbers(stream, "", kept->given.of, VALUE_COUNT);
    }
    fprintf(stream, "end\n");
}

/* Read COUNT numbers from TEXT. Returns whether there are as many. */
static bool
parse_numbers(const char *text, int64_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtoll(text, &end, 10);
        if (end == text)
            return false;
        text = end;
    }
    return true;
}

/* Read everything up to OFFSET, whose values were taken before. */
static int
read_again(struct interval *interval, uint64_t offset)
{
    const void *record;
    enum record_kind kind;
    int status = 0;
    while (status == 0 && reader_offset(interval->reader) < offset &&
           (record = reader_next(interval->reader, &kind)) != NULL)
        status = interval_take_record(interval, kind, record, true);
    reader_go(interval->reader, offset);
    return status == 0 ? interval_make_room(interval) : -1;
}

/* Take a line "thread ..." after its first word. Returns 0, or -1. */
static int
parse_thread(struct interval *interval, const char *text)
{
    int64_t numbers[4];
    if (!parse_numbers(text, numbers, 4))
        return -1;
    uint32_t thread =
        spool_load_number(&interval->load.threads, (uint32_t)numbers[0]);
    if (thread == INTERN_NONE || numbers[3] < 0 ||
        numbers[3] >= interval->profile->node_count)
        return -1;
    struct interval_thread *to = &interval->threads[thread];
    to->clock = (uint64_t)numbers[1];
    to->given = numbers[2];
    to->node = (uint32_t)numbers[3];
    return 0;
}

static int
parse_kept(struct interval *interval, const char *text)
{
    int64_t numbers[1 + VALUE_COUNT];
    if (!parse_numbers(text, numbers, 1 + VALUE_COUNT) ||
        interval_keep_record(interval, (uint64_t)numbers[0]) != 0)
        return -1;
    memcpy(interval->kept[interval->kept_count - 1].given.of, numbers + 1,
           sizeof(struct interval_values));
    return 0;
}

static int
parse_position(struct interval *interval, const char *text)
{
    int64_t numbers[2];
    if (!parse_numbers(text, numbers, 2) ||
        numbers[0] < (int64_t)interval->begin)
        return -1;
    interval->until = (uint64_t)numbers[1];
    return read_again(interval, (uint64_t)numbers[0]);
}

/* Take LINE. Returns 0, 1 if it is the last, or -1. */
static int
parse_line(struct interval *interval, const char *line)
{
    static const char *const words[] = {"position ", "taken ",  "debts ",
                                        "cost ",     "thread ", "kept ",
                                        "end\n"};
    unsigned word = 0;
    while (word < sizeof(words) / sizeof(words[0]) &&
           strncmp(line, words[word], strlen(words[word])) != 0)
        word++;
    const char *rest = strchr(line, ' ');
    switch (word) {
    case 0:
        return parse_position(interval, rest);
    case 1:
        return parse_numbers(rest, interval->taken.of, VALUE_COUNT) ? 0 : -1;
    case 2:
        return parse_numbers(rest, interval->debts.of, VALUE_COUNT) ? 0 : -1;
    case 3:
        return parse_numbers(rest, (int64_t *)&interval->cost,
                             INTERVAL_COUNTERS)
                   ? 0
                   : -1;
    case 4:
        return parse_thread(interval, rest);
    case 5:
        return parse_kept(interval, rest);
    default:
        return word == 6 ? 1 : -1;
    }
}

int
interval_position_resume(struct interval *interval, FILE *stream)
{
    char *line = NULL;
    size_t size = 0;
    int status = 0;
    while (status == 0 && getline(&line, &size, stream) > 0)
        status = parse_line(interval, line);
    free(line);
    return status == 1 ? 0 : -1;
}
