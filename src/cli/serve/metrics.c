/* SPDX-License-Identifier: MIT */
/*
 * metrics.c -- see metrics.h. The format wants all values of a metric together,
 * so each row of the table is a pass over all processes.
 */
#include <stdlib.h>

#include "base/path.h"
#include "base/proc.h"
#include "util/json.h"
#include "util/number.h"
#include "metrics.h"

/* The words of causes and states, as reports have them. */
static const char *const losses[] = {
#define LOSS(name, word, ...) word,
    LOSS_TABLE(LOSS)
#undef LOSS
};
static const char *const cuts[] = {
#define CUT(name, word, ...) word,
    CUT_TABLE(CUT)
#undef CUT
};
static const char *const states[STATE_COUNT] = {
    [STATE_RUNNING] = "running",
    [STATE_WAITING] = "waiting",
    [STATE_RUNQUEUE] = "runnable",
};

/* Write TEXT as the value of a label. */
static void
write_value(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

/* Write the name NAME and the labels of MEMBER. KEY is another label, NULL for
 * none. */
static void
write_name(FILE *stream, const char *name, const struct member *member,
           const char *key, const char *value)
{
    fprintf(stream, "%s{pid=\"%ld\",exe=", name, (long)member->process.pid);
    write_value(stream, path_name(member->exe));
    if (key != NULL) {
        fprintf(stream, ",%s=", key);
        write_value(stream, value);
    }
    fputs("} ", stream);
}

static void
write_count(FILE *stream, const char *name, const struct member *member,
            uint64_t count)
{
    write_name(stream, name, member, NULL, NULL);
    fprintf(stream, "%llu\n", (unsigned long long)count);
}

static void
write_seconds(FILE *stream, const char *name, const struct member *member,
              uint64_t ns)
{
    write_name(stream, name, member, NULL, NULL);
    fprintf(stream, "%.9f\n", number_seconds(ns));
}

/* The functions of the table below. */

static void
write_taken(FILE *stream, const char *name, const struct member *member)
{
    write_count(stream, name, member, member->tally.sums.taken);
}

static void
write_asked(FILE *stream, const char *name, const struct member *member)
{
    write_count(stream, name, member, member->tally.sums.asked);
}

static void
write_looked(FILE *stream, const char *name, const struct member *member)
{
    write_count(stream, name, member, member->tally.sums.peeked);
}

/* A counter for each cause: COUNT of them, FROM the first. */
static void
write_causes(FILE *stream, const char *name, const struct member *member,
             const char *const *causes, const uint64_t *counts, unsigned from,
             unsigned count)
{
    for (unsigned i = from; i < count; i++) {
        write_name(stream, name, member, "cause", causes[i]);
        fprintf(stream, "%llu\n", (unsigned long long)counts[i]);
    }
}

static void
write_lost(FILE *stream, const char *name, const struct member *member)
{
    write_causes(stream, name, member, losses, member->tally.sums.lost, 0,
                 LOSS_COUNT);
}

static void
write_cut(FILE *stream, const char *name, const struct member *member)
{
    write_causes(stream, name, member, cuts, member->tally.sums.cut, 1,
                 CUT_COUNT);
}

static void
write_cpu(FILE *stream, const char *name, const struct member *member)
{
    const struct tally_sums *sums = &member->tally.sums;
    write_seconds(stream, name, member,
                  sums->process_cpu > sums->sampler_cpu
                      ? sums->process_cpu - sums->sampler_cpu
                      : 0);
}

static void
write_cost(FILE *stream, const char *name, const struct member *member)
{
    const struct tally_sums *sums = &member->tally.sums;
    write_name(stream, name, member, "part", "sampler");
    fprintf(stream, "%.9f\n", number_seconds(sums->sampler_cpu));
    write_name(stream, name, member, "part", "threads");
    fprintf(stream, "%.9f\n", number_seconds(sums->stopped));
}

static void
write_wall(FILE *stream, const char *name, const struct member *member)
{
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        write_name(stream, name, member, "state", states[i]);
        fprintf(stream, "%.9f\n", number_seconds(member->tally.sums.wall[i]));
    }
}

static void
write_runnable(FILE *stream, const char *name, const struct member *member)
{
    const uint64_t *wall = member->tally.sums.wall;
    uint64_t both = wall[STATE_RUNNING] + wall[STATE_RUNQUEUE];
    write_name(stream, name, member, NULL, NULL);
    fprintf(stream, "%.6f\n", number_percent(wall[STATE_RUNQUEUE], both) / 100);
}

static void
write_threads(FILE *stream, const char *name, const struct member *member)
{
    char text[1 << 13];
    uint64_t threads = 0;
    if (member->ended == 0 && proc_read(member->process.pid, PROC_PROCESS,
                                        "/status", text, sizeof(text)) > 0)
        threads = proc_number(proc_status_line(text, "Threads"));
    /* The sampler is one of them. */
    write_count(stream, name, member, threads > 0 ? threads - 1 : 0);
}

static void
write_start(FILE *stream, const char *name, const struct member *member)
{
    write_name(stream, name, member, NULL, NULL);
    fprintf(stream, "%.3f\n", number_seconds(member->header.start_realtime));
}

static const struct metric {
    const char *name, *type, *help;
    void (*write)(FILE *, const char *, const struct member *);
} metrics[] = {
    {"sprof_samples_total", "counter",
     "Samples of running threads that were taken.", write_taken},
    {"sprof_samples_asked_total", "counter",
     "Samples that were asked for: those taken and those lost.", write_asked},
    {"sprof_samples_lost_total", "counter",
     "Samples that were asked for and not taken, by cause.", write_lost},
    {"sprof_waits_looked_at_total", "counter",
     "Stacks of waiting threads that were looked at.", write_looked},
    {"sprof_stacks_cut_total", "counter",
     "Stacks that did not reach their root, by cause.", write_cut},
    {"sprof_cpu_seconds_total", "counter",
     "CPU time of the process, without the sampler.", write_cpu},
    {"sprof_cost_seconds_total", "counter",
     "CPU time of the sampler, and of threads in the handler.", write_cost},
    {"sprof_wall_seconds_total", "counter", "Time of all threads, by state.",
     write_wall},
    {"sprof_runnable_ratio", "gauge",
     "Of the time in which threads ran or could run, the share in which they "
     "had no CPU, since the start.",
     write_runnable},
    {"sprof_threads", "gauge", "Threads of the process, without the sampler.",
     write_threads},
    {"sprof_start_time_seconds", "gauge",
     "When the process began, in seconds since the epoch.", write_start},
};

static void
write_metric(FILE *stream, const struct metric *metric,
             const struct fleet *fleet, const struct query *query)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
            metric->name, metric->type);
    for (uint32_t i = 0; i < fleet->count; i++)
        if (query_wants(query, fleet->members[i]->process.pid,
                        fleet->members[i]->exe))
            metric->write(stream, metric->name, fleet->members[i]);
}

static void
write_gauge(FILE *stream, const char *name, const char *help, uint32_t value)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n%s %u\n", name, help, name,
            name, value);
}

void
metrics_write(FILE *stream, struct fleet *fleet, const struct query *query)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct member *member = fleet->members[i];
        living += member->ended == 0;
        if (query_wants(query, member->process.pid, member->exe))
            (void)fleet_count(member);
    }
    write_gauge(stream, "sprof_processes",
                "Profiled processes that this server sees.", living);
    write_gauge(stream, "sprof_processes_hidden",
                "Profiled processes whose spools this server may not read.",
                fleet->hidden);
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        write_metric(stream, &metrics[i], fleet, query);
}

/* Write one target. A scrape of it gets the metrics of this process alone. */
static void
write_target(struct json *json, const struct member *member, const char *host)
{
    char text[32], name[320];
    snprintf(text, sizeof(text), "%ld", (long)member->process.pid);
    snprintf(name, sizeof(name), "%.256s.%s", path_name(member->exe), text);
    json_open(json, '{');
    json_name_open(json, "targets", '[');
    json_string(json, host);
    json_close(json, ']');
    json_name_open(json, "labels", '{');
    json_name_string(json, "__param_pid", text);
    json_name_string(json, "instance", name);
    json_name_string(json, "__meta_sprof_pid", text);
    json_name_string(json, "__meta_sprof_exe", path_name(member->exe));
    json_name_string(json, "__meta_sprof_path", member->exe);
    json_name_string(json, "__meta_sprof_command", member->command);
    json_name_string(json, "__meta_sprof_host", member->host);
    json_close(json, '}');
    json_close(json, '}');
}

int
metrics_write_targets(FILE *stream, const struct fleet *fleet,
                      const struct query *query, const char *host)
{
    struct json *json = malloc(sizeof(*json));
    if (json == NULL)
        return -1;
    json_begin(json, stream);
    json_open(json, '[');
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct member *member = fleet->members[i];
        if (member->ended == 0 &&
            query_wants(query, member->process.pid, member->exe))
            write_target(json, member, host);
    }
    json_close(json, ']');
    int status = json_end(json);
    free(json);
    return status;
}
