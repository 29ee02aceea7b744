/* SPDX-License-Identifier: MIT */
/*
 * stacks_report.h -- the stacks of all threads on a descriptor of the program's
 * own: what libsprof-report.so does for a bare control signal (report.h).
 */
#ifndef WRITE_STACKS_REPORT_H
#define WRITE_STACKS_REPORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Print the text of stacks_text.h to descriptor FD: the stacks that are in the
 * spool at PATH and answer the request NONCE, with inlined functions unless
 * INLINES is 0. The text is made first and then written in as few calls as the
 * descriptor takes: what the program writes meanwhile stands before it or
 * behind it. A pipe that is full is waited for, but not for ever. Returns 0, or
 * -1 with a sentence in ERROR (of SIZE bytes).
 */
int stacks_report_write(int fd, const char *path, uint32_t nonce, int inlines,
                        char *error, size_t size);

#endif
