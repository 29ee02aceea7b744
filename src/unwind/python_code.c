/* SPDX-License-Identifier: MIT */
/* python_code.c -- see python_code.h. All is read by system calls. */
#include <string.h>

#include "base/sys.h"
#include "python_text.h"
#include "python_code.h"
#include "base/poison.h"

/* Limit of the bytes of a code object that the sum covers. */
#define HEAD_MOST 256u

/* Offset of the type in any object. */
#define OBJECT_TYPE 8u

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
    return size <= sizeof(bytes) && sys_copy_memory(bytes, address, size)
               ? sum_of(python, bytes)
               : 0;
}

unsigned
python_code_sums(const struct python *python, const uint64_t *addresses,
                 unsigned count, uint32_t *sums)
{
    uint8_t bytes[SYS_READS_MOST * HEAD_MOST];
    unsigned size = head_size(&python->layout);
    if (size > HEAD_MOST)
        return 0;
    count = sys_read_memories(bytes, addresses, count, size);
    for (unsigned i = 0; i < count; i++)
        sums[i] = sum_of(python, bytes + (size_t)i * size);
    return count;
}

/* Where a copy grows. */
struct target {
    uint8_t *at;
    size_t left;
};

/* Bytes of an object that are read at once. Most have no more. */
#define CHUNK 256u

/* The first bytes of an object. */
struct chunk {
    uint64_t address;
    long length;
    uint8_t bytes[CHUNK];
};

static bool
read_chunk(struct chunk *chunk, uint64_t address, unsigned least)
{
    chunk->address = address;
    chunk->length = sys_read_memory(chunk->bytes, address, CHUNK);
    return chunk->length >= (long)least;
}

/* Append LENGTH bytes at ADDRESS, which may be in CHUNK. */
static bool
append(struct target *target, const struct chunk *chunk, uint64_t address,
       size_t length)
{
    if (length > target->left)
        return false;
    if (address + length <= chunk->address + (uint64_t)chunk->length)
        memcpy(target->at, chunk->bytes + (address - chunk->address), length);
    else if (!sys_copy_memory(target->at, address, length))
        return false;
    target->at += length;
    target->left -= length;
    return true;
}

static bool
append_text(struct target *target, const struct python_layout *layout,
            uint64_t address, uint8_t *width, uint32_t *length)
{
    struct chunk chunk;
    struct python_text text;
    if (!read_chunk(&chunk, address, layout->text.compact) ||
        !python_text_find(layout, chunk.bytes, address, SCRIPT_TEXT - 1, &text))
        return false;
    *width = text.width;
    *length = text.length;
    return append(target, &chunk, text.address, text.length);
}

/* Append the table of lines at ADDRESS. One that is too long is left out. */
static bool
append_table(struct target *target, const struct python_layout *layout,
             uint64_t address, uint32_t *length)
{
    struct chunk chunk;
    if (!read_chunk(&chunk, address, layout->bytes.data))
        return false;
    uint64_t size = python_word(chunk.bytes, layout->bytes.length);
    *length = size <= SCRIPT_TABLE ? (uint32_t)size : 0;
    return append(target, &chunk, address + layout->bytes.data, *length);
}

size_t
python_code_copy(const struct python *python, uint64_t address, uint32_t sum,
                 void *to, size_t room)
{
    const struct python_layout *layout = &python->layout;
    uint8_t bytes[HEAD_MOST];
    unsigned size = head_size(layout);
    struct script_copy *made = to;
    if (sum == 0 || room < sizeof(*made) || size > sizeof(bytes) ||
        !sys_copy_memory(bytes, address, size) || sum_of(python, bytes) != sum)
        return 0;
    struct target target = {(uint8_t *)(made + 1), room - sizeof(*made)};
    memcpy(&made->first_line, bytes + layout->code.first_line,
           sizeof(made->first_line));
    if (!append_text(&target, layout, python_word(bytes, layout->code.name),
                     &made->name_width, &made->name_length) ||
        !append_text(&target, layout, python_word(bytes, layout->code.file),
                     &made->file_width, &made->file_length) ||
        !append_table(&target, layout, python_word(bytes, layout->code.table),
                      &made->table_length) ||
        python_code_sum(python, address) != sum)
        return 0;
    return room - target.left;
}

bool
python_code_name(const struct python *python, uint64_t address, char *text,
                 uint8_t *scratch)
{
    struct target target = {scratch, (size_t)4 * SCRIPT_TEXT};
    uint64_t name;
    uint32_t length;
    uint8_t width;
    if (python_code_sum(python, address) == 0 ||
        !sys_copy_memory(&name, address + python->layout.code.name,
                         sizeof(name)) ||
        !append_text(&target, &python->layout, name, &width, &length))
        return false;
    script_code_text(text, SCRIPT_TEXT, scratch, length, width);
    return true;
}
