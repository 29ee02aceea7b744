/* SPDX-License-Identifier: MIT */
/*
 * debug_server.h -- limits the time that debuginfod servers may take. libdwfl
 * asks them for debug files that are not on this machine, if the user names
 * servers in DEBUGINFOD_URLS. By default a client waits for each file for 90 s
 * and longer. Report side only.
 */
#ifndef SYMBOL_DEBUG_SERVER_H
#define SYMBOL_DEBUG_SERVER_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * Limit the time of all answers together to about SECONDS. After that no server
 * is asked. 0: no limit. The user's settings for one file (DEBUGINFOD_TIMEOUT,
 * DEBUGINFOD_MAXTIME) are kept. Changes the environment, so it must be called
 * before threads are made.
 */
void debug_server_limit(unsigned seconds);

/* Whether the user has named servers. */
bool debug_server_is_there(void);

/* Whether a file NAME + ENDING exists where libdwfl looks for the debug file of
 * FILE, a path. It looks beside FILE, in .debug there, and in the same
 * directory below /usr/lib/debug, possibly without its first parts. */
bool debug_server_is_near(const char *file, const char *name,
                          const char *ending);

/* Like dwfl_standard_find_debuginfo, but within the limit. For Dwfl_Callbacks.
 */
int debug_server_find(Dwfl_Module *module, void **data, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word check, char **found);

#endif
