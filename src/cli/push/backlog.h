/* SPDX-License-Identifier: MIT */
/*
 * backlog.h -- requests on disk that wait to be sent. They are added in rounds.
 * A round counts once its state is written, and the state has the positions up
 * to which spools were taken. So a crash at any instant loses nothing and sends
 * nothing twice:
 *
 *    0000000000000007.o.0     round 7, for OTLP, request 0
 *    0000000000000007.o.1
 *    state                    rounds up to 7 count; positions after them
 *    lock                     held by the one program that uses the directory
 */
#ifndef CLI_PUSH_BACKLOG_H
#define CLI_PUSH_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A request. */
struct backlog_item {
    uint64_t round;
    uint32_t number;
    char protocol; /* what the caller gave to backlog_put */
    bool is_sent;  /* it is in use; for the caller */
    uint64_t size; /* bytes */
};

struct backlog {
    int directory; /* descriptor */
    int lock;
    uint64_t most;        /* bytes of all requests together */
    uint64_t size;        /* bytes now */
    uint64_t dropped;     /* requests that did not fit, since the last look */
    uint64_t round;       /* the present one */
    uint32_t next_number; /* of the next request */
    char key[33];         /* a name of the directory, by chance */
    struct backlog_item *items; /* by round and number */
    size_t count;
};

/*
 * Open the directory at PATH, which is made if it is missing, for MOST bytes of
 * requests. Requests of a round that does not count are removed. *STATE becomes
 * a stream with what backlog_commit wrote last, or NULL. Returns 0, or -1 with
 * a sentence in ERROR (of SIZE bytes).
 */
int backlog_open(struct backlog *backlog, const char *path, uint64_t most,
                 FILE **state, char *error, size_t size);

/* Add a request of SIZE BYTES to the round. Returns 0, or -1 with errno set. */
int backlog_put(struct backlog *backlog, char protocol, const void *bytes,
                size_t size);

/*
 * End the round: WRITE writes the state to STREAM. From then on the round
 * counts. If the bytes exceed the limit, the oldest requests are dropped.
 * Returns 0, or -1 with errno set; the round then counts for nothing.
 */
int backlog_commit(struct backlog *backlog,
                   void (*write)(FILE *stream, void *context), void *context);

/* Read ITEM; the caller frees it. NULL with errno set on failure. */
void *backlog_read(const struct backlog *backlog,
                   const struct backlog_item *item);

/* Remove ITEM, which was sent or refused. */
void backlog_remove(struct backlog *backlog, const struct backlog_item *item);

void backlog_close(struct backlog *backlog);

#endif
