/* SPDX-License-Identifier: MIT */
/*
 * debug_server.h -- debuginfod servers, which libdwfl asks for debug files that
 * are not on this machine if the user names some in DEBUGINFOD_URLS: how long
 * they may take. By itself a client waits for each file for 90 s and longer.
 * Report side only.
 */
#ifndef SYMBOL_DEBUG_SERVER_H
#define SYMBOL_DEBUG_SERVER_H

#include <elfutils/libdwfl.h>

/*
 * Let all answers together take about SECONDS, then ask no more; 0: no limit.
 * What the user set for one file (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME) stays
 * as it is. Changes the environment: to be called before there are threads.
 */
void debug_server_limit(unsigned seconds);

/* Whether the user has named any. */
bool debug_server_is_there(void);

/* As dwfl_standard_find_debuginfo, within the limit. For Dwfl_Callbacks. */
int debug_server_find(Dwfl_Module *module, void **data, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word check, char **found);

#endif
