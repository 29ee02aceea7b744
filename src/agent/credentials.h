/* SPDX-License-Identifier: MIT */
/*
 * credentials.h -- gives the sampler the same rights as the program's threads.
 * To Linux, user ids and capabilities belong to a thread. glibc has all threads
 * repeat a setuid, and aborts if it succeeds in one and fails in another
 * (nptl(7)). The sampler would be a second thread with other capabilities. So
 * glibc would abort a program with one thread that keeps or gives up
 * capabilities.
 */
#ifndef AGENT_CREDENTIALS_H
#define AGENT_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#define CREDENTIALS_SAME_USER UINT32_MAX

/* The calling thread is about to change the ids of the process. The sampler
 * first takes over the thread's capabilities, and libc then believes in several
 * threads. If the superuser becomes UID for good, the spool is made and given
 * to UID, who is to read it at the end. The caller waits for that, some seconds
 * at most. errno is kept. */
void credentials_before_change(uint32_t uid);

/* The calling thread has changed the ids. Returns RESULT. errno is kept. */
int credentials_after_change(int result);

/* Whether credentials_follow is to be called. */
bool credentials_are_wanted(void);

/* Take over the capabilities of the thread that called
 * credentials_before_change. Context: sampler. */
void credentials_follow(void);

#endif
