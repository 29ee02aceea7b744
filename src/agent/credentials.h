/* SPDX-License-Identifier: MIT */
/*
 * credentials.h -- keeps the sampler's rights those of the program's threads.
 * To Linux, user ids and capabilities belong to a thread; glibc has all threads
 * repeat a setuid, and aborts where it succeeds in one and fails in another
 * (nptl(7)). A program that kept or gave up capabilities in its one thread
 * would end so, because the sampler is a second one that did neither.
 */
#ifndef AGENT_CREDENTIALS_H
#define AGENT_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#define CREDENTIALS_SAME_USER UINT32_MAX

/* The calling thread is about to change the ids of the process: let the sampler
 * take over its capabilities first, and libc know of the sampler. If the
 * superuser becomes UID for good, the spool is made and becomes UID's: that
 * user is to read it at the end. Waits for that, some seconds at most. errno
 * stays. */
void credentials_before_change(uint32_t uid);

/* It has done so. Returns RESULT; errno stays. */
int credentials_after_change(int result);

/* In the child of a fork: who wanted something is not here. */
void credentials_forget(void);

/* Whether credentials_follow is to be called. */
bool credentials_are_wanted(void);

/* Take over what the caller of credentials_before_change has. Sampler. */
void credentials_follow(void);

#endif
