/* SPDX-License-Identifier: MIT */
/*
 * pprof_notes.c -- reads comments like
 *
 *   process: 4711 on host, /opt/app
 *   command: ./app -x
 *   lost: 3 of 12348 asked: 2 exited, 1 silent
 *   due: 12349 points in 12.349000 s: 12345 taken, 3 lost, 1 not asked: ...
 *   cut: none of 14345 stacks
 *   cost: sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped ...
 *
 * Counts are exact, times have three decimals.
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

/* The second number of "3 of 12348 asked" or "none of ...". */
static uint64_t
read_whole(const char *text)
{
    unsigned long long number = 0;
    const char *of = strstr(text, "of ");
    if (of != NULL)
        sscanf(of, "of %18llu", &number);
    return number;
}

static uint64_t
nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static void
read_cost(const char *text, struct profile_cost *cost)
{
    double sampler = 0, share = 0, process = 0, stopped = 0;
    unsigned long long parked = 0;
    sscanf(text,
           "sampler %lf s CPU, %lf %% of %lf s; threads stopped %lf s; %18llu",
           &sampler, &share, &process, &stopped, &parked);
    /* The percentage may give more digits than the time itself. */
    share *= process / 100;
    if (share > sampler - 0.0005 && share < sampler + 0.0005)
        sampler = share;
    cost->sampler_cpu = nanoseconds(sampler);
    cost->process_cpu = nanoseconds(process);
    cost->stopped = nanoseconds(stopped);
    cost->parked = parked;
}

/* Read "0.512 s CPU, 22.7 % of 2.251 s: ...". */
static void
read_unseen(const char *text, struct profile_cost *cost)
{
    double unseen = 0, tree = 0;
    if (sscanf(text, "%lf s CPU, %*f %% of %lf s", &unseen, &tree) == 2 &&
        unseen <= tree) {
        cost->unseen_cpu = nanoseconds(unseen);
        cost->tree_cpu = nanoseconds(tree);
    }
}

/* Read "... (timers, 250 Hz: ...)": ns between two ticks, 0 if
 * there is no rate. */
static uint64_t
read_tick(const char *text)
{
    const char *timers = strstr(text, "timers, ");
    unsigned rate = 0;
    if (timers != NULL)
        sscanf(timers, "timers, %6u Hz", &rate);
    return rate > 0 ? 1000000000u / rate : 0;
}

/* Read "1930 points in 1.930000 s: 434 taken, 0 lost, 1496 not asked: 1496
 * switches". The points that were asked for have no limit in the text, so they
 * may stand for any. */
static void
read_due(const char *text, struct pprof_notes *notes)
{
    struct rate *rate = &notes->cost.rate;
    uint64_t unasked[LIMIT_COUNT] = {0};
    unsigned long long due = 0, left = 0;
    double seconds = 0;
    int length = 0;
    if (sscanf(text,
               "%18llu %*[points] in %lf s: %*u taken, %*u lost, %18llu not "
               "asked%n",
               &due, &seconds, &left, &length) != 3 ||
        length == 0 || left > due)
        return;
    read_causes(text + length, unasked, LIMIT_COUNT, limit_word);
    rate->cpu = nanoseconds(seconds);
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        rate->due[i] = unasked[i] <= due ? unasked[i] * 1000 : 0;
    rate->due[0] += (due - left) * 1000;
    rate->taken[0] = due - left;
}

/* The text behind KEY and ": " in COMMENT, NULL if it does not begin so. */
static const char *
text_behind(const char *comment, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(comment, key, length) != 0 ||
        strncmp(comment + length, ": ", 2) != 0)
        return NULL;
    return comment + length + 2;
}

static const struct pprof_note no_note = {0, "", "", ""};

/* Append a process; NULL if memory is short. */
static struct pprof_note *
new_process(struct pprof_notes *notes)
{
    struct pprof_note *processes =
        array_room(notes->processes, notes->process_count, sizeof(*processes));
    if (processes == NULL)
        return NULL;
    notes->processes = processes;
    processes[notes->process_count] = no_note;
    return &processes[notes->process_count++];
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

int
pprof_notes_add(struct pprof_notes *notes, const char *comment)
{
    const char *text;
    if ((text = text_behind(comment, "process")) != NULL)
        return add_process(notes, text);
    if ((text = text_behind(comment, "command")) != NULL)
        return add_command(notes, text);
    if ((text = text_behind(comment, "rate")) != NULL) {
        notes->cost.rate.tick = read_tick(text);
    } else if ((text = text_behind(comment, "lost")) != NULL) {
        notes->cost.asked = read_whole(text);
        read_causes(text, notes->cost.lost, LOSS_COUNT, loss_word);
    } else if ((text = text_behind(comment, "due")) != NULL) {
        read_due(text, notes);
    } else if ((text = text_behind(comment, "cut")) != NULL) {
        notes->walked = read_whole(text);
        read_causes(text, notes->cost.cut, CUT_COUNT, cut_word);
    } else if ((text = text_behind(comment, "cost")) != NULL) {
        read_cost(text, &notes->cost);
    } else if ((text = text_behind(comment, "unseen")) != NULL) {
        read_unseen(text, &notes->cost);
    } else if ((text = text_behind(comment, "note")) != NULL) {
        notes->was_asked = strncmp(text, "running threads were asked", 26) == 0;
    }
    return 0;
}

/* Samples that were asked for and not lost were taken. Files of older versions
 * count only the stacks of those. */
struct profile_cost
pprof_notes_cost(const struct pprof_notes *notes)
{
    struct profile_cost cost = notes->cost;
    uint64_t lost = 0;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum_add(&lost, cost.lost[i]);
    cost.taken = cost.asked > lost ? cost.asked - lost : 0;
    cost.peeked = notes->walked > cost.taken ? notes->walked - cost.taken : 0;
    return cost;
}

void
pprof_notes_release(struct pprof_notes *notes)
{
    free(notes->processes);
}
