/* SPDX-License-Identifier: MIT */
/*
 * pprof_notes.c -- reads comments like
 *
 *   process: 4711 on host, /opt/app
 *   command: ./app -x
 *   spread: 1.374000 in 2003 samples
 *   counters: asked 12348, taken 12345, lost exited 2, lost silent 1
 *
 * `go tool pprof` merges files. The merged file has the comments of one file
 * after those of the other. Only the first of equal comments stays. The numbers
 * are added up.
 *
 * Files of older versions have sentences for people and no counters. The
 * numbers in the sentences are then used: counts are exact, times have three
 * decimals.
 *
 *   rate: 12345 samples in 12.349 s of CPU: ... (timers, 250 Hz: ...)
 *   due: 12349 points in 12.349000 s: 12345 taken, 3 lost, 1 not asked: 1 short
 *   unseen: 0.512 s CPU, 22.7 % of 2.251 s: ...
 *   lost: 3 of 12348 asked: 2 exited, 1 silent
 *   cut: none of 14345 stacks
 *   cost: sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped 0.009 s; 4
 *         parked (0.03 %)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "util/array.h"
#include "pprof_notes.h"

/* Read ": 2 exited, 1 silent" into COUNTERS. An unknown cause is left out. */
static void
read_causes(const char *text, uint64_t *counters, unsigned count,
            const char *(*word)(unsigned))
{
    unsigned long long number;
    int length;
    text = strchr(text, ':');
    while (text != NULL && text[1] == ' ') {
        text += 2;
        if (sscanf(text, "%19llu %n", &number, &length) != 1)
            return;
        text += length;
        for (unsigned i = 0; i < count; i++) {
            size_t size = strlen(word(i));
            if (strncmp(text, word(i), size) == 0 &&
                (text[size] == ',' || text[size] == '\0'))
                counters[i] = number;
        }
        text = strchr(text, ',');
    }
}

/* The number after WORDS in TEXT, in units of 1 / SCALE; 0 if it has none.
 */
static uint64_t
number_after(const char *text, const char *words, double scale)
{
    const char *at = strstr(text, words);
    double number = at != NULL ? strtod(at + strlen(words), NULL) * scale : 0;
    return number > 0 && number < 1e18 ? (uint64_t)(number + 0.5) : 0;
}

/* The sentence has no limit for the points that were asked for, so any will
 * do. */
static void
read_due(const char *text, struct rate *rate)
{
    uint64_t unasked[LIMIT_COUNT] = {0};
    uint64_t due = number_after(text, "", 1);
    uint64_t left = number_after(text, "lost, ", 1);
    const char *causes = strstr(text, "not asked");
    if (left > due || causes == NULL)
        return;
    read_causes(causes, unasked, LIMIT_COUNT, limit_word);
    rate->cpu = number_after(text, " in ", 1e9);
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        rate->due[i] = unasked[i] <= due ? unasked[i] * 1000 : 0;
    rate->due[0] += (due - left) * 1000;
    rate->taken[0] = due - left;
}

/* Take the sentence after KEY in a file of an older version. */
static void
read_sentence(struct pprof_notes *notes, const char *key, const char *text)
{
    struct profile_cost *cost = &notes->of_file.cost;
    if (strcmp(key, "rate") == 0) {
        uint64_t rate = number_after(text, "timers, ", 1);
        cost->rate.tick = rate > 0 ? 1000000000u / rate : 0;
    } else if (strcmp(key, "due") == 0) {
        read_due(text, &cost->rate);
    } else if (strcmp(key, "unseen") == 0) {
        cost->unseen_cpu = number_after(text, "", 1e9);
        cost->tree_cpu = number_after(text, "% of ", 1e9);
    } else if (strcmp(key, "lost") == 0) {
        cost->asked = number_after(text, "of ", 1);
        read_causes(text, cost->lost, LOSS_COUNT, loss_word);
    } else if (strcmp(key, "cut") == 0) {
        notes->walked = number_after(text, "of ", 1);
        read_causes(text, cost->cut, CUT_COUNT, cut_word);
    } else if (strcmp(key, "cost") == 0) {
        cost->sampler_cpu = number_after(text, "sampler ", 1e9);
        cost->process_cpu = number_after(text, "% of ", 1e9);
        cost->stopped = number_after(text, "threads stopped ", 1e9);
        const char *parked = strstr(text, "stopped ");
        if (parked != NULL)
            cost->parked = number_after(parked, "; ", 1);
    } else if (strcmp(key, "note") == 0) {
        const char asked[] = "running threads were asked";
        if (strncmp(text, asked, sizeof(asked) - 1) == 0)
            notes->of_file.by_signal = INT64_MAX;
    }
}

static const struct pprof_note no_note = {0, "", "", ""};

/* Append a process; NULL if memory is short. */
static struct pprof_note *
new_process(struct pprof_notes *notes)
{
    if (!ARRAY_GROW(notes->processes, notes->process_count))
        return NULL;
    notes->processes[notes->process_count] = no_note;
    return &notes->processes[notes->process_count++];
}

/* Add the process of "4711 on host, /opt/app". Returns 0, or -1 if
 * memory is short. */
static int
add_process(struct pprof_notes *notes, const char *text)
{
    struct pprof_note *note = new_process(notes);
    char host[256];
    unsigned pid;
    int length = 0;
    if (note == NULL)
        return -1;
    if (sscanf(text, "%10u on %255[^,], %n", &pid, host, &length) != 2 ||
        length == 0)
        return 0;
    note->pid = pid;
    note->exe = text + length;
    if (strcmp(host, "unknown host") != 0)
        note->host = profile_string(notes->profile, host);
    return note->host == NULL ? -1 : 0;
}

/* Files of our version have the comment of the process before the command's. */
static int
add_command(struct pprof_notes *notes, const char *command)
{
    struct pprof_note *note = notes->process_count > 0
                                  ? &notes->processes[notes->process_count - 1]
                                  : NULL;
    if (note == NULL || note->command[0] != '\0')
        note = new_process(notes);
    if (note == NULL)
        return -1;
    note->command = command;
    return 0;
}

/* Add "1.374000 in 2003 samples". A number that is not sensible is damage. */
static void
add_spread(struct pprof_notes *notes, const char *text)
{
    double samples, factor;
    if (sscanf(text, "%lf in %lf", &factor, &samples) != 2 ||
        !(factor > 0 && factor < 1e6 && samples > 0 && samples < 1e18))
        return;
    notes->spread += factor * samples;
    notes->spread_samples += samples;
}

double
pprof_notes_spread(const struct pprof_notes *notes)
{
    return notes->spread_samples > 0 ? notes->spread / notes->spread_samples
                                     : 0;
}

/* Whether LABEL is "NAME.PID" for NOTE; NAME is the last part of its path. */
static bool
is_named(const struct pprof_note *note, const char *label)
{
    char text[512];
    snprintf(text, sizeof(text), "%s.%u", path_name(note->exe), note->pid);
    return strcmp(text, label) == 0;
}

const struct pprof_note *
pprof_notes_process(const struct pprof_notes *notes, const char *label)
{
    if (label[0] == '\0')
        return notes->process_count == 1 ? &notes->processes[0] : &no_note;
    for (uint32_t i = 0; i < notes->process_count; i++)
        if (is_named(&notes->processes[i], label))
            return &notes->processes[i];
    return &no_note;
}

/* In a file without counters, a sample that was asked for and not lost was
 * taken. Still older files count only the stacks of such samples. */
void
pprof_notes_end(struct pprof_notes *notes)
{
    struct profile_cost *cost = &notes->of_file.cost;
    uint64_t lost = 0;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum_add(&lost, cost->lost[i]);
    if (!notes->has_counters) {
        cost->taken = cost->asked > lost ? cost->asked - lost : 0;
        cost->peeked =
            notes->walked > cost->taken ? notes->walked - cost->taken : 0;
    }
    profile_add_cost(&notes->counters.cost, cost);
    sum_add(&notes->counters.by_signal, notes->of_file.by_signal);
    notes->of_file = (struct counters){0};
    notes->walked = 0;
    notes->has_counters = false;
}

/* Every file has its comments in one order. A comment that should have come
 * before the last one is the first of another file. */
static void
begin_comment(struct pprof_notes *notes, const char *key)
{
    static const char *const order[] = {"process", "command", "rate",    "due",
                                        "unseen",  "spread",  "lost",    "cut",
                                        "cost",    "note",    "counters"};
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (strcmp(key, order[i]) != 0)
            continue;
        if (i <= notes->place)
            pprof_notes_end(notes);
        notes->place = i;
    }
}

int
pprof_notes_add(struct pprof_notes *notes, const char *comment)
{
    char key[16];
    int length = 0;
    if (sscanf(comment, "%15[a-z]:%n", key, &length) != 1 || length == 0 ||
        comment[length] != ' ')
        return 0;
    const char *text = comment + length + 1;
    begin_comment(notes, key);
    if (strcmp(key, "process") == 0)
        return add_process(notes, text);
    if (strcmp(key, "command") == 0)
        return add_command(notes, text);
    if (strcmp(key, "counters") == 0) {
        quality_read_counters(&notes->of_file, text);
        notes->has_counters = true;
    } else if (strcmp(key, "spread") == 0) {
        add_spread(notes, text);
    } else {
        read_sentence(notes, key, text);
    }
    return 0;
}

void
pprof_notes_release(struct pprof_notes *notes)
{
    free(notes->processes);
}
