/* SPDX-License-Identifier: MIT */
/* server_none.c -- see server.h: a build without libmicrohttpd. cmd_serve.c
 * does not call it. */
#include <stddef.h>

#include "server.h"

int
server_run(const struct server_options *options, char *error, size_t size)
{
    (void)options;
    if (size > 0)
        error[0] = '\0';
    return -1;
}
