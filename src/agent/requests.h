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
    uint32_t nonce;             /* of a request by signal; 0: none */
    struct requests_call *call; /* of a request by a call, else NULL */
    int fd; /* of PRINT by a call: the program's descriptor */
};

/* Take requests by the signal SIGNO (0: by no signal). A program that uses the
 * number keeps it. Also called in a forked child. Returns 0, or -1 with errno.
 */
int requests_begin(int signo);

/* Unblock the signal in the calling thread, which is the sampler. */
void requests_unblock_signal(void);

/* The signal has come. Returns false if the program itself caused it, by a
 * timer for example. Context: any. */
bool requests_take(const siginfo_t *info);

/* Whether a request waits, the sampler must block the number, or threads must
 * unblock it. Context: sampler. */
bool requests_is_wanted(void);

/* Take the next request. Returns false if none waits. Context: sampler. */
bool requests_next(struct requests_item *request);

/* Answer REQUEST. ERROR is 0, or the errno with which it failed. TEXT goes with
 * the answer. Context: sampler. */
void requests_answer(const struct requests_item *request, int error,
                     const char *text);

/* The number is about to become the program's. Wait until the sampler blocks
 * it, but at most a tenth of a second. Context: any. */
void requests_block_signal(void);

/* The memory in which a call wants its stacks, NULL if it wants none or has
 * left. Context: sampler. */
struct all_stacks_memory *requests_memory(const struct requests_item *request);

/*
 * Ask the sampler for REQUEST, and wait for the answer, NS at most. PRINT
 * writes to FD. MEMORY is NULL, or memory of sys_reserve for STACKS. After
 * ETIMEDOUT it belongs to the sampler. Returns 0, or the errno with which the
 * request failed. ETIMEDOUT: no answer came in time. EAGAIN: too many threads
 * ask at once. The sampler does not call this function. Context: any.
 */
int requests_ask(enum request request, int fd, struct all_stacks_memory *memory,
                 uint64_t ns);

/* Answer requests with this configuration and these files, which stay valid.
 * Context: start. */
void requests_use(const struct config *config,
                  const struct config_files *files);

/* Do the requests in the queue, and see whether the process beside the program
 * has ended. Returns at once, except for a dump (all_stacks.h). */
void requests_heed(void);

/* Whether a process beside the program must be looked at again soon. */
bool requests_are_busy(void);

/* The program ends. Wait for the process beside it, for a limited time, and do
 * the requests in the queue. */
void requests_end(void);

#endif
