/* SPDX-License-Identifier: MIT */
/* source_file.h -- reads the source of functions line by line, as plain text. A
 * profile names the files, so a name may stand for anything. */
#ifndef SHOW_SOURCE_FILE_H
#define SHOW_SOURCE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Bytes of a line; the rest of a longer one is left out. */
enum { SOURCE_FILE_LINE = 1024 };

struct source_file {
    FILE *stream;
    time_t changed;
    char *raw; /* the line as it is read */
    size_t raw_size;
    unsigned number; /* of the line, from 1 on */
    char line[SOURCE_FILE_LINE];
};

/* Open PATH. Returns 0, or -1 with *PROBLEM set: "No such file or directory".
 * Only a regular file is opened. */
int source_file_open(struct source_file *source, const char *path,
                     const char **problem);

/* Read the next line, without its end. Tabs become blanks, and '?' replaces
 * other control characters. False after the last line. */
bool source_file_next(struct source_file *source);

void source_file_close(struct source_file *source);

#endif
