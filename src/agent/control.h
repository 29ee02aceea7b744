/* SPDX-License-Identifier: MIT */
/*
 * control.h -- what is asked of the profiler while the program runs, by the
 * control signal (base/request.h) from outside or by a call of the program
 * (sprof.h), and the way of the answers. Nobody waits for ever: the queue is
 * bounded, and who calls gives up after a time.
 */
#ifndef AGENT_CONTROL_H
#define AGENT_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/request.h"
#include "dump.h"

struct control_call;

struct control_request {
    enum request request;
    uint32_t nonce;            /* of one that came by signal; 0: a bare one */
    struct control_call *call; /* of one that came by a call, else NULL */
    int fd;                    /* of a call for PRINT, in the program's table */
};

/* Take requests, by SIGNO (0: by no signal). A program that has an interest in
 * that number keeps it. Again in the child of a fork. Returns 0, or -1 with
 * errno. */
int control_begin(int signo);

/* Let the signal come to the calling thread, which is the sampler. */
void control_listen(void);

/* The number that carries requests now, 0: none. */
int control_signal(void);

/* The signal has come. False: it is one of the program's own, from a timer say.
 * Any thread, in handler. */
bool control_take(const siginfo_t *info);

/* Whether there is a request, or threads are to be opened (control_open).
 * Context: sampler. */
bool control_is_wanted(void);

/* The next request; false if there is none. Context: sampler. */
bool control_next(struct control_request *request);

/* The request is done, or failed with ERROR (errno), as TEXT says. Context:
 * sampler. */
void control_answer(const struct control_request *request, int error,
                    const char *text);

/* The program has an interest in the number: it is its own from now on, also in
 * the calling thread. Any thread; in handler. */
void control_release(void);

/* The number is about to become the program's: wait, a tenth of a second at
 * most, until the sampler blocks it. Any thread; in handler. */
void control_deafen(void);

/* The program has the number for itself since: have all threads that block it,
 * though they believe not to, open it. Context: sampler. */
void control_open(void);

/* Where a call wants its stacks, NULL if it wants none or has left. Context:
 * sampler. */
struct dump_memory *control_memory(const struct control_request *request);

/*
 * Ask the sampler for REQUEST, and wait for the answer, NS at most. FD is where
 * PRINT writes; MEMORY, made by sys_reserve, is for STACKS, or NULL: with
 * ETIMEDOUT it belongs to the sampler from then on. Returns 0, or an errno:
 * ETIMEDOUT nobody answered in time, EAGAIN too many threads ask at once, or
 * what the request failed with. Any thread but the sampler; async-signal-safe.
 */
int control_ask(enum request request, int fd, struct dump_memory *memory,
                uint64_t ns);

#endif
