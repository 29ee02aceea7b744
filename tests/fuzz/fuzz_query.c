/* SPDX-License-Identifier: MIT */
/*
 * fuzz_query.c -- any bytes as a request to `sprofile serve`. An input has
 * lines: the method, the path, the headers Host and Origin, and then KEY=VALUE.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/serve/listen.h"
#include "cli/serve/query.h"

#include "fuzz.h"

/* A refusal is a sentence of printable characters with a status of HTTP. */
static void
check(const struct query *query)
{
    if (memchr(query->error, '\0', sizeof(query->error)) == NULL ||
        memchr(query->exe, '\0', sizeof(query->exe)) == NULL ||
        query->pid_count > QUERY_PIDS_MOST || query->endpoint >= ENDPOINT_COUNT)
        abort();
    if (query->error[0] != '\0') {
        if (strpbrk(query->error, "\r\n\033") != NULL || query->status < 400 ||
            query->status > 499)
            abort();
        return;
    }
    if (query_endpoints[query->endpoint].has_time &&
        (query->length < 100000000 ||
         query->length > QUERY_PAST_MOST * UINT64_C(1000000000)))
        abort();
}

/* A name that is taken as this server's has nothing of another site. */
static void
check_host(const char *host)
{
    static const char *const names[] = {"app.example"};
    if (query_host_is_ours(host, names, 1) && strcasestr(host, "evil") != NULL)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *line;
    const char *parts[4] = {"GET", "/", "", ""};
    struct listener listener;
    struct query query;
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (unsigned i = 0; i < 4 && rest != NULL; i++)
        parts[i] = strsep(&rest, "\n");
    check_host(parts[2]);
    (void)query_origin_is_ours(parts[3], parts[2]);
    (void)listen_parse(&listener, parts[2]);
    query_begin(&query, parts[0], parts[1]);
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *value = strchr(line, '=');
        if (value != NULL)
            *value++ = '\0';
        query_take(&query, line, value);
    }
    query_end(&query);
    check(&query);
    (void)query_wants(&query, 4711, "/usr/bin/app");
    free(text);
    return 0;
}
