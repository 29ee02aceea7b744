/* SPDX-License-Identifier: MIT */
/*
 * answer.h -- the answer to a request: its status, its type and its body. Made
 * by the thread that owns the fleet.
 */
#ifndef CLI_SERVE_ANSWER_H
#define CLI_SERVE_ANSWER_H

#include "body.h"
#include "fleet.h"
#include "query.h"

struct answer {
    unsigned status; /* of HTTP */
    const char *type;
    const char *file; /* the name under which a browser saves it, or NULL */
    struct body body; /* for the caller to release */
};

/* Make ANSWER to QUERY, about the time from FROM to TO (CLOCK_MONOTONIC, ns)
 * if it is about a time. HOST is the name by which the client reached this
 * server. A failure is an answer, too. */
void answer_make(struct answer *answer, struct fleet *fleet,
                 const struct query *query, uint64_t from, uint64_t to,
                 const char *host);

/* Make ANSWER a refusal: STATUS, and SENTENCE as text. */
void answer_refuse(struct answer *answer, unsigned status,
                   const char *sentence);

#endif
