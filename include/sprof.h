/* SPDX-License-Identifier: MIT */
/*
 * sprof.h -- libsprof from inside the program that it profiles.
 *
 * A program may call these whether or not the library is preloaded: the symbols
 * are weak, and without the library the functions below answer "not running".
 * Nothing needs to be linked. C and C++.
 */
#ifndef SPROF_H
#define SPROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* The implementation's entry points; use the functions below. */
extern int sprof_api_is_running(void) __attribute__((weak));
extern const char *sprof_api_version(void) __attribute__((weak));
extern int sprof_api_thread_register(const char *) __attribute__((weak));

/*
 * Whether this process is being sampled. Returns 1 or 0. May be called from
 * anywhere, also from a signal handler.
 */
static inline int
sprof_is_running(void)
{
    return sprof_api_is_running != 0 ? sprof_api_is_running() : 0;
}

/*
 * The version of the library, "0.1.0", or "" if it is not preloaded. Static;
 * may be called from anywhere.
 */
static inline const char *
sprof_version(void)
{
    return sprof_api_version != 0 ? sprof_api_version() : "";
}

/*
 * Name the calling thread NAME, cut after 15 bytes (prctl(2), PR_SET_NAME; NULL
 * keeps the name it has), and with SPROF_THREADS=registered have it profiled
 * from now on, which others then are not. Returns 0, or -1 if this process is
 * not being sampled. May be called again, to change the name; not from a signal
 * handler.
 */
static inline int
sprof_thread_register(const char *name)
{
    return sprof_api_thread_register != 0 ? sprof_api_thread_register(name)
                                          : -1;
}

#ifdef __cplusplus
}
#endif

#endif
