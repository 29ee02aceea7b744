/* SPDX-License-Identifier: MIT */
/*
 * query.h -- what a client of `sprofile serve` asks for: a path, values
 * after it, and headers. All of it comes from outside and is checked here.
 * Pure functions.
 *
 *   GET /debug/pprof/profile?seconds=5&exe=app*
 *   endpoint ENDPOINT_PROFILE, length 5 s, is_past false, exe "app*"
 */
#ifndef CLI_SERVE_QUERY_H
#define CLI_SERVE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A row: the endpoint, its path, the Content-Type of its answer, whether the
 * answer is about a time (seconds=, last=), and what the list says of it.
 */
#define ENDPOINT_TABLE(ENDPOINT)                                              \
    ENDPOINT(PROFILE, "/debug/pprof/profile", "application/octet-stream",     \
             true, "CPU time of N seconds, as pprof")                         \
    ENDPOINT(WALL, "/debug/pprof/wall", "application/octet-stream", true,     \
             "wall time of N seconds, waits included, as pprof")              \
    ENDPOINT(THREADS, "/debug/pprof/threads", "text/plain; charset=utf-8",    \
             false, "the stacks of all threads now")                          \
    ENDPOINT(CMDLINE, "/debug/pprof/cmdline", "text/plain; charset=utf-8",    \
             false, "the command lines")                                      \
    ENDPOINT(SYMBOL, "/debug/pprof/symbol", "text/plain; charset=utf-8",      \
             false, "whether profiles have names: they do")                   \
    ENDPOINT(PAGE, "/page", "text/html; charset=utf-8", true,                 \
             "a page with pictures of N seconds")                             \
    ENDPOINT(METRICS, "/metrics", "text/plain; version=0.0.4; charset=utf-8", \
             false, "counters for Prometheus")                                \
    ENDPOINT(TARGETS, "/targets", "application/json", false,                  \
             "the processes, for Prometheus's discovery")                     \
    ENDPOINT(INDEX, "/debug/pprof/", "text/html; charset=utf-8", false,       \
             "this list")

enum endpoint {
#define ENDPOINT(id, path, type, has_time, words) ENDPOINT_##id,
    ENDPOINT_TABLE(ENDPOINT)
#undef ENDPOINT
        ENDPOINT_COUNT
};

struct endpoint_row {
    const char *path, *type;
    bool has_time;
    const char *words;
};
extern const struct endpoint_row query_endpoints[ENDPOINT_COUNT];

/* EXE_SIZE: bytes of a pattern for executables. PIDS_MOST: limit of the pids in
 * one request. SECONDS_MOST: the longest time to wait for. PAST_MOST: the
 * longest past, in seconds. */
enum {
    QUERY_EXE_SIZE = 256,
    QUERY_PIDS_MOST = 64,
    QUERY_SECONDS_MOST = 3600,
    QUERY_PAST_MOST = 86400
};

struct query {
    enum endpoint endpoint;
    uint64_t length; /* ns */
    bool is_past;    /* the time ends now; else it begins now */
    bool has_length; /* the client gave a time */
    pid_t pids[QUERY_PIDS_MOST];
    unsigned pid_count;       /* 0: all processes */
    char exe[QUERY_EXE_SIZE]; /* pattern of fnmatch(3); "": all */
    /* Why the request is refused, a sentence; "" if it is not. */
    char error[256];
    unsigned status; /* of HTTP; valid with ERROR */
};

/* Begin QUERY, of METHOD for PATH. QUERY->error says whether that is
 * possible. */
void query_begin(struct query *query, const char *method, const char *path);

/* Take KEY=VALUE of the query; VALUE may be NULL. */
void query_take(struct query *query, const char *key, const char *value);

/* Check what came together, and set what the client left out. */
void query_end(struct query *query);

/*
 * Whether a client may ask by the name HOST (the header, NULL: none). A page of
 * another site can make a browser connect here under a name of that site (DNS
 * rebinding). So a name must be localhost or one of NAMES, COUNT of them;
 * addresses are no names.
 */
bool query_host_is_ours(const char *host, const char *const *names,
                        unsigned count);

/* Whether a request with the header ORIGIN (NULL: none) comes from a page of
 * the server at HOST, or from no page. */
bool query_origin_is_ours(const char *origin, const char *host);

/* Whether QUERY asks for process PID, whose executable is EXE. */
bool query_wants(const struct query *query, pid_t pid, const char *exe);

/* Whether two requests have the same answer if they are answered at once. */
bool query_is_same(const struct query *a, const struct query *b);

#endif
