/* SPDX-License-Identifier: MIT */
/*
 * cmd_push.c -- `sprofile push`: sends what all profiled processes did to
 * servers that store profiles, interval by interval. All networking is here,
 * none is in a profiled process. A round takes an interval of each spool
 * (push/sources.h), makes requests of it and puts them on disk with the
 * positions (push/backlog.h); push/sender.h sends them meanwhile.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/push/backlog.h"
#include "cli/push/payload.h"
#include "cli/push/sender.h"
#include "cli/push/sources.h"
#include "arguments.h"
#include "command.h"

/* LIST_MOST: limit of the uses of an option. LABELS_MOST: the same for labels
 * of a series; Pyroscope takes 30 with those of samples. */
enum { LIST_MOST = 32, LABELS_MOST = 12 };

/* LOOK_NS, EARLY_NS: pauses between two looks for new processes, in ns; the
 * second one if a spool was only just begun. DRAIN_NS: time in which requests
 * are still sent when the command is to end. */
static const uint64_t LOOK_NS = NS_PER_SECOND, EARLY_NS = NS_PER_SECOND / 50,
                      DRAIN_NS = UINT64_C(5) * NS_PER_SECOND;

struct list {
    const char *items[LIST_MOST + 1]; /* ends with NULL */
    unsigned count;
};

struct push {
    const char *given[PAYLOAD_COUNT]; /* URLs as given; NULL: none */
    char *urls[PAYLOAD_COUNT];        /* with their paths */
    uint64_t interval;                /* ns */
    const char *state, *only;
    uint32_t backlog_most; /* MiB; 0: no limit */
    struct list spools, headers, labels;
    struct sources sources;
    struct backlog backlog;
    struct sender *sender;
};

/* Add VALUE to a list; the number says whether a sign must be in it. */
static int
take_item(const struct command_option *option, void *field, const char *value)
{
    struct list *list = field;
    char sign = (char)option->number;
    if (sign != 0 && (value[0] == sign || strchr(value, sign) == NULL))
        return arguments_refuse(option, value);
    unsigned most = sign == '=' ? LABELS_MOST : LIST_MOST;
    if (list->count >= most)
        return command_usage("--%s: at most %u times", option->name, most);
    list->items[list->count++] = value;
    return STATUS_DONE;
}

static int
take_url(const struct command_option *option, void *field, const char *value)
{
    if (strncmp(value, "http://", 7) != 0 && strncmp(value, "https://", 8) != 0)
        return arguments_refuse(option, value);
    *(const char **)field = value;
    return STATUS_DONE;
}

/* Without options the variables that programs of these servers know. */
static void
take_environment(struct push *push)
{
    static const struct {
        enum payload_kind kind;
        const char *name;
    } variables[] = {
        {PAYLOAD_OTLP, "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT"},
        {PAYLOAD_OTLP, "OTEL_EXPORTER_OTLP_ENDPOINT"},
        {PAYLOAD_PYROSCOPE, "PYROSCOPE_SERVER_ADDRESS"},
    };
    for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (push->given[variables[i].kind] == NULL)
            push->given[variables[i].kind] = getenv(variables[i].name);
}

static int
check_arguments(void *values, char *const *operands)
{
    struct push *push = values;
    bool any = false;
    int status = command_lacks("push", SPROF_LACKS);
    if (status != STATUS_DONE)
        return status;
    if (operands[0] != NULL)
        return command_usage("%s: expected no operand", operands[0]);
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        any |= push->given[i] != NULL;
    if (!any)
        take_environment(push);
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        any |= push->given[i] != NULL;
    return any ? STATUS_DONE
               : command_usage("expected --otlp, --pyroscope, --parca or "
                               "--pprof with a URL");
}

/* GIVEN with the path of its protocol, if it has none. For the caller to free;
 * NULL if memory is short. */
static char *
whole_url(const char *given, const char *path)
{
    const char *host = strstr(given, "://");
    const char *slash = host != NULL ? strchr(host + 3, '/') : NULL;
    char *url = NULL;
    if (slash != NULL && slash[1] != '\0')
        return strdup(given);
    int length = slash != NULL ? (int)(slash - given) : (int)strlen(given);
    return asprintf(&url, "%.*s%s", length, given, path) < 0 ? NULL : url;
}

/* The directory of the state unless --state says another. For the caller to
 * free; NULL: memory is short, or nothing says where the home is. */
static char *
state_directory(const struct push *push)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length = -1;
    if (push->state != NULL)
        return strdup(push->state);
    if (base != NULL && base[0] == '/')
        length = asprintf(&path, "%s/sprof/push", base);
    else if (home != NULL && home[0] == '/')
        length = asprintf(&path, "%s/.local/state/sprof/push", home);
    return length < 0 ? NULL : path;
}

/* For sources_take: put a request for each server on disk. */
static void
put_requests(struct profile *profile, const struct otlp_resource *resource,
             void *context)
{
    struct push *push = context;
    const struct payload_facts facts = {*resource, push->labels.items};
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++) {
        size_t size;
        char *bytes = NULL;
        if (push->urls[i] == NULL)
            continue;
        bytes = payload_make((enum payload_kind)i, profile, &facts, &size);
        if (bytes == NULL || backlog_put(&push->backlog, payload_rows[i].letter,
                                         bytes, size) != 0)
            command_fail("a request is lost: %s", strerror(errno));
        free(bytes);
    }
}

/* Take an interval of every process. */
static void
run_round(struct push *push)
{
    sources_take(&push->sources, put_requests, push);
    if (backlog_commit(&push->backlog, sources_state_save, &push->sources) != 0)
        command_fail("the state cannot be written: %s", strerror(errno));
    if (push->backlog.dropped > 0)
        command_fail("%llu requests are lost: the backlog is full, at %u MiB",
                     (unsigned long long)push->backlog.dropped,
                     push->backlog_most);
    push->backlog.dropped = 0;
    command_return_memory();
}

static volatile sig_atomic_t is_ending;

static void
end(int unused)
{
    (void)unused;
    is_ending = 1;
}

static void
catch_signals(void)
{
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static bool
can_be_read(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

/* Milliseconds until TIME, of clock_now, and at most a second. */
static int
until(uint64_t time)
{
    uint64_t now = clock_now();
    if (time <= now)
        return 0;
    return time - now < NS_PER_SECOND ? (int)((time - now) / 1000000 + 1)
                                      : 1000;
}

/* Rounds, looks and sending, until a signal says to end. */
static void
run_rounds(struct push *push)
{
    uint64_t look = 0, next = clock_now() + push->interval;
    int notify = sources_fd(&push->sources);
    while (!is_ending) {
        uint64_t now = clock_now();
        if (now >= look || can_be_read(notify)) {
            bool is_early = sources_look(&push->sources);
            look = now + (is_early ? EARLY_NS : LOOK_NS);
        }
        if (now >= next) {
            run_round(push);
            for (next += push->interval; next <= clock_now();)
                next += push->interval;
        }
        sender_work(push->sender, until(look < next ? look : next), notify);
    }
}

/* The last round is sent if the servers take it soon. */
static void
drain(struct push *push)
{
    (void)sources_look(&push->sources);
    run_round(push);
    uint64_t end_at = clock_now() + DRAIN_NS;
    while (clock_now() < end_at && sender_is_busy(push->sender))
        sender_work(push->sender, until(end_at), -1);
}

/* Prepare all parts. Returns 0, or another status after a message. */
static int
begin(struct push *push)
{
    char error[4096 + 256];
    char *directory = state_directory(push);
    FILE *state = NULL;
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        if (push->given[i] != NULL)
            push->urls[i] = whole_url(push->given[i], payload_rows[i].path);
    if (directory == NULL)
        return command_fail("--state: expected a directory, as HOME is not "
                            "set");
    uint64_t most = push->backlog_most > 0 ? (uint64_t)push->backlog_most << 20
                                           : UINT64_MAX;
    int status = backlog_open(&push->backlog, directory, most, &state, error,
                              sizeof(error));
    free(directory);
    if (status != 0)
        return command_fail("%s", error);
    push->sender = sender_new(&push->backlog, (const char *const *)push->urls,
                              push->headers.items, push->backlog.key);
    if (push->sender == NULL ||
        sources_begin(&push->sources, push->spools.items, push->only) != 0)
        status = command_fail("%s", strerror(errno));
    if (state != NULL) {
        sources_state_resume(&push->sources, state);
        fclose(state);
    }
    return status;
}

/* Print where requests go, a line each. */
static void
say_targets(const struct push *push)
{
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        if (push->urls[i] != NULL)
            puts(push->urls[i]);
    fflush(stdout);
}

static int
run_push(void *values, char *const *operands, int count)
{
    struct push *push = values;
    (void)operands;
    (void)count;
    catch_signals();
    command_raise_files();
    umask(077);
    int status = begin(push);
    if (status == STATUS_DONE) {
        say_targets(push);
        run_rounds(push);
        drain(push);
        sources_end(&push->sources);
    }
    sender_free(push->sender);
    backlog_close(&push->backlog);
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        free(push->urls[i]);
    return status;
}

#define FIELD(member) .field = offsetof(struct push, member)
#define URL "a URL that begins with http:// or https://"

static const struct command_option options[] = {
    {"otlp", "URL", "an OpenTelemetry collector, as profiles over HTTP",
     take_url, FIELD(given[PAYLOAD_OTLP]), URL},
    {"pyroscope", "URL", "Grafana Pyroscope", take_url,
     FIELD(given[PAYLOAD_PYROSCOPE]), URL},
    {"parca", "URL", "Parca", take_url, FIELD(given[PAYLOAD_PARCA]), URL},
    {"pprof", "URL", "a server that takes pprof files by POST", take_url,
     FIELD(given[PAYLOAD_PPROF]), URL},
    {"interval", "S", "seconds of an interval, 15 by default",
     arguments_seconds, FIELD(interval), "seconds, 0.1 to 86400"},
    {"spools", "DIR",
     "also take the spools in DIR, of processes that are\n"
     "not seen here, or that have ended",
     take_item, FIELD(spools)},
    {"only", "DIR", "those in DIR alone", arguments_text, FIELD(only)},
    {"label", "KEY=VALUE", "a label of every series of Pyroscope and Parca",
     take_item, FIELD(labels), "KEY=VALUE", .number = '='},
    {"header", "LINE", "a header of every request: \"X-Scope-OrgID: team\"",
     take_item, FIELD(headers), "\"Name: value\"", .number = ':'},
    {"state", "DIR", "where positions and unsent requests are kept",
     arguments_text, FIELD(state)},
    {"backlog", "MIB", "most MiB of unsent requests, 256 by default",
     ARGUMENTS_COUNT, FIELD(backlog_most)},
    {0},
};

const struct command cmd_push = {
    .name = "push",
    .summary = "send what all profiled processes do to a server",
    .usage = "[OPTION]... --otlp URL | --pyroscope URL | --parca URL | "
             "--pprof URL",
    .about =
        "Sends what each profiled process that you may look at did in each "
        "interval,\n"
        "once, until it is told to end (SIGINT, SIGTERM). What cannot be "
        "sent waits\n"
        "on disk. Started again, it goes on where it was. A URL without a "
        "path gets\n"
        "that of its protocol.\n",
    .options = options,
    .operands = "no operand",
    .least = 0,
    .most = 0,
    .values = &(const struct push){.interval = UINT64_C(15) * NS_PER_SECOND,
                                   .backlog_most = 256},
    .size = sizeof(struct push),
    .check = check_arguments,
    .run = run_push,
};
