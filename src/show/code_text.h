/* SPDX-License-Identifier: MIT */
/* code_text.h -- the machine code of a function as text for people, with what
 * was spent at each instruction. */
#ifndef SHOW_CODE_TEXT_H
#define SHOW_CODE_TEXT_H

#include "view/code.h"
#include "text_report.h"

struct code_instruction {
    uint64_t offset;  /* in the numbering of the module's file */
    const char *text; /* "call   1040 <step>" */
};

/* Print those of the COUNT instructions of CODE, sorted by offset, that have
 * samples, and their neighbours. */
void code_text_write(FILE *stream, struct profile *profile,
                     const struct code *code,
                     const struct code_instruction *instructions, size_t count,
                     const struct text_report_options *options);

/* Print the title of CODE alone, and REASON in a note: its machine code is not
 * shown. */
void code_text_write_none(FILE *stream, const struct profile *profile,
                          const struct code *code, const char *reason,
                          const struct text_report_options *options);

#endif
