/* SPDX-License-Identifier: MIT */
/*
 * nspid.h -- threads' numbers where /proc belongs to another PID namespace
 * (pid_namespaces(7)). A process that was forked into a new one, as by `unshare
 * --pid --fork`, still sees the old /proc. That lists a thread under one
 * number, and its tid in system calls is another. Everywhere else the two are
 * the same, and these functions cost nothing. Context: sampler.
 */
#ifndef PROCESS_NSPID_H
#define PROCESS_NSPID_H

#include <stdint.h>
#include <sys/types.h>

/* The PID namespace of this process, as the number of the file
 * /proc/self/ns/pid (namespaces(7)); 0: not known. Context: any thread. */
uint32_t nspid_namespace(void);

/* Forget all threads, and find out whose /proc this is. Returns 0, or -1 if
 * memory is short. */
int nspid_begin(void);

/* The tid of the thread of this process that /proc lists as LISTED; 0 if it has
 * gone. */
pid_t nspid_tid(pid_t listed);

/* What /proc lists thread TID as; 0 if nspid_tid has not returned it yet. */
pid_t nspid_listed(pid_t tid);

/* Thread TID has gone: both numbers may become those of another thread. */
void nspid_forget(pid_t tid);

#endif
