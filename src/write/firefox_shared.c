/* SPDX-License-Identifier: MIT */
/*
 * firefox_shared.c -- writes each table of a Firefox profile as an object of
 * columns. A column is a walk over the rows:
 *
 *   "stackTable": {"frame": [0, 1, 2], "prefix": [null, 0, 1], "length": 3}
 */
#include <elf.h>
#include <string.h>

#include "util/intern.h"
#include "util/json.h"
#include "firefox_tables.h"
#include "firefox_shared.h"

/* The system calls that threads waited in are subcategories of "Waiting". Every
 * category has "Other" as its first subcategory. */
void
firefox_shared_write_categories(const struct firefox_tables *tables,
                                struct json *json)
{
    static const char *const names[][2] = {
        [FIREFOX_OTHER] = {"Other", "grey"},
        [FIREFOX_RUNNING] = {"Running", "green"},
        [FIREFOX_WAITING] = {"Waiting", "blue"},
        [FIREFOX_RUNNABLE] = {"Waiting for a CPU", "orange"},
    };
    json_name_open(json, "categories", '[');
    for (unsigned i = FIREFOX_OTHER; i <= FIREFOX_RUNNABLE; i++) {
        json_open(json, '{');
        json_name_string(json, "name", names[i][0]);
        json_name_string(json, "color", names[i][1]);
        json_name_open(json, "subcategories", '[');
        json_string(json, "Other");
        for (uint32_t j = 0;
             i == FIREFOX_WAITING && j < intern_count(tables->calls); j++)
            json_string(json, intern_bytes(tables->calls, j));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* The first half of a build-id, in the order of a Windows GUID, and an age. */
static void
write_breakpad_id(struct json *json, const char *build_id)
{
    /* 0123456789abcdef... becomes 67452301AB89EFCD... */
    static const unsigned char order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
                                            8, 9, 10, 11, 12, 13, 14, 15};
    char text[2 * 16 + 2] = "";
    size_t length = strlen(build_id);
    for (unsigned i = 0; i < 2 * 16; i++) {
        size_t from = 2u * order[i / 2] + i % 2;
        char digit = from < length ? build_id[from] : '0';
        text[i] = digit >= 'a' ? (char)(digit - 'a' + 'A') : digit;
    }
    text[2 * 16] = '0';
    json_name_string(json, "breakpadId", text);
}

const char *
firefox_shared_machine(uint32_t machine)
{
    return machine == EM_AARCH64 ? "aarch64" : "x86_64";
}

/* An element of "libs". */
static void
write_library(const struct firefox_tables *tables, struct json *json,
              uint32_t number)
{
    const struct profile *profile = tables->profile;
    const struct profile_module *module = &profile->modules[number];
    uint32_t machine = profile->processes[module->process].machine;
    const char *name = profile_module_name(profile, number);
    json_open(json, '{');
    json_name_string(json, "arch", firefox_shared_machine(machine));
    json_name_string(json, "name", name);
    json_name_string(json, "path", module->path);
    json_name_string(json, "debugName", name);
    json_name_string(json, "debugPath", module->path);
    write_breakpad_id(json, module->build_id);
    json_name(json, "codeId");
    if (module->build_id[0] != '\0')
        json_string(json, module->build_id);
    else
        json_null(json);
    json_close(json, '}');
}

/* Several modules can be one library, which is written at the first of them. So
 * libraries stand in the order of their numbers. */
void
firefox_shared_write_libraries(const struct firefox_tables *tables,
                               struct json *json)
{
    uint32_t next = 0;
    json_name_open(json, "libs", '[');
    for (uint32_t i = 1; i < tables->profile->module_count; i++) {
        if (tables->libraries[i] != next)
            continue;
        write_library(tables, json, i);
        next++;
    }
    json_close(json, ']');
}

/* Write a number, or WORD if it is FIREFOX_NONE. */
static void
write_index(struct json *json, uint32_t number, const char *word)
{
    if (number == FIREFOX_NONE)
        json_raw(json, word);
    else
        json_number(json, number);
}

/* Write a column with COUNT times the same WORD. */
static void
write_constant(struct json *json, const char *name, uint32_t count,
               const char *word)
{
    json_name_open(json, name, '[');
    for (uint32_t i = 0; i < count; i++)
        json_raw(json, word);
    json_close(json, ']');
}

/* A column NAME with FIELD of each row of TABLE, WORD where it is FIREFOX_NONE.
 */
#define WRITE_COLUMN(json, name, table, row_type, field, word)  \
    do {                                                        \
        json_name_open(json, name, '[');                        \
        for (uint32_t at = 0; at < intern_count(table); at++) { \
            const row_type *row = intern_bytes(table, at);      \
            write_index(json, row->field, word);                \
        }                                                       \
        json_close(json, ']');                                  \
    } while (0)

/* All names in the other tables are indexes into this array. */
static void
write_strings(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "stringArray", '[');
    for (uint32_t i = 0; i < intern_count(tables->strings); i++)
        json_string(json, intern_bytes(tables->strings, i));
    json_close(json, ']');
}

/* A stack is a frame and the stack of its caller; a root has no caller. */
static void
write_stacks(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "stackTable", '{');
    WRITE_COLUMN(json, "frame", tables->stacks, struct firefox_stack, frame,
                 "");
    WRITE_COLUMN(json, "prefix", tables->stacks, struct firefox_stack, prefix,
                 "null");
    json_name_number(json, "length", intern_count(tables->stacks));
    json_close(json, '}');
}

/* An address is written if the frame has a library and the address is below
 * 2^53. */
static void
write_addresses(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "address", '[');
    for (uint32_t i = 0; i < intern_count(tables->frames); i++) {
        const struct firefox_frame *row = intern_bytes(tables->frames, i);
        if (row->library == FIREFOX_NONE || row->address >> 53 != 0)
            json_raw(json, "-1");
        else
            json_number(json, row->address);
    }
    json_close(json, ']');
}

/* Line 0 means unknown, which is null in this format. */
static void
write_lines(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "line", '[');
    for (uint32_t i = 0; i < intern_count(tables->frames); i++) {
        const struct firefox_frame *row = intern_bytes(tables->frames, i);
        write_index(json, row->line == 0 ? FIREFOX_NONE : row->line, "null");
    }
    json_close(json, ']');
}

/* inlineDepth is 0 for the function to which the code belongs, 1 for a function
 * that is inlined there, and so on. */
static void
write_frames(const struct firefox_tables *tables, struct json *json)
{
    uint32_t count = intern_count(tables->frames);
    json_name_open(json, "frameTable", '{');
    write_addresses(tables, json);
    WRITE_COLUMN(json, "inlineDepth", tables->frames, struct firefox_frame,
                 depth, "0");
    WRITE_COLUMN(json, "category", tables->frames, struct firefox_frame,
                 category, "null");
    WRITE_COLUMN(json, "subcategory", tables->frames, struct firefox_frame,
                 subcategory, "null");
    WRITE_COLUMN(json, "func", tables->frames, struct firefox_frame, function,
                 "");
    write_constant(json, "nativeSymbol", count, "null");
    write_constant(json, "innerWindowID", count, "0");
    write_lines(tables, json);
    write_constant(json, "column", count, "null");
    json_name_number(json, "length", count);
    json_close(json, '}');
}

static void
write_functions(const struct firefox_tables *tables, struct json *json)
{
    uint32_t count = intern_count(tables->functions);
    json_name_open(json, "funcTable", '{');
    WRITE_COLUMN(json, "name", tables->functions, struct firefox_function, name,
                 "");
    write_constant(json, "isJS", count, "false");
    write_constant(json, "relevantForJS", count, "false");
    WRITE_COLUMN(json, "resource", tables->functions, struct firefox_function,
                 resource, "-1");
    WRITE_COLUMN(json, "source", tables->functions, struct firefox_function,
                 source, "null");
    write_constant(json, "lineNumber", count, "null");
    write_constant(json, "columnNumber", count, "null");
    json_name_number(json, "length", count);
    json_close(json, '}');
}

/* Write the column NAME of TABLE, whose rows are numbers. Where TEXTS is not
 * NULL, the column has the texts of these numbers. */
static void
write_numbers(struct json *json, const char *name, const struct intern *table,
              const uint32_t *texts)
{
    json_name_open(json, name, '[');
    for (uint32_t i = 0; i < intern_count(table); i++) {
        uint32_t number = *(const uint32_t *)intern_bytes(table, i);
        json_number(json, texts != NULL ? texts[number] : number);
    }
    json_close(json, ']');
}

/* The origin of functions: in our profiles always a library, which is type 1.
 */
static void
write_resources(const struct firefox_tables *tables, struct json *json)
{
    uint32_t count = intern_count(tables->resources);
    json_name_open(json, "resourceTable", '{');
    write_numbers(json, "lib", tables->resources, NULL);
    write_numbers(json, "name", tables->resources, tables->library_names);
    write_constant(json, "host", count, "null");
    write_constant(json, "type", count, "1");
    json_name_number(json, "length", count);
    json_close(json, '}');
}

static void
write_sources(const struct firefox_tables *tables, struct json *json)
{
    uint32_t count = intern_count(tables->sources);
    json_name_open(json, "sources", '{');
    write_constant(json, "id", count, "null");
    write_numbers(json, "filename", tables->sources, NULL);
    write_constant(json, "startLine", count, "1");
    write_constant(json, "startColumn", count, "1");
    write_constant(json, "sourceMapURL", count, "null");
    json_name_number(json, "length", count);
    json_close(json, '}');
}

/* The table is empty: the addresses at which functions begin are unknown. */
static void
write_native_symbols(struct json *json)
{
    json_name_open(json, "nativeSymbols", '{');
    json_name_raw(json, "libIndex", "[]");
    json_name_raw(json, "address", "[]");
    json_name_raw(json, "name", "[]");
    json_name_raw(json, "functionSize", "[]");
    json_name_number(json, "length", 0);
    json_close(json, '}');
}

void
firefox_shared_write(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "shared", '{');
    write_stacks(tables, json);
    write_frames(tables, json);
    write_functions(tables, json);
    write_resources(tables, json);
    write_native_symbols(json);
    write_sources(tables, json);
    write_strings(tables, json);
    json_close(json, '}');
}
