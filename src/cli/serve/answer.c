/* SPDX-License-Identifier: MIT */
/* answer.c -- see answer.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "cli/process/remote.h"
#include "live/stacks.h"
#include "show/stacks_text.h"
#include "write/page.h"
#include "write/pprof.h"
#include "metrics.h"
#include "window.h"
#include "answer.h"

/* HTTP's numbers. */
enum { OK = 200, NOT_FOUND = 404, SERVER_ERROR = 500 };

/* STACKS_SECONDS: the longest wait for the stacks of one process. A process
 * that is stopped does not answer. */
enum { STACKS_SECONDS = 1 };

/* The longest wait for all of them, in ns. */
#define STACKS_NS 5000000000u

/* The input of the function for an endpoint. */
struct task {
    struct fleet *fleet;
    const struct query *query;
    uint64_t from, to;
    const char *host;
    FILE *stream;
    unsigned status; /* of HTTP, if the function fails */
    char error[PATH_MAX + 512];
};

void
answer_refuse(struct answer *answer, unsigned status, const char *sentence)
{
    *answer =
        (struct answer){.status = status, .type = "text/plain; charset=utf-8"};
    FILE *stream = body_open(&answer->body);
    if (stream == NULL)
        return;
    fprintf(stream, "%s\n", sentence);
    fclose(stream);
}

/* Fail with the reason in errno. Returns -1. */
static int
fail(struct task *task)
{
    snprintf(task->error, sizeof(task->error), "%s", strerror(errno));
    task->status = SERVER_ERROR;
    return -1;
}

/* The profile of the requested time; NULL on failure. */
static struct profile *
make_profile(struct task *task)
{
    task->status = NOT_FOUND;
    return window_profile(task->fleet, task->query, task->from, task->to,
                          task->error, sizeof(task->error));
}

static int
write_pprof(struct task *task)
{
    enum value value =
        task->query->endpoint == ENDPOINT_WALL ? VALUE_WALL : VALUE_CPU;
    struct profile *profile = make_profile(task);
    if (profile == NULL)
        return -1;
    int status = pprof_write_value(task->stream, profile, value);
    if (status != 0)
        fail(task);
    profile_free(profile);
    return status;
}

static int
write_page(struct task *task)
{
    struct profile *profile = make_profile(task);
    if (profile == NULL)
        return -1;
    const struct page page = {.content = {page_make}, .profile = profile};
    int status = page_make(task->stream, &page.content);
    if (status != 0)
        fail(task);
    profile_free(profile);
    return status;
}

/* Whether MEMBER lives and the request wants it. */
static bool
is_wanted(const struct task *task, const struct member *member)
{
    return member->ended == 0 &&
           query_wants(task->query, member->process.pid, member->exe);
}

/* Ask MEMBER for its stacks, and write them. Returns 0, or -1 with a sentence.
 */
static int
write_stacks(struct task *task, const struct member *member,
             struct remote *remote)
{
    const struct symbolizer_options options = {.inlines = true};
    const struct stacks_text_options text = {.columns = 0};
    char *answer = NULL;
    int status = -1;
    if (remote_open(remote, member->process.pid) == 0)
        answer = remote_ask(remote, REQUEST_STACKS, STACKS_SECONDS);
    if (answer == NULL) {
        snprintf(task->error, sizeof(task->error), "%s", remote->error);
        return -1;
    }
    free(answer);
    struct stacks *stacks =
        stacks_open(remote->path, &options, task->error, sizeof(task->error));
    if (stacks == NULL)
        return -1;
    stacks_tell_pid(stacks, (uint32_t)member->process.pid);
    if (stacks_read(stacks, task->error, sizeof(task->error)) == 0)
        status = stacks_text_write(task->stream, stacks, &text);
    stacks_close(stacks);
    return status;
}

/* Write the stacks of all processes. One that does not answer has a line that
 * says why. */
static int
write_threads(struct task *task)
{
    uint64_t until = clock_now() + STACKS_NS;
    struct remote *remote = malloc(sizeof(*remote));
    uint32_t written = 0;
    if (remote == NULL)
        return fail(task);
    for (uint32_t i = 0; i < task->fleet->count; i++) {
        const struct member *member = task->fleet->members[i];
        if (!is_wanted(task, member))
            continue;
        fputs(written++ > 0 ? "\n" : "", task->stream);
        if (clock_now() >= until) {
            fprintf(task->stream,
                    "process %ld (%s) was not asked: the others "
                    "took too long\n",
                    (long)member->process.pid, member->process.name);
            continue;
        }
        if (write_stacks(task, member, remote) != 0)
            fprintf(task->stream, "%s\n", task->error);
        remote_close(remote);
    }
    free(remote);
    return 0;
}

static int
write_command_lines(struct task *task)
{
    for (uint32_t i = 0; i < task->fleet->count; i++) {
        const struct member *member = task->fleet->members[i];
        if (is_wanted(task, member))
            fprintf(task->stream, "%s\n", member->command);
    }
    return 0;
}

/* Any number but 0 means to clients that names exist. */
static int
write_symbols(struct task *task)
{
    fputs("num_symbols: 1\n", task->stream);
    return 0;
}

static int
write_metrics(struct task *task)
{
    metrics_write(task->stream, task->fleet, task->query);
    return 0;
}

static int
write_targets(struct task *task)
{
    int status = metrics_write_targets(task->stream, task->fleet, task->query,
                                       task->host);
    return status == 0 ? 0 : fail(task);
}

/* Write the row of MEMBER in the list of processes. */
static void
write_row(FILE *stream, const struct member *member)
{
    fprintf(stream, "<tr><td>%ld<td>", (long)member->process.pid);
    body_add_html(stream, member->command);
    fputs("<td>", stream);
    for (int i = 0; i < ENDPOINT_COUNT; i++) {
        const char *path = query_endpoints[i].path;
        if (i != ENDPOINT_INDEX && i != ENDPOINT_SYMBOL &&
            i != ENDPOINT_TARGETS)
            fprintf(stream, "<a href=\"%s?pid=%ld%s\">%s</a> ", path,
                    (long)member->process.pid,
                    query_endpoints[i].has_time ? "&amp;last=10" : "",
                    path_name(path));
    }
    putc('\n', stream);
}

static int
write_index(struct task *task)
{
    FILE *stream = task->stream;
    fputs("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"
          "<title>sprofile serve</title><h1>Profiled processes</h1>\n<table>"
          "<tr><th>PID<th>Command<th>Of this process\n",
          stream);
    for (uint32_t i = 0; i < task->fleet->count; i++)
        if (is_wanted(task, task->fleet->members[i]))
            write_row(stream, task->fleet->members[i]);
    fputs("</table>\n<h1>Of all processes</h1>\n<table>\n", stream);
    for (int i = 0; i < ENDPOINT_COUNT; i++)
        fprintf(stream, "<tr><td><a href=\"%s\">%s</a><td>%s\n",
                query_endpoints[i].path, query_endpoints[i].path,
                query_endpoints[i].words);
    fputs("</table>\n<p>seconds=N: of the next N seconds. last=N: of the last "
          "N seconds, at once. pid=, exe=: of these processes alone.\n",
          stream);
    return 0;
}

static int (*const writers[ENDPOINT_COUNT])(struct task *) = {
    [ENDPOINT_PROFILE] = write_pprof,
    [ENDPOINT_WALL] = write_pprof,
    [ENDPOINT_THREADS] = write_threads,
    [ENDPOINT_CMDLINE] = write_command_lines,
    [ENDPOINT_SYMBOL] = write_symbols,
    [ENDPOINT_PAGE] = write_page,
    [ENDPOINT_METRICS] = write_metrics,
    [ENDPOINT_TARGETS] = write_targets,
    [ENDPOINT_INDEX] = write_index,
};

/* The name under which a browser saves the answer, NULL if it shows it. */
static const char *
file_of(enum endpoint endpoint)
{
    if (endpoint == ENDPOINT_PROFILE)
        return "profile.pb.gz";
    return endpoint == ENDPOINT_WALL ? "wall.pb.gz" : NULL;
}

void
answer_make(struct answer *answer, struct fleet *fleet,
            const struct query *query, uint64_t from, uint64_t to,
            const char *host)
{
    struct task task = {.fleet = fleet,
                        .query = query,
                        .from = from,
                        .to = to,
                        .host = host,
                        .status = SERVER_ERROR};
    *answer = (struct answer){.status = OK,
                              .type = query_endpoints[query->endpoint].type,
                              .file = file_of(query->endpoint)};
    task.stream = body_open(&answer->body);
    int status =
        task.stream != NULL ? writers[query->endpoint](&task) : fail(&task);
    if (task.stream != NULL && fclose(task.stream) != 0 && status == 0)
        status = fail(&task);
    if (status == 0)
        return;
    if (answer->body.is_full)
        snprintf(task.error, sizeof(task.error),
                 "the answer exceeds %u MiB: expected a shorter time, or one "
                 "process",
                 BODY_MOST >> 20);
    body_release(&answer->body);
    answer_refuse(answer, task.status, task.error);
}
