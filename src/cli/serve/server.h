/* SPDX-License-Identifier: MIT */
/*
 * server.h -- serves the profiles of a fleet over HTTP/1.1. libmicrohttpd has a
 * thread that reads requests and sends answers; the caller's thread makes the
 * answers, one at a time. So no client waits for another one's network.
 *
 * All is bounded: clients at once, bytes of a request, the time in which it
 * must come, bytes of an answer and of all answers that are not sent yet, and
 * the time in which an answer must be taken. A connection has one request.
 */
#ifndef CLI_SERVE_SERVER_H
#define CLI_SERVE_SERVER_H

#include "listen.h"

struct server_options {
    const struct listener *listener;
    const char *const *hosts; /* names under which clients may come */
    unsigned host_count;
    const char *only; /* directory of spools; NULL: wherever they are */
};

/* Serve until SIGINT, SIGTERM or SIGHUP. Returns 0, or -1 with a sentence in
 * ERROR (of SIZE bytes) if the server cannot begin. */
int server_run(const struct server_options *options, char *error, size_t size);

#endif
