/* SPDX-License-Identifier: MIT */
/*
 * listen.h -- the socket at which `sprofile serve` waits for clients:
 *
 *   127.0.0.1:6060   [::1]:6060   localhost:6060   unix:/run/sprofile.sock
 *
 * Names other than localhost are not looked up. A Unix socket is for its owner
 * alone (mode 0600).
 */
#ifndef CLI_SERVE_LISTEN_H
#define CLI_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listener {
    struct sockaddr_storage address;
    socklen_t length;
    bool is_unix, is_loopback; /* IS_LOOPBACK: no other machine reaches it */
    int fd;                    /* -1: not open */
    char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 64]; /* a URL */
};

/* Parse TEXT. Returns 0, or -1: it is no address. */
int listen_parse(struct listener *listener, const char *text);

/* Listen at the address. Returns 0, or -1 with errno set. */
int listen_open(struct listener *listener);

/* Close the socket, and remove its file. */
void listen_close(struct listener *listener);

#endif
