/* SPDX-License-Identifier: MIT */
/*
 * pprof_tables.c -- reads tables of a file of any origin. So every
 * length, id and number is checked. A file that refers to something that it
 * lacks is refused as a whole, as by `go tool pprof`.
 *
 * Names come from the file, so that a profile can be read where its program is
 * missing. The symbols made of them live in a block of the profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/naming.h"
#include "util/array.h"
#include "util/intern.h"
#include "pprof_tables.h"

int
pprof_tables_refuse(struct pprof_tables *tables, const char *wrong)
{
    tables->wrong = wrong;
    return -1;
}

/* For errors that cannot be told more exactly: a length or a type is wrong. */
static int
refuse_damaged(struct pprof_tables *tables)
{
    return pprof_tables_refuse(tables, "it is damaged");
}

int
pprof_tables_each(struct pprof_tables *tables, struct wire whole,
                  enum pprof_field number,
                  int (*use)(struct pprof_tables *, struct wire))
{
    struct wire_field field;
    while (wire_next(&whole, &field)) {
        if (field.number != (uint32_t)number)
            continue;
        if (field.type != WIRE_BYTES)
            return refuse_damaged(tables);
        if (use(tables, field.bytes) != 0)
            return -1;
    }
    return whole.is_damaged ? refuse_damaged(tables) : 0;
}

/* A text is made clean when it is asked for (pprof_tables_text); here only its
 * place is noted. */
static int
add_text(struct pprof_tables *tables, struct wire text)
{
    if (!ARRAY_GROW(tables->texts, tables->text_count))
        return -1;
    tables->texts[tables->text_count++] = (struct pprof_text){.raw = text};
    return 0;
}

/* A text ends at a NUL, if it has one. */
const char *
pprof_tables_text(struct pprof_tables *tables, uint64_t number)
{
    if (number >= tables->text_count) {
        pprof_tables_refuse(tables, "it refers to a text that it lacks");
        return NULL;
    }
    struct pprof_text *text = &tables->texts[number];
    if (text->clean != NULL)
        return text->clean;
    char *copy = strndup((const char *)text->raw.at,
                         (size_t)(text->raw.end - text->raw.at));
    if (copy == NULL)
        return NULL;
    text->clean = profile_string(tables->profile, copy);
    free(copy);
    return text->clean;
}

int
pprof_tables_numbers(struct pprof_tables *tables, struct wire message,
                     uint64_t *numbers, unsigned count)
{
    memset(numbers, 0, count * sizeof(*numbers));
    struct wire_field field;
    while (wire_next(&message, &field))
        if (field.number < count && field.type == WIRE_NUMBER)
            numbers[field.number] = field.value;
    return message.is_damaged ? refuse_damaged(tables) : 0;
}

/* Give ID the index NEXT. */
static int
define_id(struct pprof_tables *tables, struct intern *ids, uint64_t id,
          uint32_t next)
{
    uint32_t number = intern_put(ids, &id, sizeof(id));
    if (number == INTERN_NONE)
        return -1;
    if (id == 0 || number != next)
        return pprof_tables_refuse(tables, "it has an id twice, or 0 as one");
    return 0;
}

/* Fields 7 to 10 of pprof.proto's Mapping, has_functions to has_inline_frames,
 * are the four bits of enum module_names. */
static int
add_mapping(struct pprof_tables *tables, struct wire message)
{
    enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID, FIRST_NAMES };
    if (!ARRAY_GROW(tables->mappings, tables->mapping_count))
        return -1;
    uint64_t numbers[FIRST_NAMES + 4];
    if (pprof_tables_numbers(tables, message, numbers, FIRST_NAMES + 4) != 0 ||
        define_id(tables, &tables->mapping_ids, numbers[ID],
                  tables->mapping_count) != 0)
        return -1;
    struct pprof_mapping *mapping = &tables->mappings[tables->mapping_count++];
    *mapping = (struct pprof_mapping){
        .start = numbers[START],
        .limit = numbers[LIMIT],
        .offset = numbers[OFFSET],
        .path = pprof_tables_text(tables, numbers[FILENAME]),
        .build_id = pprof_tables_text(tables, numbers[BUILD_ID]),
    };
    for (unsigned i = 0; i < 4; i++)
        if (numbers[FIRST_NAMES + i] != 0)
            mapping->names |= 1u << i;
    return mapping->path == NULL || mapping->build_id == NULL ? -1 : 0;
}

static int
add_function(struct pprof_tables *tables, struct wire message)
{
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE, COUNT };
    if (!ARRAY_GROW(tables->functions, tables->function_count))
        return -1;
    uint64_t numbers[COUNT];
    if (pprof_tables_numbers(tables, message, numbers, COUNT) != 0 ||
        define_id(tables, &tables->function_ids, numbers[ID],
                  tables->function_count) != 0)
        return -1;
    struct symbol_frame *function =
        &tables->functions[tables->function_count++];
    *function = (struct symbol_frame){
        .function = pprof_tables_text(tables, numbers[NAME]),
        .linkage = pprof_tables_text(tables, numbers[SYSTEM_NAME]),
        .file = pprof_tables_text(tables, numbers[FILENAME]),
        .start_line = (unsigned)numbers[START_LINE],
    };
    if (function->function == NULL || function->linkage == NULL ||
        function->file == NULL)
        return -1;
    function->function =
        naming_spell(tables->profile, function->function, function->linkage);
    return function->function == NULL ? -1 : 0;
}

/* A first pass counts the locations. Symbols of the second pass are pointed to,
 * so they must not move. */
static int
count_location(struct pprof_tables *tables, struct wire message)
{
    (void)message;
    tables->location_count++;
    return 0;
}

/* Name a location "module+0xoffset", like a place in a file without symbols. */
static int
make_nameless(struct pprof_tables *tables, struct pprof_location *location,
              struct symbol_frame *frame)
{
    uint64_t offset = location->address;
    const char *name = "";
    if (location->mapping != PPROF_NO_MAPPING) {
        const struct pprof_mapping *mapping =
            &tables->mappings[location->mapping];
        offset = offset - mapping->start + mapping->offset;
        name = path_name(mapping->path);
    }
    char text[300];
    snprintf(text, sizeof(text), "%.250s%s0x%llx", name,
             name[0] != '\0' ? "+" : "", (unsigned long long)offset);
    *frame = (struct symbol_frame){.file = ""};
    frame->function = frame->linkage = profile_string(tables->profile, text);
    location->symbol.count = 1;
    location->symbol.named = false;
    return frame->function == NULL ? -1 : 0;
}

static int
add_line(struct pprof_tables *tables, struct pprof_location *location,
         struct symbol_frame *frames, struct wire message)
{
    enum { FUNCTION = 1, LINE, COUNT };
    uint64_t numbers[COUNT];
    if (pprof_tables_numbers(tables, message, numbers, COUNT) != 0)
        return -1;
    uint32_t function = intern_find(&tables->function_ids, &numbers[FUNCTION],
                                    sizeof(uint64_t));
    if (function == INTERN_NONE)
        return pprof_tables_refuse(tables,
                                   "it refers to a function that it lacks");
    frames[location->symbol.count] = tables->functions[function];
    frames[location->symbol.count++].line =
        numbers[LINE] <= INT32_MAX ? (unsigned)numbers[LINE] : 0;
    return 0;
}

/* Read the frames of a location into a block of the profile, because symbols
 * point to it for as long as the profile lives. */
static int
read_lines(struct pprof_tables *tables, struct pprof_location *location,
           struct wire message)
{
    enum { LINE = 4 };
    struct wire look = message;
    size_t count = 0;
    struct wire_field field;
    while (wire_next(&look, &field))
        count += field.number == LINE && field.type == WIRE_BYTES;
    struct symbol_frame *frames =
        profile_block(tables->profile, (count + 1) * sizeof(*frames));
    if (frames == NULL)
        return -1;
    location->symbol.named = true;
    location->symbol.frames = frames;
    while (wire_next(&message, &field))
        if (field.number == LINE && field.type == WIRE_BYTES &&
            add_line(tables, location, frames, field.bytes) != 0)
            return -1;
    return count > 0 ? 0 : make_nameless(tables, location, frames);
}

/* Recognise what our own writer says for a marker (naming_symbol). */
static void
recognize_marker(struct pprof_location *location)
{
    static const struct {
        const char *name;
        uint32_t flags, known_node;
    } markers[] = {
        {"[truncated]", NODE_TRUNCATED, 0},
        {"[frames elided]", NODE_ELIDED, 0},
        {"[caller guessed]", NODE_GUESSED, 0},
        {"[no stack]", NODE_TRUNCATED, PROFILE_NO_STACK},
        {PROFILE_NOT_SAMPLED_NAME, NODE_TRUNCATED, PROFILE_NOT_SAMPLED},
    };
    const struct symbol *symbol = &location->symbol;
    if (symbol->count != 1 || location->address != 0 ||
        location->mapping != PPROF_NO_MAPPING)
        return;
    for (unsigned i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
        if (strcmp(symbol->frames[0].function, markers[i].name) != 0)
            continue;
        location->flags = markers[i].flags;
        location->known_node = markers[i].known_node;
    }
}

/* Recognise a symbol without a name, which is called after its file. */
static void
recognize_nameless(struct pprof_location *location)
{
    const char *name = location->symbol.frames[0].function;
    const char *plus = strstr(name, "+0x");
    if (location->symbol.count == 1 && location->symbol.frames[0].line == 0 &&
        ((plus != NULL &&
          plus[strspn(plus + 3, "0123456789abcdef") + 3] == '\0') ||
         (name[0] == '0' && name[1] == 'x')))
        location->symbol.named = false;
}

/* Its mapping must have been read before. Its lines refer to functions,
 * innermost first, as the frames of a symbol do. */
static int
add_location(struct pprof_tables *tables, struct wire message)
{
    enum { ID = 1, MAPPING, ADDRESS, COUNT };
    struct pprof_location *location =
        &tables->locations[tables->location_count];
    uint64_t numbers[COUNT];
    if (pprof_tables_numbers(tables, message, numbers, COUNT) != 0 ||
        define_id(tables, &tables->location_ids, numbers[ID],
                  tables->location_count) != 0)
        return -1;
    tables->location_count++;
    location->address = numbers[ADDRESS];
    location->mapping = PPROF_NO_MAPPING;
    if (numbers[MAPPING] != 0) {
        location->mapping = intern_find(&tables->mapping_ids, &numbers[MAPPING],
                                        sizeof(uint64_t));
        if (location->mapping == INTERN_NONE)
            return pprof_tables_refuse(tables,
                                       "it refers to a mapping that it lacks");
    }
    if (read_lines(tables, location, message) != 0)
        return -1;
    recognize_marker(location);
    recognize_nameless(location);
    return 0;
}

int
pprof_tables_read(struct pprof_tables *tables, struct profile *profile,
                  struct wire whole)
{
    *tables = (struct pprof_tables){.profile = profile};
    if (pprof_tables_each(tables, whole, PPROF_STRING, add_text) != 0 ||
        pprof_tables_each(tables, whole, PPROF_MAPPING, add_mapping) != 0 ||
        pprof_tables_each(tables, whole, PPROF_FUNCTION, add_function) != 0 ||
        pprof_tables_each(tables, whole, PPROF_LOCATION, count_location) != 0)
        return -1;
    tables->locations = profile_block(profile, (tables->location_count + 1u) *
                                                   sizeof(*tables->locations));
    if (tables->locations == NULL)
        return -1;
    tables->location_count = 0;
    return pprof_tables_each(tables, whole, PPROF_LOCATION, add_location);
}

void
pprof_tables_release(struct pprof_tables *tables)
{
    intern_clear(&tables->mapping_ids);
    intern_clear(&tables->function_ids);
    intern_clear(&tables->location_ids);
    free(tables->texts);
    free(tables->mappings);
    free(tables->functions);
}
