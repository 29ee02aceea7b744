/* SPDX-License-Identifier: MIT */
/* python_code.c -- see python_code.h. All is read by system calls. */
#include <string.h>

#include "base/sys.h"
#include "python_code.h"
#include "base/poison.h"

/* Most bytes of a code object that the sum covers. */
#define HEAD_MOST 256u

/* Offset of the type in any object. */
#define OBJECT_TYPE 8u

/* Bits of the state of a text: how wide its characters are, and whether they
 * lie behind the head. */
#define TEXT_KIND(state) ((state) >> 2 & 7)
#define TEXT_IS_COMPACT(state) ((state) >> 5 & 1)
#define TEXT_IS_ASCII(state) ((state) >> 6 & 1)

static bool
copy(void *to, uint64_t address, size_t length)
{
    return sys_read_memory(to, address, length) == (long)length;
}

/* How much of a code object tells one from another, in bytes. */
static unsigned
head_size(const struct python_layout *layout)
{
    return layout->code.table + 8u;
}

/* The sum of the head BYTES: of all between the first line and the table. */
static uint32_t
sum_of(const struct python *python, const uint8_t *bytes)
{
    const struct python_layout *layout = &python->layout;
    uint64_t sum = 0x9e3779b97f4a7c15u;
    uint64_t references = python_word(bytes, 0);
    /* A pointer to the next free block stands here once it is freed. */
    if (python_word(bytes, OBJECT_TYPE) != python->code_type ||
        (uint32_t)references == 0 || (references >> 32 & 0xffff) != 0)
        return 0;
    for (unsigned at = layout->code.first_line & ~7u; at <= layout->code.table;
         at += 8) {
        sum = (sum ^ python_word(bytes, at)) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 29;
    }
    return (uint32_t)(sum >> 32) | 1;
}

uint32_t
python_code_sum(const struct python *python, uint64_t address)
{
    uint8_t bytes[HEAD_MOST];
    unsigned size = head_size(&python->layout);
    return size <= sizeof(bytes) && copy(bytes, address, size)
               ? sum_of(python, bytes)
               : 0;
}

/* Append CHARACTER as UTF-8 to TEXT, which has LENGTH bytes. Returns the new
 * length; the old one if there is no room. */
static size_t
add_character(char *text, size_t length, uint32_t character)
{
    unsigned more = character < 0x80      ? 0
                    : character < 0x800   ? 1
                    : character < 0x10000 ? 2
                                          : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    if (length + more + 2 > PYTHON_CODE_TEXT)
        return length;
    text[length++] = (char)(first[more] | character >> 6 * more);
    while (more-- > 0)
        text[length++] = (char)(0x80 | (character >> 6 * more & 0x3f));
    return length;
}

/* Read COUNT characters of WIDTH bytes at ADDRESS as UTF-8 into TEXT. */
static bool
read_wide(char *text, uint64_t address, uint64_t count, unsigned width)
{
    size_t length = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t character = 0;
        size_t before = length;
        if (!copy(&character, address + i * width, width))
            return false;
        length = add_character(text, length, character);
        if (length == before)
            break;
    }
    text[length] = '\0';
    return true;
}

/* Read the text at ADDRESS into TEXT. */
static bool
read_text(const struct python_layout *layout, uint64_t address, char *text)
{
    uint64_t length;
    uint32_t state;
    if (!copy(&length, address + layout->text.length, sizeof(length)) ||
        !copy(&state, address + layout->text.state, sizeof(state)) ||
        !TEXT_IS_COMPACT(state))
        return false;
    if (length >= PYTHON_CODE_TEXT)
        length = PYTHON_CODE_TEXT - 1;
    if (TEXT_IS_ASCII(state)) {
        text[length] = '\0';
        return copy(text, address + layout->text.ascii, length);
    }
    unsigned width = TEXT_KIND(state);
    return (width == 1 || width == 2 || width == 4) &&
           read_wide(text, address + layout->text.compact, length, width);
}

/* Read the table of lines at ADDRESS. One that is too long is left out. */
static bool
read_table(const struct python_layout *layout, uint64_t address,
           struct python_code *code)
{
    uint64_t length;
    code->table_length = 0;
    if (!copy(&length, address + layout->bytes.length, sizeof(length)))
        return false;
    if (length > sizeof(code->table))
        return true;
    code->table_length = (uint32_t)length;
    return copy(code->table, address + layout->bytes.data, length);
}

bool
python_code_read(const struct python *python, uint64_t address, uint32_t sum,
                 struct python_code *code)
{
    const struct python_layout *layout = &python->layout;
    uint8_t bytes[HEAD_MOST];
    unsigned size = head_size(layout);
    if (size > sizeof(bytes) || !copy(bytes, address, size) ||
        sum_of(python, bytes) != sum)
        return false;
    memcpy(&code->first_line, bytes + layout->code.first_line,
           sizeof(code->first_line));
    return read_text(layout, python_word(bytes, layout->code.name),
                     code->name) &&
           read_text(layout, python_word(bytes, layout->code.file),
                     code->file) &&
           read_table(layout, python_word(bytes, layout->code.table), code) &&
           python_code_sum(python, address) == sum;
}

bool
python_code_name(const struct python *python, uint64_t address, char *text)
{
    uint64_t name;
    return python_code_sum(python, address) != 0 &&
           copy(&name, address + python->layout.code.name, sizeof(name)) &&
           read_text(&python->layout, name, text);
}
