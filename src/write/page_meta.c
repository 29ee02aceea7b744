/* SPDX-License-Identifier: MIT */
/* page_meta.c -- makes the JSON in memory. It has a few kilobytes, and a line
 * more for each process whose names had a problem. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rate.h"
#include "model/quality.h"
#include "show/text_report.h"
#include "util/json.h"
#include "util/number.h"
#include "page_meta.h"

/* LINE_SIZE: limit of the bytes of a sentence. PROCESSES: limit of the
 * processes whose missing end has its own note. */
enum { LINE_SIZE = 1024, PROCESSES = 10 };

/* The largest sum, in ns, that a browser's numbers show exactly: 104 days. */
#define EXACT (1ull << 53)

static void
add_causes(struct json *json, const char *key, const uint64_t *counters,
           unsigned first, unsigned count, const char *(*word)(unsigned))
{
    json_name_open(json, key, '[');
    for (unsigned i = first; i < count; i++) {
        if (counters[i] == 0)
            continue;
        json_open(json, '{');
        json_name_string(json, "cause", word(i));
        json_name_number(json, "count", counters[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Every output has the same sentences about quality (quality.h). */
static void
add_quality(struct json *json, const struct profile *profile)
{
    const struct profile_cost *cost = &profile->cost;
    char text[LINE_SIZE];
    json_name_open(json, "rate", '{');
    json_name_number(json, "asked", quality_wanted_rate(profile));
    json_name_number(json, "reached", rate_reached(&cost->rate, cost->taken));
    json_name_string(json, "text", quality_rate(profile, text, sizeof(text)));
    json_close(json, '}');
    json_name_number(json, "asked", cost->asked);
    json_name_number(json, "taken", cost->taken);
    add_causes(json, "lost", cost->lost, 0, LOSS_COUNT, loss_word);
    json_name_string(json, "lostText",
                     quality_losses(profile, text, sizeof(text)));
    add_causes(json, "cut", cost->cut, CUT_NONE + 1, CUT_COUNT, cut_word);
    json_name_string(json, "cutText",
                     quality_cuts(profile, text, sizeof(text)));
    json_name_open(json, "cost", '{');
    uint64_t of;
    bool is_wall;
    json_name_real(json, "percent", quality_cost_share(profile, &of, &is_wall));
    json_name_string(json, "text", quality_cost(profile, text, sizeof(text)));
    json_close(json, '}');
}

static void
add_totals(struct json *json, const struct profile *profile)
{
    json_name_real(json, "start", (double)profile->start / 1e6);
    json_name_number(json, "wallNs", profile->duration);
    json_name_number(json, "wallSumNs", profile->totals[VALUE_WALL]);
    json_name_number(json, "cpuNs", profile->totals[VALUE_CPU]);
    json_name_number(json, "samples", profile->totals[VALUE_SAMPLES]);
    json_name_real(json, "looks", quality_look_share(profile));
    json_name_number(json, "threads", profile_busy_threads(profile));
    json_name_number(json, "processes", profile->process_count);
}

/* Whether threads were sampled only while they ran. A pprof file does not say
 * so; if none of its samples waits, the answer is yes. */
static bool
is_cpu_only(const struct profile *profile)
{
    if (profile->is_from_pprof)
        return profile->states[STATE_WAITING] == 0;
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (!profile->processes[i].is_cpu_only)
            return false;
    return profile->process_count > 0;
}

static void
add_subject(struct json *json, const struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    const struct profile_process *first = profile->processes;
    bool is_known = profile->process_count > 0;
    json_name_string(json, "version", SPROF_VERSION);
    json_name_string(json, "product", "libsprof");
    json_name_string(json, "kind", tables->is_compared ? "diff" : "profile");
    json_name_string(json, "command", is_known ? first->command : "");
    json_name_string(json, "executable", is_known ? first->exe : "");
    json_name_string(json, "host", is_known ? first->host : "");
    json_name_string(json, "mode", is_cpu_only(profile) ? "cpu" : "wall");
    json_name(json, "filter");
    if (profile->filter != NULL)
        json_string(json, profile->filter);
    else
        json_null(json);
    json_name_bool(json, "hasTime", tables->timeline != NULL);
    json_name_string(json, "frames",
                     profile->shows_script   ? "script"
                     : profile->shows_native ? "native"
                                             : "usual");
    json_name_bool(json, "hasNative", tables->has_native);
}

/* Add each line of TEXT that is not empty. TEXT is changed. */
static void
add_lines(struct json *json, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        json_string(json, line);
}

/* The text that PRINT writes about PROFILE; NULL if memory is short. */
static char *
printed(const struct page_tables *tables,
        void (*print)(FILE *, const struct page_tables *))
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    print(stream, tables);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static void
print_head(FILE *stream, const struct page_tables *tables)
{
    text_report_brief(stream, tables->profile, 0, &paint_none);
}

/* Print a sentence for each of the first processes whose end was not seen. */
static void
print_processes(FILE *stream, const struct profile *profile)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->ended || profile->is_from_pprof || ++count > PROCESSES)
            continue;
        fprintf(stream,
                "process %u was killed, or still ran: its last samples may be "
                "missing\n",
                process->pid);
    }
    if (count > PROCESSES)
        fprintf(stream, "%u more processes were killed, or still ran\n",
                count - PROCESSES);
}

static void
print_times(FILE *stream, const struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    if (tables->timeline != NULL || tables->is_compared)
        return;
    fprintf(stream, "no time axis: %s\n",
            profile->is_from_pprof
                ? "a pprof file does not say when samples were taken"
            : profile->has_no_times ? "the times of some samples are not known"
                                    : "the times of the samples were not read");
}

static void
print_notes(FILE *stream, const struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    char text[LINE_SIZE];
    if (profile->totals[VALUE_SAMPLES] == 0)
        fputs("there are no samples\n", stream);
    print_times(stream, tables);
    if (profile->is_short)
        fputs("an input could not be read, or a filter left nothing\n", stream);
    if (profile->problems > 0)
        fprintf(stream, "%llu damaged records were left out\n",
                (unsigned long long)profile->problems);
    if (profile->totals[VALUE_WALL] > EXACT)
        fputs("sums above 104 days are not exact to the nanosecond\n", stream);
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        fprintf(stream, "unseen: %s\n", text);
    if (quality_sums(profile, text, sizeof(text))[0] != '\0')
        fprintf(stream, "%s\n", text);
    if (quality_asked(profile, text, sizeof(text))[0] != '\0')
        fprintf(stream, "%s\n", text);
    print_processes(stream, profile);
    text_report_notes(stream, profile, true);
    (void)text_report_nameless(stream, tables->profile, false);
}

/* Add the beginning and the end of each session in which samples were taken. */
static void
add_sessions(struct json *json, const struct profile *profile)
{
    json_name_open(json, "sessions", '[');
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        if (profile->timed_marks[i].kind != MARK_START)
            continue;
        json_open(json, '[');
        json_number(json, profile_mark_time(profile, &profile->timed_marks[i]));
        json_number(json, profile_session_end(profile, i));
        json_close(json, ']');
    }
    json_close(json, ']');
}

/* Add the node for idle threads, and their numbers. */
static void
add_idle(struct json *json, const struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    json_name_open(json, "idle", '{');
    json_name_number(json, "node", tables->idle);
    json_name_open(json, "threads", '[');
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].is_idle)
            json_number(json, i);
    json_close(json, ']');
    json_close(json, '}');
}

static void
write_json(FILE *stream, const struct page_tables *tables, char *summary,
           char *notes)
{
    const struct profile *profile = tables->profile;
    struct json json;
    json_begin(&json, stream);
    json_open(&json, '{');
    add_subject(&json, tables);
    add_totals(&json, profile);
    add_quality(&json, profile);
    add_sessions(&json, profile);
    char spread[64];
    if (tables->timeline == NULL &&
        quality_spread(profile, spread, sizeof(spread))[0] != '\0')
        json_name_real(&json, "spread", strtod(spread, NULL));
    if (tables->idle != 0)
        add_idle(&json, tables);
    json_name_open(&json, "summary", '[');
    add_lines(&json, summary);
    json_close(&json, ']');
    json_name_open(&json, "notes", '[');
    add_lines(&json, notes);
    json_close(&json, ']');
    json_close(&json, '}');
    (void)json_end(&json);
}

int
page_meta_write(struct page_stream *stream, const struct page_tables *tables)
{
    char *text = NULL, *summary = printed(tables, print_head);
    char *notes = printed(tables, print_notes);
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    bool is_whole = summary != NULL && notes != NULL && memory != NULL;
    if (is_whole)
        write_json(memory, tables, summary, notes);
    if (memory != NULL && fclose(memory) != 0)
        is_whole = false;
    if (is_whole)
        page_stream_text(stream, text, size);
    free(notes);
    free(summary);
    free(text);
    errno = ENOMEM;
    return is_whole ? 0 : -1;
}
