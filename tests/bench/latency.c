/* SPDX-License-Identifier: MIT */
/*
 * latency.c -- a small server, and a load that measures how long answers take.
 *
 *   latency serve WORK             prints its port; answers each request of 16
 *                                  bytes with 16 bytes, after WORK rounds of
 *                                  computing (some 1 us each)
 *   latency load PORT KIND RATE SECONDS CONNECTIONS
 *                                  KIND is "echo" or "redis"; prints
 *                                  "p50 p99 p99.9 max answers" (us, count)
 *
 * The load is open: the instants of RATE requests a second are drawn at random
 * (exponential distances) and do not wait for answers. The time of an answer
 * counts from the instant at which its request was due, so a server that stands
 * still is charged for all requests of that time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST 16
#define MOST_CONNECTIONS 64
#define QUEUE 65536 /* requests that wait for their answer on a connection */

static volatile uint64_t sink;

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

__attribute__((noinline)) static uint64_t
compute(unsigned long rounds)
{
    uint64_t seed = 88172645463325252u;

    for (unsigned long i = 0; i < rounds * 400; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
    }
    return seed;
}

__attribute__((noinline)) static void
answer(int fd, unsigned long work)
{
    char text[REQUEST * 256];
    ssize_t got = read(fd, text, sizeof text);

    if (got <= 0) {
        close(fd);
        return;
    }
    for (ssize_t at = 0; at + REQUEST <= got; at += REQUEST)
        sink = compute(work);
    if (write(fd, text, (size_t)got) != got)
        close(fd);
}

static void
serve(unsigned long work)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 ||
        listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &length) != 0)
        fail("listen");
    printf("%d\n", ntohs(name.sin_port));
    fflush(stdout);
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(poller, events, 64, -1);

        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd, one = 1;

            if (fd != listener) {
                answer(fd, work);
                continue;
            }
            fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            event.data.fd = fd;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
        }
    }
}

/* The load. Answers of one connection come in the order of its requests. */
static struct connection {
    int fd;
    uint64_t *due; /* of the requests that wait, a ring */
    uint32_t first, count;
    size_t rest; /* bytes of an answer that is not whole yet */
} connections[MOST_CONNECTIONS];
static unsigned connection_count;
static double *times;
static size_t time_count, time_most;
static const char *request;
static size_t request_size, answer_size;

static void
open_connections(int port, unsigned count)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port)};

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection_count = count;
    for (unsigned i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

        if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0)
            fail("connect");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        connections[i].fd = fd;
        connections[i].due = calloc(QUEUE, sizeof *connections[i].due);
    }
}

static void
send_request(struct connection *one, uint64_t due)
{
    if (one->count == QUEUE)
        return;
    one->due[(one->first + one->count++) % QUEUE] = due;
    if (write(one->fd, request, request_size) != (ssize_t)request_size)
        fail("write");
}

static void
take_answers(struct connection *one)
{
    char text[65536];
    ssize_t got = read(one->fd, text, sizeof text);
    uint64_t now = now_ns();

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        fail("read");
    one->rest += (size_t)got;
    while (one->rest >= answer_size && one->count > 0) {
        one->rest -= answer_size;
        if (time_count < time_most)
            times[time_count++] = (double)(now - one->due[one->first]) / 1e3;
        one->first = (one->first + 1) % QUEUE;
        one->count--;
    }
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
percentile(double percent)
{
    size_t rank = (size_t)ceil(percent / 100 * (double)time_count);

    return time_count == 0 ? 0 : times[rank == 0 ? 0 : rank - 1];
}

static void
drive(double rate, double seconds)
{
    uint64_t start = now_ns(), end = start + (uint64_t)(seconds * 1e9);
    double due = (double)start;
    unsigned next = 0;

    while (now_ns() < end) {
        while (due <= (double)now_ns()) {
            send_request(&connections[next++ % connection_count],
                         (uint64_t)due);
            due += -log(1 - drand48()) / rate * 1e9;
        }
        for (unsigned i = 0; i < connection_count; i++)
            if (connections[i].count > 0)
                take_answers(&connections[i]);
    }
}

static int
load(int port, const char *kind, double rate, double seconds, unsigned count)
{
    static const char get[] = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";

    request = strcmp(kind, "redis") == 0 ? get : "0123456789abcdef";
    request_size = strlen(request);
    /* redis answers "$-1\r\n": there is no such key. */
    answer_size = strcmp(kind, "redis") == 0 ? 5 : REQUEST;
    time_most = (size_t)(rate * seconds * 2) + 1000;
    times = calloc(time_most, sizeof *times);
    open_connections(port, count);
    drive(rate, seconds);
    qsort(times, time_count, sizeof *times, compare);
    printf("%.1f %.1f %.1f %.1f %zu\n", percentile(50), percentile(99),
           percentile(99.9), percentile(100), time_count);
    return 0;
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        serve(strtoul(argv[2], NULL, 10));
    if (argc == 7 && strcmp(argv[1], "load") == 0)
        return load(atoi(argv[2]), argv[3], atof(argv[4]), atof(argv[5]),
                    (unsigned)atoi(argv[6]) % (MOST_CONNECTIONS + 1));
    fprintf(stderr, "usage: latency serve WORK | load PORT KIND RATE SECONDS "
                    "CONNECTIONS\n");
    return 2;
}
