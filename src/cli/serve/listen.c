/* SPDX-License-Identifier: MIT */
/* listen.c -- see listen.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listen.h"

/* BACKLOG: connections that wait to be accepted. */
enum { BACKLOG = 512 };

#define UNIX "unix:"

static int
parse_unix(struct listener *listener, const char *path)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&listener->address;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof(address->sun_path))
        return -1;
    address->sun_family = AF_UNIX;
    strcpy(address->sun_path, path);
    listener->length = sizeof(*address);
    listener->is_unix = listener->is_loopback = true;
    return 0;
}

/* Parse the port in TEXT, digits alone. */
static int
parse_port(const char *text, in_port_t *port)
{
    size_t length = strspn(text, "0123456789");
    long number = strtol(text, NULL, 10);
    if (length == 0 || length > 5 || text[length] != '\0' || number > 65535)
        return -1;
    *port = htons((in_port_t)number);
    return 0;
}

static int
parse_four(struct listener *listener, const char *host, const char *port)
{
    struct sockaddr_in *address = (struct sockaddr_in *)&listener->address;
    address->sin_family = AF_INET;
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &address->sin_addr) != 1)
        return -1;
    listener->length = sizeof(*address);
    listener->is_loopback = ntohl(address->sin_addr.s_addr) >> 24 == 127;
    return parse_port(port, &address->sin_port);
}

static int
parse_six(struct listener *listener, const char *host, const char *port)
{
    struct sockaddr_in6 *address = (struct sockaddr_in6 *)&listener->address;
    address->sin6_family = AF_INET6;
    if (inet_pton(AF_INET6, host, &address->sin6_addr) != 1)
        return -1;
    listener->length = sizeof(*address);
    listener->is_loopback = IN6_IS_ADDR_LOOPBACK(&address->sin6_addr);
    return parse_port(port, &address->sin6_port);
}

int
listen_parse(struct listener *listener, const char *text)
{
    char host[64];
    *listener = (struct listener){.fd = -1};
    if (strncmp(text, UNIX, strlen(UNIX)) == 0)
        return parse_unix(listener, text + strlen(UNIX));
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof(host))
        return -1;
    size_t length = (size_t)(colon - text);
    memcpy(host, text, length);
    host[length] = '\0';
    if (host[0] != '[')
        return parse_four(listener, host, colon + 1);
    if (host[length - 1] != ']')
        return -1;
    host[length - 1] = '\0';
    return parse_six(listener, host + 1, colon + 1);
}

/* Remove the socket that a server left which no longer runs. */
static void
remove_stale(const struct listener *listener)
{
    const struct sockaddr_un *address = (const void *)&listener->address;
    struct stat now;
    if (lstat(address->sun_path, &now) != 0 || !S_ISSOCK(now.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const void *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

/* Write the URL of the address, with the port that the kernel chose. */
static void
name_address(struct listener *listener)
{
    char host[INET6_ADDRSTRLEN] = "?";
    const struct sockaddr_in *four = (const void *)&listener->address;
    const struct sockaddr_in6 *six = (const void *)&listener->address;
    const struct sockaddr_un *path = (const void *)&listener->address;
    getsockname(listener->fd, (struct sockaddr *)&listener->address,
                &listener->length);
    if (listener->is_unix) {
        snprintf(listener->name, sizeof(listener->name), UNIX "%s",
                 path->sun_path);
    } else if (listener->address.ss_family == AF_INET) {
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
        snprintf(listener->name, sizeof(listener->name),
                 "http://%s:%u/debug/pprof/", host, ntohs(four->sin_port));
    } else {
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
        snprintf(listener->name, sizeof(listener->name),
                 "http://[%s]:%u/debug/pprof/", host, ntohs(six->sin6_port));
    }
}

int
listen_open(struct listener *listener)
{
    int yes = 1, family = listener->address.ss_family;
    mode_t before = umask(0177);
    if (listener->is_unix)
        remove_stale(listener);
    listener->fd =
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd >= 0 && !listener->is_unix)
        setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    int status =
        listener->fd < 0 ||
                bind(listener->fd, (struct sockaddr *)&listener->address,
                     listener->length) != 0 ||
                listen(listener->fd, BACKLOG) != 0
            ? -1
            : 0;
    int error = errno;
    umask(before);
    if (status == 0) {
        name_address(listener);
    } else if (listener->fd >= 0) {
        close(listener->fd);
        listener->fd = -1;
    }
    errno = error;
    return status;
}

void
listen_close(struct listener *listener)
{
    const struct sockaddr_un *address = (const void *)&listener->address;
    if (listener->fd < 0)
        return;
    if (listener->is_unix)
        unlink(address->sun_path);
    close(listener->fd);
    listener->fd = -1;
}
