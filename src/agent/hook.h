/* SPDX-License-Identifier: MIT */
/*
 * hook.h -- what makes a function of this library stand in front of libc's: it
 * is exported (libsprof.map lists the names).
 */
#ifndef AGENT_HOOK_H
#define AGENT_HOOK_H

#define HOOK __attribute__((visibility("default")))

#endif
