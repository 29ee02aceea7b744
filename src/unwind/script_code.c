/* SPDX-License-Identifier: MIT */
/* script_code.c -- see script_code.h. It runs in any thread, also in handlers.
 */
#include <string.h>

#include "script_code.h"
#include "base/poison.h"

/* Append CHARACTER as UTF-8 to TEXT, which has LENGTH of ROOM bytes. Returns
 * the new length; the old one if TEXT is full. */
static size_t
add_character(char *text, size_t room, size_t length, uint32_t character)
{
    unsigned more = character < 0x80      ? 0
                    : character < 0x800   ? 1
                    : character < 0x10000 ? 2
                                          : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    if (length + more + 2 > room)
        return length;
    text[length++] = (char)(first[more] | character >> 6 * more);
    while (more-- > 0)
        text[length++] = (char)(0x80 | (character >> 6 * more & 0x3f));
    return length;
}

void
script_code_text(char *to, size_t room, const uint8_t *from, uint32_t length,
                 uint8_t width)
{
    size_t end = 0;
    if (width == 0) {
        end = length < room ? length : room - 1;
        /* Cut before a character: the bytes after its first begin with 10. */
        while (end < length && end > 0 && (from[end] & 0xc0) == 0x80)
            end--;
        memcpy(to, from, end);
        to[end] = '\0';
        return;
    }
    for (uint32_t at = 0; at < length; at += width) {
        uint32_t character = 0;
        memcpy(&character, from + at, width);
        size_t before = end;
        end = add_character(to, room, end, character);
        if (end == before)
            break;
    }
    to[end] = '\0';
}

void
script_code_take(struct script_code *code, const void *from)
{
    const struct script_copy *made = from;
    const uint8_t *at = (const uint8_t *)(made + 1);
    code->first_line = made->first_line;
    script_code_text(code->name, SCRIPT_TEXT, at, made->name_length,
                     made->name_width);
    at += made->name_length;
    script_code_text(code->file, SCRIPT_TEXT, at, made->file_length,
                     made->file_width);
    at += made->file_length;
    code->table_length = made->table_length;
    memcpy(code->table, at, made->table_length);
}
