/* SPDX-License-Identifier: MIT */
/*
 * stacks_report.h -- prints the stacks of all threads to a descriptor of the
 * program. libsprof-report.so does this for a bare control signal (report.h).
 */
#ifndef WRITE_STACKS_REPORT_H
#define WRITE_STACKS_REPORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Print the text of stacks_text.h to descriptor FD. The stacks are in the spool
 * at PATH and must answer the request NONCE. Inlined functions are left out if
 * INLINES is 0. The text is made first and then written in as few calls as the
 * descriptor allows. So the program's own output stands before it or behind it.
 * If a pipe is full, the function waits, but not for ever. Returns 0, or -1
 * with a sentence in ERROR (of SIZE bytes).
 */
int stacks_report_write(int fd, const char *path, uint32_t nonce, int inlines,
                        char *error, size_t size);

#endif
