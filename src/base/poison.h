/* SPDX-License-Identifier: MIT */
/*
 * poison.h -- included last by every file of the window (base, process, unwind,
 * signals, capture). There, names that must not be used while a thread may be
 * suspended do not compile. The lint over undefined symbols catches calls that
 * get past it.
 */
#ifndef BASE_POISON_H
#define BASE_POISON_H

/* Memory and stdio. */
#pragma GCC poison malloc calloc realloc free strdup asprintf alloca
#pragma GCC poison printf fprintf snprintf vsnprintf puts fputs fopen fclose
#pragma GCC poison stdin stdout stderr perror strerror
/* Locks, waits without a deadline, cancellation points. */
#pragma GCC poison pthread_mutex_lock pthread_cond_wait pthread_join
#pragma GCC poison pthread_getattr_np pthread_self sem_wait sem_post
#pragma GCC poison sleep usleep nanosleep read write open close
/* The loader. */
#pragma GCC poison dl_iterate_phdr dlopen dlclose dlsym dladdr dlerror
/* Ends of the program. */
#pragma GCC poison abort exit _exit assert errno

#endif
