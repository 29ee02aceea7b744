/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c -- `sprofile serve`: serves the profiles of all preloaded
 * processes over HTTP, from outside these processes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/listen.h"
#include "cli/serve/server.h"
#include "arguments.h"

#define DEFAULT_ADDRESS "127.0.0.1:6060"

/* HOSTS_MOST: limit of the names of --host. */
enum { HOSTS_MOST = 32 };

struct serve {
    struct listener listener;
    const char *address, *only;
    const char *hosts[HOSTS_MOST];
    unsigned host_count;
};

static int
run_serve(void *values, char *const *operands, int count)
{
    struct serve *serve = values;
    const struct server_options options = {.listener = &serve->listener,
                                           .hosts = serve->hosts,
                                           .only = serve->only,
                                           .host_count = serve->host_count};
    char error[256];
    (void)operands;
    (void)count;
    if (listen_open(&serve->listener) != 0)
        return command_fail("%s: %s", serve->address, strerror(errno));
    if (!serve->listener.is_loopback)
        command_complain("%s: other machines can connect, and see what this "
                         "user may see",
                         serve->address);
    puts(serve->listener.name);
    fflush(stdout);
    int status = server_run(&options, error, sizeof(error));
    listen_close(&serve->listener);
    return status != 0 ? command_fail("%s", error) : STATUS_DONE;
}

/* Take --listen. */
static int
take_address(const struct command_option *option, void *field,
             const char *value)
{
    struct listener unused;
    if (listen_parse(&unused, value) != 0)
        return arguments_refuse(option, value);
    return arguments_text(option, field, value);
}

/* Take --host. */
static int
take_host(const struct command_option *option, void *field, const char *value)
{
    struct serve *serve =
        (void *)((char *)field - offsetof(struct serve, hosts));
    if (value[0] == '\0' || value[strcspn(value, ":/")] != '\0')
        return arguments_refuse(option, value);
    if (serve->host_count == HOSTS_MOST)
        return command_usage("expected at most %d times --host", HOSTS_MOST);
    serve->hosts[serve->host_count++] = value;
    return STATUS_DONE;
}

static int
check_serve(void *values, char *const *operands)
{
    struct serve *serve = values;
    int status = command_lacks("serve", SPROF_LACKS);
    if (status != STATUS_DONE)
        return status;
    if (operands[0] != NULL)
        return command_usage("expected no operand, not %s", operands[0]);
    if (serve->address == NULL)
        serve->address = DEFAULT_ADDRESS;
    (void)listen_parse(&serve->listener, serve->address);
    return STATUS_DONE;
}

#define FIELD(member) .field = offsetof(struct serve, member)

static const struct command_option options[] = {
    {"listen", "ADDRESS",
     "where clients connect: HOST:PORT, [HOST]:PORT or\n"
     "unix:PATH (default: " DEFAULT_ADDRESS ")",
     take_address, FIELD(address),
     "HOST:PORT with an address or localhost, or unix:PATH"},
    {"host", "NAME",
     "a name under which clients may come, besides\n"
     "localhost and addresses; may be given several times",
     take_host, FIELD(hosts), "a name without a port"},
    {"only", "DIR", "the processes alone whose spools are in DIR",
     arguments_text, FIELD(only)},
    {0},
};

const struct command cmd_serve = {
    .name = "serve",
    .summary = "serve the profiles of all preloaded processes over HTTP",
    .usage = "[OPTION]...",
    .about =
        "Serves what the processes do that run with libsprof.so and that this\n"
        "user may see: pprof files for `go tool pprof` and for servers that\n"
        "collect profiles, a page for browsers, and metrics for Prometheus.\n"
        "The processes have no part in it: it reads their spools.\n"
        "/debug/pprof/ lists what there is.\n",
    .options = options,
    .least = 0,
    .most = 0,
    .operands = "no operand",
    .size = sizeof(struct serve),
    .check = check_serve,
    .run = run_serve,
};
