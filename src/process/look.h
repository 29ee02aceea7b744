/* SPDX-License-Identifier: MIT */
/*
 * look.h -- what a thread is doing at this instant, without disturbing it, from
 * /proc/self/task/TID (proc(5)): the system call that it waits in with
 * arguments, stack pointer and pc; how long it has waited for a CPU; and in
 * words what the system call waits for. Context: sampler.
 */
#ifndef PROCESS_LOOK_H
#define PROCESS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum look_state {
    LOOK_GONE,    /* there is no such thread */
    LOOK_RUNNING, /* it runs, or could run */
    LOOK_WAITING, /* it waits in system call NUMBER; SP and PC are known */
    LOOK_BLOCKED, /* it waits; where, the kernel does not tell */
};

/* A wait that is no system call's: a page fault, say. */
#define LOOK_NO_CALL (-1)

struct look {
    enum look_state state;
    long number;
    uint64_t arguments[6];
    uint64_t sp, pc;
};

/* Look at thread TID. Where /proc/.../syscall cannot be read (no
 * CONFIG_HAVE_ARCH_TRACEHOOK, a sandbox) the state in .../stat decides, and
 * waiting threads are LOOK_BLOCKED. Some 3 us. */
void look_at(pid_t tid, struct look *look);

/* Whether the kernel does not tell system calls here, as far as is known. */
bool look_is_blind(void);

/* Since it began, a thread could have run and had no CPU for NS, and it got one
 * SLICES times. */
struct look_line {
    uint64_t ns, slices;
};

/* That of thread TID; zeros if the kernel does not tell. /proc/.../schedstat,
 * Linux 2.6.9. */
struct look_line look_line(pid_t tid);

/*
 * What thread TID waits for in LOOK, in words: "mutex of NAME (tid)", "thread
 * NAME (tid)", "socket:[123]", "/path", "process 12", "any child". OWNER_NAME
 * gives the name of one of our threads, NULL if TID is none. Returns the length
 * of the words in TEXT of SIZE bytes, 0 if it is not known.
 */
size_t look_words(pid_t tid, const struct look *look,
                  const char *(*owner_name)(pid_t tid), char *text,
                  size_t size);

/* The thread that TID waits for in LOOK: it holds the mutex, or is to end. 0 if
 * it is not known to be one. It may be a thread of another process. */
pid_t look_owner(pid_t tid, const struct look *look);

#endif
