/* SPDX-License-Identifier: MIT */
/* python_text.c -- see python_text.h. It runs in any thread, also in handlers.
 */
#include <string.h>

#include "base/sys.h"
#include "script_code.h"
#include "python_text.h"
#include "base/poison.h"

/* Bits of the state of a text: how wide its characters are, and whether they
 * lie after the head. */
#define TEXT_KIND(state) ((state) >> 2 & 7)
#define TEXT_IS_COMPACT(state) ((state) >> 5 & 1)
#define TEXT_IS_ASCII(state) ((state) >> 6 & 1)

bool
python_text_find(const struct python_layout *layout, const uint8_t *head,
                 uint64_t address, uint32_t most, struct python_text *text)
{
    uint64_t count = python_word(head, layout->text.length);
    uint32_t state;
    memcpy(&state, head + layout->text.state, sizeof(state));
    text->width = (uint8_t)TEXT_KIND(state);
    if (!TEXT_IS_COMPACT(state) ||
        (text->width != 1 && text->width != 2 && text->width != 4))
        return false;
    if (count > most)
        count = most;
    text->length = (uint32_t)count * text->width;
    text->address = address + (TEXT_IS_ASCII(state) ? layout->text.ascii
                                                    : layout->text.compact);
    return true;
}

bool
python_text_of(const struct python_layout *layout, const uint8_t *bytes,
               long count, uint64_t address, char *to, size_t room)
{
    struct python_text text;
    if (count < layout->text.compact ||
        !python_text_find(layout, bytes, address, (uint32_t)room - 1, &text) ||
        text.address - address + text.length > (uint64_t)count)
        return false;
    script_code_text(to, room, bytes + (text.address - address), text.length,
                     text.width);
    return true;
}

bool
python_text_read(const struct python_layout *layout, uint64_t address, char *to)
{
    uint8_t bytes[PYTHON_TEXT_BYTES];
    long count = sys_read_memory(bytes, address, sizeof(bytes));
    return python_text_of(layout, bytes, count, address, to, PYTHON_TEXT_ROOM);
}
