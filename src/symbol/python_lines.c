/* SPDX-License-Identifier: MIT */
/*
 * python_lines.c -- see python_lines.h. The forms are described in CPython's
 * sources: Objects/lnotab_notes.txt up to 3.10, Objects/locations.md (or
 * InternalDocs/code_objects.md) from 3.11 on.
 */
#include <stdbool.h>

#include "python_lines.h"

/* Bytes of one unit of code from 3.10 on. */
enum { UNIT = 2 };

/* A line number, 0 if it is out of range. */
static uint32_t
line_of(int64_t line)
{
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs of bytes: the advance of the address, and that of the line (signed). */
static uint32_t
find_in_lnotab(const uint8_t *table, size_t length, int64_t line,
               int64_t offset)
{
    int64_t address = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        address += table[i];
        if (address > offset)
            break;
        line += (int8_t)table[i + 1];
    }
    return line_of(line);
}

/* Pairs of bytes: how many bytes of code, and by how much their line differs
 * from the one before (signed). -128 means code without a line. */
static uint32_t
find_in_lines_310(const uint8_t *table, size_t length, int64_t line,
                  int64_t offset)
{
    int64_t end = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        int8_t change = (int8_t)table[i + 1];
        end += table[i];
        if (change != INT8_MIN)
            line += change;
        if (offset < end)
            return change != INT8_MIN ? line_of(line) : 0;
    }
    return 0;
}

/* The signed number at *AT: six bits a byte, the lowest ones first. Bit 6 says
 * that another byte follows. Bit 0 of the whole is the sign. */
static int64_t
read_signed(const uint8_t *table, size_t length, size_t at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    bool goes_on = true;
    for (; goes_on && at < length && shift < 42; at++, shift += 6) {
        value |= (uint64_t)(table[at] & 63) << shift;
        goes_on = (table[at] & 64) != 0;
    }
    return (value & 1) != 0 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Kinds of entries in the table of locations. */
enum {
    ONE_LINE = 10, /* this and the next two: 0, 1, 2 lines further */
    NO_COLUMNS = 13,
    LONG_FORM = 14,
    NO_LOCATION = 15
};

/* Entries of some bytes. The first one has bit 7 set, the kind of the entry,
 * and how many units of code it is for. */
static uint32_t
find_in_locations(const uint8_t *table, size_t length, int64_t line,
                  int64_t offset)
{
    int64_t end = 0;
    for (size_t i = 0; i < length;) {
        unsigned kind = table[i] >> 3 & 15;
        end += ((table[i] & 7) + 1) * UNIT;
        if (kind == NO_COLUMNS || kind == LONG_FORM)
            line += read_signed(table, length, i + 1);
        else if (kind >= ONE_LINE && kind < NO_COLUMNS)
            line += kind - ONE_LINE;
        if (offset < end)
            return kind != NO_LOCATION ? line_of(line) : 0;
        for (i++; i < length && (table[i] & 128) == 0;)
            i++;
    }
    return 0;
}

uint32_t
python_lines_at(enum script_lines form, const uint8_t *table, size_t length,
                int32_t first, int64_t offset)
{
    if (offset < 0)
        return line_of(first);
    switch (form) {
    case SCRIPT_LNOTAB:
        return find_in_lnotab(table, length, first, offset);
    case SCRIPT_LINES_310:
        return find_in_lines_310(table, length, first, offset);
    case SCRIPT_LOCATIONS:
        return find_in_locations(table, length, first, offset);
    case SCRIPT_NUMBERS:
        return offset <= INT32_MAX ? line_of((int32_t)offset) : 0;
    }
    return 0;
}
