/* SPDX-License-Identifier: MIT */
/*
 * server.c -- see server.h. Two threads share the lists of clients and jobs,
 * under one lock. A client passes through these states:
 *
 *   READING -- its request is complete --> WAITING, suspended, for a job
 *   WAITING -- the job is done, or the client left --> SENDING, resumed
 *   SENDING -- closed by libmicrohttpd
 *
 * A job is a request whose answer is to be made. Clients that ask for the same
 * at about the same time share a job. The last of them releases it.
 *
 * libmicrohttpd's thread makes clients and jobs, and releases both. The thread
 * of server_run makes answers, resumes clients, and shuts down the sockets of
 * those that are too slow.
 */
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "answer.h"
#include "fleet.h"
#include "query.h"
#include "server.h"

/* CLIENTS_MOST: clients at once. REQUEST_MOST: bytes of memory for the head of
 * a request. UPLOAD_MOST: bytes after the head. */
enum { CLIENTS_MOST = 512, REQUEST_MOST = 16 * 1024, UPLOAD_MOST = 64 * 1024 };

/* Limit of the bytes of all answers that are not sent yet. */
#define HELD_MOST (256ull << 20)

/* In ns. READ_NS: the longest time for a request to come. SEND_NS: the longest
 * time for an answer to be taken. LATE_NS: how much later than it happened
 * something is in a spool; the sampler writes at its ticks. SHARE_NS: how much
 * earlier the time of a shared job may begin. SCAN_NS: time between two scans
 * for processes. */
#define READ_NS 10000000000u
#define SEND_NS 60000000000u
#define LATE_NS 100000000u
#define SHARE_NS 50000000u
#define SCAN_NS 1000000000u

/* HTTP's numbers. */
enum { FORBIDDEN = 403, TOO_LARGE = 413, MISDIRECTED = 421, UNAVAILABLE = 503 };

struct job {
    struct job *next;
    struct query query;
    char host[256];
    uint64_t from, to, due; /* CLOCK_MONOTONIC, ns */
    unsigned users;         /* clients, and the thread that makes the answer */
    bool is_begun;
    struct MHD_Response *response; /* NULL: not done, or memory is short */
    unsigned status;
    size_t size; /* of the body; counted in server.held */
};

enum client_state { CLIENT_READING, CLIENT_WAITING, CLIENT_SENDING };

struct client {
    struct client *next, *previous;
    struct MHD_Connection *connection;
    struct job *job; /* NULL until the request is complete */
    int fd;
    enum client_state state;
    uint64_t since; /* CLOCK_MONOTONIC, when the state began, ns */
    size_t uploaded;
    bool is_gone; /* it closed its end; nothing is sent */
    bool is_begun;
};

static struct {
    const struct server_options *options;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock;
    struct client *clients;
    struct job *jobs; /* not done yet */
    uint64_t held;    /* bytes of bodies */
    int wake;         /* eventfd(2): a new job has come */
    struct fleet fleet;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

static volatile sig_atomic_t must_end;

static void
note_signal(int signo)
{
    must_end = signo;
}

/* Take JOB out of the list of those that are not done. The lock is held. */
static void
unlist_job(const struct job *job)
{
    struct job **at = &server.jobs;
    while (*at != NULL && *at != job)
        at = &(*at)->next;
    if (*at != NULL)
        *at = job->next;
}

/* One user less for JOB. If no client waits for it any more, it is not done. If
 * no thread uses it either, it is freed. The lock is held. */
static void
leave_job(struct job *job)
{
    if (job == NULL)
        return;
    if (--job->users == 1 && !job->is_begun) {
        unlist_job(job);
        job->users--;
    }
    if (job->users > 0)
        return;
    if (job->response != NULL)
        MHD_destroy_response(job->response);
    server.held -= job->size;
    free(job);
}

/* Add the headers that every answer has, and those of ANSWER. */
static void
add_headers(struct MHD_Response *response, const struct answer *answer)
{
    char text[128];
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "Connection", "close");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                            "same-origin");
    /* `go tool pprof` then prints the sentence of a refusal. */
    if (answer->status != MHD_HTTP_OK)
        MHD_add_response_header(response, "X-Go-Pprof", "1");
    if (answer->status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (answer->file != NULL) {
        snprintf(text, sizeof(text), "attachment; filename=\"%s\"",
                 answer->file);
        MHD_add_response_header(response, "Content-Disposition", text);
    }
}

/* Make a response of ANSWER, which is empty afterwards. NULL if memory is
 * short. */
static struct MHD_Response *
make_response(struct answer *answer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->body.size, answer->body.bytes,
                                        answer->body.bytes != NULL
                                            ? MHD_RESPMEM_MUST_FREE
                                            : MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        body_release(&answer->body);
        return NULL;
    }
    add_headers(response, answer);
    return response;
}

/* Answer CONNECTION at once with a refusal. */
static enum MHD_Result
refuse(struct client *client, unsigned status, const char *sentence)
{
    struct answer answer;
    answer_refuse(&answer, status, sentence);
    struct MHD_Response *response = make_response(&answer);
    if (response == NULL)
        return MHD_NO;
    pthread_mutex_lock(&server.lock);
    client->state = CLIENT_SENDING;
    client->since = clock_now();
    pthread_mutex_unlock(&server.lock);
    enum MHD_Result result =
        MHD_queue_response(client->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* For MHD_get_connection_values. */
static enum MHD_Result
take_value(void *query, enum MHD_ValueKind kind, const char *key,
           const char *value)
{
    (void)kind;
    query_take(query, key, value);
    return MHD_YES;
}

static const char *
header(struct client *client, const char *name)
{
    return MHD_lookup_connection_value(client->connection, MHD_HEADER_KIND,
                                       name);
}

/* A job for QUERY that has not begun, or a new one. The lock is held. NULL
 * if memory is short. */
static struct job *
find_job(const struct query *query, const char *host)
{
    uint64_t now = clock_now();
    struct job **end = &server.jobs;
    for (; *end != NULL; end = &(*end)->next) {
        struct job *job = *end;
        uint64_t asked = job->query.is_past ? job->to : job->from;
        if (!job->is_begun && now - asked <= SHARE_NS &&
            strcmp(job->host, host) == 0 && query_is_same(&job->query, query))
            return job;
    }
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL)
        return NULL;
    bool has_time = query_endpoints[query->endpoint].has_time;
    job->query = *query;
    snprintf(job->host, sizeof(job->host), "%s", host);
    job->from = query->is_past && has_time && now > query->length
                    ? now - query->length
                    : now;
    job->to = query->is_past ? now : now + query->length;
    job->due = has_time ? job->to + LATE_NS : now;
    job->users = 1;
    *end = job;
    return job;
}

/* Let CLIENT wait for the answer to QUERY. */
static enum MHD_Result
wait_for_job(struct client *client, const struct query *query, const char *host)
{
    uint64_t one = 1;
    pthread_mutex_lock(&server.lock);
    struct job *job = find_job(query, host);
    if (job != NULL) {
        job->users++;
        client->job = job;
        client->state = CLIENT_WAITING;
        client->since = clock_now();
        MHD_suspend_connection(client->connection);
    }
    pthread_mutex_unlock(&server.lock);
    (void)!write(server.wake, &one, sizeof(one));
    return job != NULL ? MHD_YES : MHD_NO;
}

/* The request of CLIENT is complete. */
static enum MHD_Result
take_request(struct client *client, const char *url, const char *method)
{
    const struct server_options *options = server.options;
    struct query query;
    const char *host = header(client, "Host");
    if (!options->listener->is_unix &&
        !query_host_is_ours(host, options->hosts, options->host_count))
        return refuse(client, MISDIRECTED,
                      "the name in the header Host is not of this server: "
                      "expected an address, localhost, or a name given with "
                      "--host");
    if (!query_origin_is_ours(header(client, "Origin"), host))
        return refuse(client, FORBIDDEN,
                      "a page of another origin may not ask");
    query_begin(&query, method, url);
    MHD_get_connection_values(client->connection, MHD_GET_ARGUMENT_KIND,
                              take_value, &query);
    query_end(&query);
    if (query.error[0] != '\0')
        return refuse(client, query.status, query.error);
    return wait_for_job(client, &query, host != NULL ? host : "localhost");
}

/* The job of CLIENT is done, or CLIENT is gone. */
static enum MHD_Result
send_answer(struct client *client)
{
    pthread_mutex_lock(&server.lock);
    const struct job *job = client->job;
    struct MHD_Response *response = job->response;
    unsigned status = job->status;
    bool is_gone = client->is_gone || response == NULL;
    pthread_mutex_unlock(&server.lock);
    return is_gone ? MHD_NO
                   : MHD_queue_response(client->connection, status, response);
}

/* libmicrohttpd has got something of a request, or a connection goes on. */
static enum MHD_Result
handle(void *unused, struct MHD_Connection *connection, const char *url,
       const char *method, const char *version, const char *upload,
       size_t *upload_size, void **context)
{
    (void)unused;
    (void)version;
    (void)upload;
    (void)context;
    struct client *client =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
            ->socket_context;
    if (client == NULL)
        return MHD_NO;
    if (!client->is_begun) {
        client->is_begun = true;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        client->uploaded += *upload_size;
        *upload_size = 0;
        return client->uploaded > UPLOAD_MOST ? MHD_NO : MHD_YES;
    }
    return client->job != NULL ? send_answer(client)
                               : take_request(client, url, method);
}

/* A connection begins. */
static void
add_client(struct MHD_Connection *connection, void **context)
{
    struct client *client = calloc(1, sizeof(*client));
    *context = client;
    if (client == NULL)
        return;
    client->connection = connection;
    client->fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd;
    client->since = clock_now();
    pthread_mutex_lock(&server.lock);
    client->next = server.clients;
    if (client->next != NULL)
        client->next->previous = client;
    server.clients = client;
    pthread_mutex_unlock(&server.lock);
}

/* A connection ends; its socket is still open. */
static void
remove_client(struct client *client)
{
    if (client == NULL)
        return;
    pthread_mutex_lock(&server.lock);
    if (client->previous != NULL)
        client->previous->next = client->next;
    else
        server.clients = client->next;
    if (client->next != NULL)
        client->next->previous = client->previous;
    leave_job(client->job);
    pthread_mutex_unlock(&server.lock);
    free(client);
}

static void
note_connection(void *unused, struct MHD_Connection *connection, void **context,
                enum MHD_ConnectionNotificationCode code)
{
    (void)unused;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        add_client(connection, context);
    } else {
        remove_client(*context);
        *context = NULL;
    }
}

/* Resume CLIENT, which waits. The lock is held. */
static void
resume(struct client *client)
{
    client->state = CLIENT_SENDING;
    client->since = clock_now();
    MHD_resume_connection(client->connection);
}

/* Whether the other end of CLIENT was closed. */
static bool
has_left(const struct client *client)
{
    struct pollfd event = {.fd = client->fd, .events = POLLRDHUP};
    return poll(&event, 1, 0) == 1 && event.revents != 0;
}

/* Part with clients that left, and with those that are too slow. */
static void
check_clients(void)
{
    uint64_t now = clock_now();
    pthread_mutex_lock(&server.lock);
    for (struct client *at = server.clients; at != NULL; at = at->next) {
        uint64_t age = now > at->since ? now - at->since : 0;
        if (at->state == CLIENT_WAITING && has_left(at)) {
            at->is_gone = true;
            resume(at);
        } else if ((at->state == CLIENT_READING && age > READ_NS) ||
                   (at->state == CLIENT_SENDING && age > SEND_NS)) {
            shutdown(at->fd, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&server.lock);
}

/* Take the job that is due next out of the list if it is due. *DUE is when the
 * next one is due. The lock is held. */
static struct job *
take_job(uint64_t now, uint64_t *due)
{
    struct job *best = server.jobs;
    for (struct job *at = best; at != NULL; at = at->next)
        if (at->due < best->due)
            best = at;
    *due = best != NULL ? best->due : UINT64_MAX;
    if (*due > now)
        return NULL;
    unlist_job(best);
    best->is_begun = true;
    return best;
}

/* The time back to which ended processes are still needed. */
static uint64_t
needed_since(void)
{
    uint64_t since = UINT64_MAX;
    pthread_mutex_lock(&server.lock);
    for (const struct job *job = server.jobs; job != NULL; job = job->next)
        if (job->from < since)
            since = job->from;
    pthread_mutex_unlock(&server.lock);
    return since;
}

/* Make the answer of JOB, and resume the clients that wait for it. */
static void
do_job(struct job *job)
{
    struct answer answer;
    if (clock_now() - server.fleet.scanned > SCAN_NS / 4)
        (void)fleet_scan(&server.fleet, job->from < needed_since()
                                            ? job->from
                                            : needed_since());
    answer_make(&answer, &server.fleet, &job->query, job->from, job->to,
                job->host);
    pthread_mutex_lock(&server.lock);
    if (server.held + answer.body.size > HELD_MOST) {
        body_release(&answer.body);
        answer_refuse(&answer, UNAVAILABLE,
                      "too many answers are not taken yet; try again later");
    }
    job->status = answer.status;
    job->size = answer.body.size;
    server.held += job->size;
    job->response = make_response(&answer);
    for (struct client *at = server.clients; at != NULL; at = at->next)
        if (at->job == job && at->state == CLIENT_WAITING)
            resume(at);
    leave_job(job);
    pthread_mutex_unlock(&server.lock);
}

/* Sleep until the time UNTIL, a new job, or a signal. */
static void
sleep_until(uint64_t until, const sigset_t *mask)
{
    uint64_t now = clock_now(), unused;
    struct pollfd event = {.fd = server.wake, .events = POLLIN};
    struct timespec pause = clock_timespec(until > now ? until - now : 0);
    if (ppoll(&event, 1, &pause, mask) == 1)
        (void)!read(server.wake, &unused, sizeof(unused));
}

/* Make answers until a signal comes. */
static void
serve(const sigset_t *mask)
{
    uint64_t due;
    while (must_end == 0) {
        pthread_mutex_lock(&server.lock);
        struct job *job = take_job(clock_now(), &due);
        pthread_mutex_unlock(&server.lock);
        uint64_t scan = server.fleet.scanned + SCAN_NS;
        if (job != NULL)
            do_job(job);
        else
            sleep_until(due < scan ? due : scan, mask);
        if (clock_now() >= scan) {
            (void)fleet_scan(&server.fleet, needed_since());
            check_clients();
            command_return_memory();
        }
    }
}

/* Block the signals that end the server in all threads; ppoll(2) lets them in.
 * *MASK becomes the mask for that. */
static void
catch_signals(sigset_t *mask)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        sigaction(signals[i], &action, NULL);
        sigaddset(&blocked, signals[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &blocked, mask);
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigdelset(mask, signals[i]);
}

/* Let clients that still wait go, so that libmicrohttpd can end. */
static void
end_daemon(void)
{
    pthread_mutex_lock(&server.lock);
    for (struct client *at = server.clients; at != NULL; at = at->next)
        if (at->state == CLIENT_WAITING) {
            at->is_gone = true;
            resume(at);
        }
    pthread_mutex_unlock(&server.lock);
    MHD_stop_daemon(server.daemon);
}

/* libmicrohttpd's own messages are not for users. */
static void
drop_message(void *unused, const char *format, va_list values)
{
    (void)unused;
    (void)format;
    (void)values;
}

int
server_run(const struct server_options *options, char *error, size_t size)
{
    sigset_t mask;
    server.options = options;
    server.fleet.only = options->only;
    server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    command_raise_files();
    catch_signals(&mask);
    server.daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD |
                             MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
                         0, NULL, NULL, handle, NULL,
                         MHD_OPTION_EXTERNAL_LOGGER, drop_message, NULL,
                         MHD_OPTION_LISTEN_SOCKET, options->listener->fd,
                         MHD_OPTION_CONNECTION_LIMIT, CLIENTS_MOST,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)REQUEST_MOST, MHD_OPTION_NOTIFY_CONNECTION,
                         note_connection, NULL, MHD_OPTION_END);
    if (server.daemon == NULL || server.wake < 0) {
        snprintf(error, size, "libmicrohttpd: %s", strerror(errno));
        return -1;
    }
    serve(&mask);
    end_daemon();
    fleet_release(&server.fleet);
    close(server.wake);
    return 0;
}
