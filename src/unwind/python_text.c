/* SPDX-License-Identifier: MIT */
/* python_text.c -- see python_text.h. It runs in any thread, also in handlers.
 */
#include <string.h>

#include "base/sys.h"
#include "python_text.h"
#include "base/poison.h"

/* Bits of the state of a text: how wide its characters are, and whether they
 * lie behind the head. */
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

/* Append CHARACTER as UTF-8 to TEXT, which has LENGTH of ROOM bytes. Returns
 * the new length; the old one if there is no room. */
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
python_text_take(char *to, size_t room, const uint8_t *from, uint32_t length,
                 uint8_t width)
{
    size_t end = 0;
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

bool
python_text_of(const struct python_layout *layout, const uint8_t *bytes,
               long count, uint64_t address, char *to, size_t room)
{
    struct python_text text;
    if (count < layout->text.compact ||
        !python_text_find(layout, bytes, address, (uint32_t)room - 1, &text) ||
        text.address - address + text.length > (uint64_t)count)
        return false;
    python_text_take(to, room, bytes + (text.address - address), text.length,
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
