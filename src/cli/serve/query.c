/* SPDX-License-Identifier: MIT */
/* query.c -- see query.h. The first refusal stays. */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "query.h"

/* DEFAULT_SECONDS: the time of a profile whose length was not given, as with
 * Go's server. PAGE_SECONDS: the past that a page shows then. */
enum { DEFAULT_SECONDS = 30, PAGE_SECONDS = 60 };

/* LEAST_NS: the shortest time of a profile, in ns. */
#define LEAST_NS 100000000u

/* HTTP's numbers of these answers. */
enum { BAD_REQUEST = 400, NOT_FOUND = 404, NOT_ALLOWED = 405 };

const struct endpoint_row query_endpoints[ENDPOINT_COUNT] = {
#define ENDPOINT(id, path, type, has_time, words) \
    [ENDPOINT_##id] = {path, type, has_time, words},
    ENDPOINT_TABLE(ENDPOINT)
#undef ENDPOINT
};

/* Refuse QUERY, unless it is refused already. */
__attribute__((format(printf, 3, 4))) static void
refuse(struct query *query, unsigned status, const char *format, ...)
{
    va_list values;
    if (query->error[0] != '\0')
        return;
    va_start(values, format);
    vsnprintf(query->error, sizeof(query->error), format, values);
    va_end(values);
    text_hide_controls(query->error);
    query->status = status;
}

static bool
find_endpoint(struct query *query, const char *path)
{
    for (int i = 0; i < ENDPOINT_COUNT; i++)
        if (strcmp(path, query_endpoints[i].path) == 0) {
            query->endpoint = (enum endpoint)i;
            return true;
        }
    query->endpoint = ENDPOINT_INDEX;
    return strcmp(path, "/") == 0 || strcmp(path, "/debug/pprof") == 0;
}

/* `go tool pprof` sends addresses to the endpoint for symbols by POST. */
void
query_begin(struct query *query, const char *method, const char *path)
{
    memset(query, 0, sizeof(*query));
    if (!find_endpoint(query, path))
        refuse(query, NOT_FOUND,
               "%.100s: expected one of the paths that /debug/pprof/ lists",
               path);
    bool is_read = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!is_read &&
        (query->endpoint != ENDPOINT_SYMBOL || strcmp(method, "POST") != 0))
        refuse(query, NOT_ALLOWED, "expected the method GET");
}

/* Take VALUE, a number of seconds up to MOST. */
static void
take_seconds(struct query *query, const char *key, const char *value,
             unsigned most)
{
    double number;
    const char *end = arguments_fraction(value, most, &number);
    if (query->has_length)
        refuse(query, BAD_REQUEST, "expected seconds= or last=, once");
    if (end == NULL || *end != '\0' || number * 1e9 < LEAST_NS) {
        refuse(query, BAD_REQUEST, "%s=%.40s: expected seconds, 0.1 to %u", key,
               value, most);
        return;
    }
    query->length = (uint64_t)(number * 1e9);
    query->has_length = true;
}

static void
take_pid(struct query *query, const char *value)
{
    pid_t pid;
    if (arguments_pid(value, &pid) != 0)
        refuse(query, BAD_REQUEST, "pid=%.40s: expected a number", value);
    else if (query->pid_count == QUERY_PIDS_MOST)
        refuse(query, BAD_REQUEST, "expected at most %d pids", QUERY_PIDS_MOST);
    else
        query->pids[query->pid_count++] = pid;
}

static void
take_exe(struct query *query, const char *value)
{
    if (value[0] == '\0' || strlen(value) >= sizeof(query->exe))
        refuse(query, BAD_REQUEST,
               "exe=%.40s: expected the name of an executable, or a pattern",
               value);
    else if (query->exe[0] != '\0')
        refuse(query, BAD_REQUEST, "expected exe= once");
    else
        strcpy(query->exe, value);
}

/* Go's servers know debug=, and some clients always send it. */
void
query_take(struct query *query, const char *key, const char *value)
{
    if (value == NULL)
        value = "";
    if (strcmp(key, "seconds") == 0) {
        take_seconds(query, key, value, QUERY_SECONDS_MOST);
    } else if (strcmp(key, "last") == 0) {
        take_seconds(query, key, value, QUERY_PAST_MOST);
        query->is_past = true;
    } else if (strcmp(key, "pid") == 0) {
        take_pid(query, value);
    } else if (strcmp(key, "exe") == 0) {
        take_exe(query, value);
    } else if (strcmp(key, "debug") != 0 &&
               query->endpoint != ENDPOINT_SYMBOL) {
        refuse(query, BAD_REQUEST,
               "%.40s=: expected seconds=, last=, pid= or exe=", key);
    }
}

void
query_end(struct query *query)
{
    const struct endpoint_row *row = &query_endpoints[query->endpoint];
    if (query->has_length && !row->has_time)
        refuse(query, BAD_REQUEST,
               "%s has no seconds= or last=: it is about this moment",
               row->path);
    if (query->has_length || !row->has_time)
        return;
    query->is_past = query->endpoint == ENDPOINT_PAGE;
    query->length =
        (query->is_past ? (uint64_t)PAGE_SECONDS : DEFAULT_SECONDS) *
        NS_PER_SECOND;
}

/* The length of the name in HOST, without its port; *IS_SIX: it is an address
 * in brackets, which are part of it. */
static size_t
name_length(const char *host, bool *is_six)
{
    *is_six = host[0] == '[';
    if (!*is_six)
        return strcspn(host, ":");
    size_t length = strcspn(host, "]");
    return host[length] == ']' ? length + 1 : length;
}

/* Whether what is after the name is a port, or nothing. */
static bool
is_port(const char *text)
{
    if (text[0] == '\0')
        return true;
    size_t digits = strspn(text + 1, "0123456789");
    return text[0] == ':' && digits <= 5 && text[1 + digits] == '\0';
}

/* Whether NAME is an address. */
static bool
is_address(const char *name, bool is_six)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    char inner[64];
    size_t length = strlen(name);
    if (!is_six)
        return inet_pton(AF_INET, name, bytes) == 1;
    if (length < 3 || length >= sizeof(inner) || name[length - 1] != ']')
        return false;
    memcpy(inner, name + 1, length - 2);
    inner[length - 2] = '\0';
    return inet_pton(AF_INET6, inner, bytes) == 1;
}

bool
query_host_is_ours(const char *host, const char *const *names, unsigned count)
{
    char name[256];
    bool is_six;
    size_t length = host != NULL ? name_length(host, &is_six) : 0;
    if (length == 0 || length >= sizeof(name) || !is_port(host + length))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (is_address(name, is_six) || strcasecmp(name, "localhost") == 0)
        return true;
    for (unsigned i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

bool
query_origin_is_ours(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return origin == NULL ||
           (host != NULL && strncmp(origin, scheme, strlen(scheme)) == 0 &&
            strcasecmp(origin + strlen(scheme), host) == 0);
}

bool
query_wants(const struct query *query, pid_t pid, const char *exe)
{
    bool is_listed = query->pid_count == 0;
    for (unsigned i = 0; !is_listed && i < query->pid_count; i++)
        is_listed = query->pids[i] == pid;
    return is_listed && (query->exe[0] == '\0' ||
                         fnmatch(query->exe, path_name(exe), 0) == 0);
}

bool
query_is_same(const struct query *a, const struct query *b)
{
    return a->endpoint == b->endpoint && a->length == b->length &&
           a->is_past == b->is_past && a->pid_count == b->pid_count &&
           memcmp(a->pids, b->pids, a->pid_count * sizeof(a->pids[0])) == 0 &&
           strcmp(a->exe, b->exe) == 0;
}
