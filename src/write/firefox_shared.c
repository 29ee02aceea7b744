/* SPDX-License-Identifier: MIT */
/*
 * firefox_shared.c -- writes each table of a Firefox profile as an object of
 * columns. A column is a walk over the rows:
 *
 *   "stackTable": {"frame": [0, 1, 2], "prefix": [null, 0, 1], "length": 3}
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/intern.h"
#include "firefox.h"

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

/* A column of a table: the number at OFFSET in each row, or WORD where it is
 * FIREFOX_NONE. CONSTANT: WORD in each row. ADDRESS: that of a frame. */
struct column {
    const char *name;
    size_t offset;
    const char *word;
};
#define CONSTANT SIZE_MAX
#define ADDRESS (SIZE_MAX - 1)
#define NUMBER(row, field) offsetof(struct firefox_##row, field)

/* A stack is a frame and the stack of its caller; a root has no caller. */
static const struct column stack_columns[] = {
    {"frame", NUMBER(stack, frame), ""},
    {"prefix", NUMBER(stack, prefix), "null"},
    {NULL, 0, NULL},
};

/* inlineDepth is 0 for the function to which the code belongs, 1 for a function
 * that is inlined there, and so on. */
static const struct column frame_columns[] = {
    {"address", ADDRESS, "-1"},
    {"inlineDepth", NUMBER(frame, depth), "0"},
    {"category", NUMBER(frame, category), "null"},
    {"subcategory", NUMBER(frame, subcategory), "null"},
    {"func", NUMBER(frame, function), ""},
    {"nativeSymbol", CONSTANT, "null"},
    {"innerWindowID", CONSTANT, "0"},
    {"line", NUMBER(frame, line), "null"},
    {"column", CONSTANT, "null"},
    {NULL, 0, NULL},
};

static const struct column function_columns[] = {
    {"name", NUMBER(function, name), ""},
    {"isJS", CONSTANT, "false"},
    {"relevantForJS", CONSTANT, "false"},
    {"resource", NUMBER(function, resource), "-1"},
    {"source", NUMBER(function, source), "null"},
    {"lineNumber", CONSTANT, "null"},
    {"columnNumber", CONSTANT, "null"},
    {NULL, 0, NULL},
};

/* The origin of functions: in our profiles always a library, which is type 1.
 */
static const struct column resource_columns[] = {
    {"lib", NUMBER(resource, library), ""},
    {"name", NUMBER(resource, name), ""},
    {"host", CONSTANT, "null"},
    {"type", CONSTANT, "1"},
    {NULL, 0, NULL},
};

/* A row is the number of a string. */
static const struct column source_columns[] = {
    {"id", CONSTANT, "null"},           {"filename", 0, ""},
    {"startLine", CONSTANT, "1"},       {"startColumn", CONSTANT, "1"},
    {"sourceMapURL", CONSTANT, "null"}, {NULL, 0, NULL},
};

/* An address is written if the frame has a library and the address is below
 * 2^53. */
static void
write_cell(struct json *json, const struct column *column, const void *row)
{
    const struct firefox_frame *frame = row;
    if (column->offset == ADDRESS && frame->library != FIREFOX_NONE &&
        frame->address >> 53 == 0) {
        json_number(json, frame->address);
        return;
    }
    uint32_t number = FIREFOX_NONE;
    if (column->offset < ADDRESS)
        memcpy(&number, (const char *)row + column->offset, sizeof(number));
    if (number == FIREFOX_NONE)
        json_raw(json, column->word);
    else
        json_number(json, number);
}

static void
write_table(struct json *json, const char *name, const struct intern *table,
            const struct column *column)
{
    json_name_open(json, name, '{');
    for (; column->name != NULL; column++) {
        json_name_open(json, column->name, '[');
        for (uint32_t i = 0; i < intern_count(table); i++)
            write_cell(json, column, intern_bytes(table, i));
        json_close(json, ']');
    }
    json_name_number(json, "length", intern_count(table));
    json_close(json, '}');
}

/* The table of native symbols is empty: the addresses at which functions begin
 * are unknown. All names in the tables are indexes into "stringArray". */
void
firefox_shared_write(const struct firefox_tables *tables, struct json *json)
{
    json_name_open(json, "shared", '{');
    write_table(json, "stackTable", tables->stacks, stack_columns);
    write_table(json, "frameTable", tables->frames, frame_columns);
    write_table(json, "funcTable", tables->functions, function_columns);
    write_table(json, "resourceTable", tables->resources, resource_columns);
    json_name_raw(json, "nativeSymbols",
                  "{\"libIndex\":[],\"address\":[],\"name\":[],"
                  "\"functionSize\":[],\"length\":0}");
    write_table(json, "sources", tables->sources, source_columns);
    json_name_open(json, "stringArray", '[');
    for (uint32_t i = 0; i < intern_count(tables->strings); i++)
        json_string(json, intern_bytes(tables->strings, i));
    json_close(json, ']');
    json_close(json, '}');
}
