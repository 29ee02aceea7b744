/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.c -- each table is an intern (util/intern.h) whose keys are
 * its rows. It is written as an object of columns, each a walk over the keys:
 *
 *   "stackTable": {"frame": [0, 1, 2], "prefix": [null, 0, 1], "length": 3}
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "firefox.h"

/* The category of a leaf; FIREFOX_NONE for its callers, which then have that of
 * theirs. */
struct shade {
    uint32_t category, subcategory;
};

/* String 0 is "" (firefox_tables_build), so a text becomes empty if memory is
 * short. */
uint32_t
firefox_tables_string(struct firefox_tables *tables, const char *text)
{
    uint32_t number = clean_put(tables->strings, text, "");
    return number == INTERN_NONE ? 0 : number;
}

/* Give each module the number of its library; modules of one file are one
 * library. Returns 0, or -1 if memory is short. */
static int
number_libraries(struct firefox_tables *tables)
{
    const struct profile *profile = tables->profile;
    struct intern *files = intern_new();
    bool failed = files == NULL;
    for (uint32_t i = 1; i < profile->module_count && !failed; i++) {
        const struct profile_module *module = &profile->modules[i];
        const char *const key[2] = {module->path, module->build_id};
        tables->libraries[i] = intern_put(files, key, sizeof(key));
        failed = tables->libraries[i] == INTERN_NONE;
        if (tables->libraries[i] == tables->library_count)
            tables->library_names[tables->library_count++] =
                firefox_tables_string(tables, profile_module_name(profile, i));
    }
    intern_free(files);
    return failed ? -1 : 0;
}

static uint32_t
source_of(struct firefox_tables *tables, const char *file)
{
    if (file[0] == '\0')
        return FIREFOX_NONE;
    uint32_t name = firefox_tables_string(tables, file);
    return intern_put(tables->sources, &name, sizeof(name));
}

/* Functions of one name differ by their file and their library. */
static uint32_t
function_of(struct firefox_tables *tables, const struct symbol_frame *frame,
            uint32_t library)
{
    struct firefox_function row = {
        .name = firefox_tables_string(tables, frame->function),
        .resource = FIREFOX_NONE,
        .source = source_of(tables, frame->file),
    };
    if (library != FIREFOX_NONE) {
        struct firefox_resource resource = {library,
                                            tables->library_names[library]};
        row.resource =
            intern_put(tables->resources, &resource, sizeof(resource));
    }
    return intern_put(tables->functions, &row, sizeof(row));
}

/* The category of the function of an interpreter at NODE. */
static uint32_t
language_of(const struct profile *profile, uint32_t node)
{
    return (profile->nodes[node].flags & NODE_PHP) != 0 ? FIREFOX_PHP
                                                        : FIREFOX_PYTHON;
}

/* The category of a frame of NODE, whose thread is in STATE; none: it is a
 * caller. A native caller must not have the category of a Python function that
 * called it. */
static struct shade
shade_of(const struct firefox_tables *tables, uint32_t node,
         const struct shade *state)
{
    bool is_idle = state->category == FIREFOX_WAITING ||
                   state->category == FIREFOX_RUNNABLE;
    if (!is_idle && profile_is_script(tables->profile, node))
        return (struct shade){language_of(tables->profile, node), 0};
    if (state->category == FIREFOX_NONE &&
        tables->last_category > FIREFOX_RUNNABLE)
        return (struct shade){FIREFOX_OTHER, 0};
    return *state;
}

/* The stack of frame I of SYMBOL, which is at NODE, on top of PREFIX. */
static uint32_t
add_frame(struct firefox_tables *tables, uint32_t node,
          const struct symbol *symbol, unsigned i, uint32_t prefix,
          const struct shade *state)
{
    const struct profile *profile = tables->profile;
    uint32_t number = profile->nodes[node].module;
    const struct profile_module *module = &profile->modules[number];
    uint32_t library = number != 0 ? tables->libraries[number] : FIREFOX_NONE;
    uint32_t line = symbol->frames[i].line;
    struct firefox_frame row;
    struct firefox_stack stack = {.prefix = prefix};
    /* A row is a key, and its padding is part of the key. */
    memset(&row, 0, sizeof(row));
    row.function = function_of(tables, &symbol->frames[i], library);
    row.library = library;
    row.depth = symbol->count - 1 - i;
    row.line = line > 0 ? line : FIREFOX_NONE;
    struct shade shade = shade_of(tables, node, state);
    row.category = shade.category;
    row.subcategory = shade.subcategory;
    if (library != FIREFOX_NONE && !profile_is_marker(profile, node))
        row.address =
            module->base + profile_offset(profile, node) - module->start;
    stack.frame = intern_put(tables->frames, &row, sizeof(row));
    return intern_put(tables->stacks, &stack, sizeof(stack));
}

/* The stack of NODE with its inlined functions; the innermost frame has STATE.
 */
static uint32_t
stack_at(struct firefox_tables *tables, uint32_t node,
         const struct shade *state)
{
    static const struct shade caller = {FIREFOX_NONE, FIREFOX_NONE};
    const struct symbol *symbol = naming_symbol(tables->profile, node);
    uint32_t parent = tables->profile->nodes[node].parent;
    uint32_t stack = parent != 0 ? tables->stack_of[parent] : FIREFOX_NONE;
    for (unsigned i = symbol->count; i-- > 0;)
        stack =
            add_frame(tables, node, symbol, i, stack, i == 0 ? state : &caller);
    return stack;
}

/* Make the stacks of all callers. A caller has a smaller number, so its stack
 * exists when it is needed. Returns 0, or -1 if memory is short. */
static int
make_callers(struct firefox_tables *tables)
{
    static const struct shade caller = {FIREFOX_NONE, FIREFOX_NONE};
    const struct profile *profile = tables->profile;
    bool *is_caller = calloc(profile->node_count, sizeof(*is_caller));
    if (is_caller == NULL)
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        uint32_t node = profile->nodes[profile->samples[i].node].parent;
        for (; node != 0 && !is_caller[node];
             node = profile->nodes[node].parent)
            is_caller[node] = true;
    }
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (is_caller[i])
            tables->stack_of[i] = stack_at(tables, i, &caller);
    free(is_caller);
    return 0;
}

/* Subcategory 0 is "Other", which every category has. */
static struct shade
state_of(struct firefox_tables *tables, const struct profile_sample *sample)
{
    bool is_gpu = sample_state_gpu(tables->profile, sample) != NULL;
    if (sample->state == STATE_RUNNING && !is_gpu)
        return (struct shade){FIREFOX_RUNNING, 0};
    if (sample->state == STATE_RUNQUEUE)
        return (struct shade){FIREFOX_RUNNABLE, 0};
    if (sample->system_call == SYSCALL_UNKNOWN && !is_gpu)
        return (struct shade){FIREFOX_WAITING, 0};
    const char *call = sample_state_name(tables->profile, sample);
    uint32_t number = clean_put(tables->calls, call, "");
    return (struct shade){FIREFOX_WAITING,
                          number == INTERN_NONE ? 0 : number + 1};
}

/* The category is part of the frame. So a stack has one leaf for each state
 * that was seen in it. */
static void
make_leaves(struct firefox_tables *tables)
{
    const struct profile *profile = tables->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct shade state = state_of(tables, sample);
        tables->sample_stack[i] = stack_at(tables, sample->node, &state);
    }
}

/* A row that could not be stored has the number INTERN_NONE, and every table
 * that refers to it is wrong. So no row may refer to INTERN_NONE. */
static bool
is_whole(const struct firefox_tables *tables)
{
    uint32_t stacks = intern_count(tables->stacks);
    for (uint32_t i = 0; i < stacks; i++) {
        const struct firefox_stack *stack = intern_bytes(tables->stacks, i);
        if (stack->frame == INTERN_NONE)
            return false;
        const struct firefox_frame *frame =
            intern_bytes(tables->frames, stack->frame);
        if (frame->function == INTERN_NONE)
            return false;
    }
    for (uint32_t i = 0; i < tables->profile->sample_count; i++)
        if (tables->sample_stack[i] >= stacks)
            return false;
    return true;
}

/* The last category that PROFILE needs. */
static unsigned
last_category(const struct profile *profile)
{
    unsigned last = FIREFOX_RUNNABLE;
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (profile_is_script(profile, i) && language_of(profile, i) > last)
            last = language_of(profile, i);
    return last;
}

int
firefox_tables_build(struct firefox_tables *tables, struct profile *profile)
{
    *tables = (struct firefox_tables){.profile = profile,
                                      .last_category = last_category(profile)};
    tables->strings = intern_new();
    tables->sources = intern_new();
    tables->resources = intern_new();
    tables->functions = intern_new();
    tables->frames = intern_new();
    tables->stacks = intern_new();
    tables->calls = intern_new();
    if (tables->strings == NULL || tables->sources == NULL ||
        tables->resources == NULL || tables->functions == NULL ||
        tables->frames == NULL || tables->stacks == NULL ||
        tables->calls == NULL ||
        !ARRAY_NEW(tables->libraries, profile->module_count) ||
        !ARRAY_NEW(tables->library_names, profile->module_count) ||
        !ARRAY_NEW(tables->stack_of, profile->node_count) ||
        !ARRAY_NEW(tables->sample_stack, profile->sample_count) ||
        intern_string(tables->strings, "") == INTERN_NONE ||
        number_libraries(tables) != 0 || make_callers(tables) != 0)
        goto err;
    make_leaves(tables);
    if (is_whole(tables))
        return 0;
err:
    errno = ENOMEM;
    return -1;
}

void
firefox_tables_release(struct firefox_tables *tables)
{
    intern_free(tables->strings);
    intern_free(tables->sources);
    intern_free(tables->resources);
    intern_free(tables->functions);
    intern_free(tables->frames);
    intern_free(tables->stacks);
    intern_free(tables->calls);
    free(tables->libraries);
    free(tables->library_names);
    free(tables->stack_of);
    free(tables->sample_stack);
}

/* The states in which threads waited are subcategories of "Waiting". Every
 * category has "Other" as its first subcategory. */
void
firefox_tables_write_categories(const struct firefox_tables *tables,
                                struct json *json)
{
    static const char *const names[][2] = {
        [FIREFOX_OTHER] = {"Other", "grey"},
        [FIREFOX_RUNNING] = {"Running", "green"},
        [FIREFOX_WAITING] = {"Waiting", "blue"},
        [FIREFOX_RUNNABLE] = {"Waiting for a CPU", "orange"},
        [FIREFOX_PYTHON] = {"Python", "yellow"},
        [FIREFOX_PHP] = {"PHP", "purple"},
    };
    json_name_open(json, "categories", '[');
    for (unsigned i = FIREFOX_OTHER; i <= tables->last_category; i++) {
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
firefox_tables_machine(uint32_t machine)
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
    json_name_string(json, "arch", firefox_tables_machine(machine));
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
firefox_tables_write_libraries(const struct firefox_tables *tables,
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
firefox_tables_write(const struct firefox_tables *tables, struct json *json)
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
