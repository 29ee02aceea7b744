/* SPDX-License-Identifier: MIT */
/*
 * script_code.h -- an interpreter's description of a function: its name, its
 * file and the lines of its code. A handler copies it as it lies in the memory
 * of the interpreter. The sampler makes text of it.
 */
#ifndef UNWIND_SCRIPT_CODE_H
#define UNWIND_SCRIPT_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Limits of the texts and of the table of lines, in bytes. Longer ones are cut.
 */
#define SCRIPT_TEXT 4096u
#define SCRIPT_TABLE (1u << 20)

struct script_code {
    char name[SCRIPT_TEXT], file[SCRIPT_TEXT]; /* UTF-8 */
    int32_t first_line;
    uint32_t table_length;
    uint8_t table[SCRIPT_TABLE]; /* as the interpreter has it */
};

/* A copy: this, and then the name, the file and the table of lines. Texts have
 * characters of WIDTH bytes; 0: they are UTF-8. All lengths are in bytes. */
struct script_copy {
    int32_t first_line;
    uint32_t name_length, file_length, table_length;
    uint8_t name_width, file_width;
};

/* Enough bytes for any copy. */
#define SCRIPT_COPY_MOST \
    (sizeof(struct script_copy) + 2 * 4 * SCRIPT_TEXT + SCRIPT_TABLE)

/* Make *CODE of the copy at FROM. Context: sampler. */
void script_code_take(struct script_code *code, const void *from);

/* Write characters of WIDTH bytes (0: UTF-8), LENGTH bytes in all, from FROM to
 * TO as UTF-8. TO has ROOM bytes (> 0). Characters that do not fit are left
 * out. Context: any. */
void script_code_text(char *to, size_t room, const uint8_t *from,
                      uint32_t length, uint8_t width);

#endif
