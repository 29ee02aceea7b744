/* SPDX-License-Identifier: MIT */
/*
 * look.h -- what a thread does at this instant, without disturbing it, from
 * /proc/self/task/TID (proc(5)): the system call in which it waits with
 * arguments, stack pointer and pc; how long it has waited for a CPU; and in
 * words what it waits for. Context: sampler.
 */
#ifndef PROCESS_LOOK_H
#define PROCESS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum look_state {
    LOOK_GONE,    /* the thread does not exist */
    LOOK_RUNNING, /* it runs, or could run */
    LOOK_WAITING, /* it waits in system call NUMBER; SP and PC are known */
    LOOK_BLOCKED, /* it waits; the kernel does not show where */
};

/* A wait outside system calls, for example in a page fault. */
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

/* Whether the kernel is known not to show system calls here. */
bool look_is_blind(void);

/* Since a thread began: for NS it could have run but had no CPU, and SLICES
 * times it got one. */
struct look_line {
    uint64_t ns, slices;
};

/* The times of thread TID; zeros if the kernel does not show them.
 * /proc/.../schedstat, Linux 2.6.9. */
struct look_line look_line(pid_t tid);

/*
 * In words what thread TID waits for in LOOK: "mutex of NAME (tid)", "thread
 * NAME (tid)", "socket:[123]", "/path", "process 12", "any child". OWNER_NAME
 * returns the name of one of our threads, NULL if TID is not ours. Returns the
 * length of the words in TEXT of SIZE bytes, 0 if it is not known.
 */
size_t look_words(pid_t tid, const struct look *look,
                  const char *(*owner_name)(pid_t tid), char *text,
                  size_t size);

/* The thread that TID waits for in LOOK: it holds the mutex, or is to end. 0:
 * not known, for example a thread of another process. */
pid_t look_owner(pid_t tid, const struct look *look);

#endif
