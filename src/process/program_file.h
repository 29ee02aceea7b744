/* SPDX-License-Identifier: MIT */
/*
 * program_file.h -- a descriptor of the program, for the sampler, which has its
 * own table.
 */
#ifndef PROCESS_PROGRAM_FILE_H
#define PROCESS_PROGRAM_FILE_H

#include <stdbool.h>

/*
 * A copy, above the standard ones, of the program's descriptor FD; the caller
 * closes it. Unless it IS_MEANT, only of one that is for messages: a terminal,
 * a pipe, a socket, a device, or a file that is open for writing alone or for
 * appending; a program may have closed its standard error, and opened its data
 * there. Returns -1 if there is none. Context: sampler.
 */
int program_file_open(int fd, bool is_meant);

#endif
