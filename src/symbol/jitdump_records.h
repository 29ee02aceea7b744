/* SPDX-License-Identifier: MIT */
/*
 * jitdump_records.h -- reads the records of a jitdump. A runtime appends its
 * actions with generated code to it. A record begins with its kind, its size
 * and its time, in the byte order of the machine:
 *
 *   0 load     the code of a function has been made at an address
 *   1 move     code has moved to another address
 *   2 lines    source lines of the code that the next load makes
 *   3 close    the runtime has ended
 *   4 unwind   an unwind table of the code that the next load makes
 *
 * The machine code in a load, and unwind tables, are skipped. A file may end
 * within a record, because its process was killed or still writes. The records
 * before that one count. The file may contain anything. Report side only.
 */
#ifndef SYMBOL_JITDUMP_RECORDS_H
#define SYMBOL_JITDUMP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/intern.h"
#include "time_index.h"

/* Limit of the source lines of a file that are kept, 16 bytes each. */
#define JITDUMP_RECORDS_LINES_MOST (1u << 23)

/* The code in a range from its time on. */
struct jitdump_code {
    uint32_t name; /* number in TEXTS; INTERN_NONE: the code has left */
    uint32_t first_line, line_count;
    uint64_t origin; /* the address of its beginning, as its lines count */
};

/* From ADDRESS on, the code is of LINE in FILE (a number in TEXTS). */
struct jitdump_line {
    uint64_t address;
    uint32_t line, file;
};

/* All zero is an empty dump. */
struct jitdump_records {
    struct time_range *ranges; /* the range of code I */
    struct jitdump_code *codes;
    uint32_t code_count;
    struct jitdump_line *lines;
    uint32_t line_count;
    struct intern texts;
    uint32_t pid;      /* of the process that wrote the file */
    uint64_t time;     /* in the header, of a clock of the runtime's choice */
    bool has_no_times; /* times are of another clock: all are 0 */
};

/*
 * Read the SIZE bytes of the file FD into RECORDS, which is empty. Records from
 * UNTIL on (CLOCK_MONOTONIC ns) are left out. Returns 0, or -1 if memory is
 * short. *WHY becomes NULL, or the reason why not all of the file is used.
 */
int jitdump_records_read(struct jitdump_records *records, int fd, uint64_t size,
                         uint64_t until, const char **why);

void jitdump_records_clear(struct jitdump_records *records);

#endif
