/* SPDX-License-Identifier: MIT */
/*
 * requests.h -- requests to the profiler while the program runs: their queue,
 * their execution and their answers. Other processes send them by the control
 * signal (base/request.h), and the program makes them by calls (sprof.h). Every
 * wait has a limit: the queue is bounded, and a caller gives up after a time.
 */
#ifndef AGENT_REQUESTS_H
#define AGENT_REQUESTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/request.h"
#include "sampling/all_stacks.h"
#include "config.h"

struct requests_call;

struct requests_item {
    enum request request;
    uint32_t nonce;             /* if it came by signal; 0: a bare signal */
    struct requests_call *call; /* if it came by a call, else NULL */
    int fd; /* for PRINT by a call, in the program's table */
};

/* Take requests, by SIGNO (0: by no signal). A program that uses that number
 * keeps it. Called again in the child of a fork. Returns 0, or -1 with errno.
 */
int requests_begin(int signo);

/* Unblock the signal in the calling thread, which is the sampler. */
void requests_unblock_signal(void);

/* The signal has come. Returns false if it is the program's own, from a timer
 * for example. Context: any. */
bool requests_take(const siginfo_t *info);

/* Whether there is a request, or threads are to unblock the number that
 * was ours. Context: sampler. */
bool requests_is_wanted(void);

/* The next request; false if there is none. Context: sampler. */
bool requests_next(struct requests_item *request);

/* Answer a request: it is done, or failed with ERROR (errno), as TEXT says.
 * Context: sampler. */
void requests_answer(const struct requests_item *request, int error,
                     const char *text);

/* The number is about to become the program's. Wait until the sampler blocks
 * it, but at most a tenth of a second. Context: any. */
void requests_block_signal(void);

/* The memory in which a call wants its stacks, NULL if it wants none or has
 * left. Context: sampler. */
struct all_stacks_memory *requests_memory(const struct requests_item *request);

/*
 * Ask the sampler for REQUEST, and wait for the answer, NS at most. FD is where
 * PRINT writes. MEMORY, made by sys_reserve, is for STACKS, or NULL; after
 * ETIMEDOUT it belongs to the sampler. Returns 0, or an errno: ETIMEDOUT (no
 * answer came in time), EAGAIN (too many threads ask at once), or what the
 * request failed with. The sampler does not call it. Context: any.
 */
int requests_ask(enum request request, int fd, struct all_stacks_memory *memory,
                 uint64_t ns);

/* Answer requests with this configuration and these files, which stay valid.
 * Context: start. */
void requests_use(const struct config *config,
                  const struct config_files *files);

/* Do what was asked since, and look at the process that runs beside the
 * program. Returns at once, but for a dump (all_stacks.h). */
void requests_heed(void);

/* Whether a process beside the program must be looked at again soon. */
bool requests_are_busy(void);

/* Called when the process ends. Wait for a process that runs beside the
 * program, for a limited time, and do what was asked since. */
void requests_end(void);

#endif
