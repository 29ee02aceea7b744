/* SPDX-License-Identifier: MIT */
/*
 * otlp_tables.c -- see otlp_tables.h. For the stack main -> work, both in /a,
 * the tables are
 *
 *    string_table    "", "/a", "native", "main", "work", ...
 *    mapping_table   {}, {filename 1, attribute build-id}
 *    function_table  {}, {name 3}, {name 4}
 *    location_table  {}, {mapping 1, address, lines [function 2]}, {... 1}
 *    stack_table     {}, {locations 1, 2}
 *
 * The address of a location is the one that was looked up (pprof.c).
 */
#include <string.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/clean.h"
#include "otlp_tables.h"

/* ROOM: limit of the bytes of a message without its arrays. TRACE_BYTES,
 * SPAN_BYTES: of the ids of a trace and of a span. */
enum { ROOM = 256, TRACE_BYTES = 16, SPAN_BYTES = 8 };

void *
otlp_tables_space(struct otlp_tables *tables, size_t size)
{
    static uint64_t spare[ROOM / sizeof(uint64_t)];
    void *space = intern_space(&tables->memory, size > 0 ? size : 1);
    if (space != NULL)
        return space;
    tables->failed = true;
    return size <= ROOM ? spare : NULL;
}

/* A message of this type with its defaults. */
#define NEW(tables, type, init)                               \
    ({                                                        \
        type *new_ = otlp_tables_space(tables, sizeof(type)); \
        *new_ = (type)init;                                   \
        new_;                                                 \
    })

/* Append ELEMENT to an array of a message. */
#define APPEND(tables, array, count, element) \
    do {                                      \
        if (ARRAY_GROW(array, count))         \
            (array)[(count)++] = (element);   \
        else                                  \
            (tables)->failed = true;          \
    } while (0)

/* The index of KEY. *IS_NEW: its element must be appended to the table. */
static int32_t
index_of(struct otlp_tables *tables, struct intern *keys, const void *key,
         size_t size, bool *is_new)
{
    uint32_t known = intern_count(keys);
    uint32_t number = intern_put(keys, key, size);
    *is_new = number == known && number <= INT32_MAX;
    if (number <= INT32_MAX)
        return (int32_t)number;
    tables->failed = true;
    return 0;
}

int32_t
otlp_tables_text(struct otlp_tables *tables, const char *text)
{
    uint32_t number = clean_put(&tables->texts, text, "");
    if (number <= INT32_MAX)
        return (int32_t)number;
    tables->failed = true;
    return 0;
}

char *
otlp_tables_string(struct otlp_tables *tables, const char *text)
{
    uint32_t number = clean_put(&tables->memory, text, "");
    if (number != INTERN_NONE)
        return (char *)intern_bytes(&tables->memory, number);
    tables->failed = true;
    return "";
}

Otlp__AnyValue *
otlp_tables_value(struct otlp_tables *tables, const char *text, int64_t number)
{
    Otlp__AnyValue *value = NEW(tables, Otlp__AnyValue, OTLP__ANY_VALUE__INIT);
    value->value_case = text != NULL ? OTLP__ANY_VALUE__VALUE_STRING_VALUE
                                     : OTLP__ANY_VALUE__VALUE_INT_VALUE;
    if (text != NULL)
        value->string_value = otlp_tables_string(tables, text);
    else
        value->int_value = number;
    return value;
}

int32_t
otlp_tables_attribute(struct otlp_tables *tables, const char *key,
                      const char *text, int64_t number, const char *unit)
{
    const char *clean = text != NULL ? otlp_tables_string(tables, text) : NULL;
    int64_t words[4] = {otlp_tables_text(tables, key),
                        otlp_tables_text(tables, unit),
                        (int64_t)(uintptr_t)clean, number};
    bool is_new;
    int32_t index =
        index_of(tables, &tables->attributes, words, sizeof(words), &is_new);
    if (!is_new)
        return index;
    Otlp__Attribute *attribute =
        NEW(tables, Otlp__Attribute, OTLP__ATTRIBUTE__INIT);
    attribute->key_strindex = (int32_t)words[0];
    attribute->unit_strindex = (int32_t)words[1];
    attribute->value = otlp_tables_value(tables, text, number);
    APPEND(tables, tables->dictionary.attribute_table,
           tables->dictionary.n_attribute_table, attribute);
    return index;
}

/* The index of a function. */
static int32_t
function_of(struct otlp_tables *tables, const struct symbol_frame *frame)
{
    const int32_t key[4] = {otlp_tables_text(tables, frame->function),
                            otlp_tables_text(tables, frame->linkage),
                            otlp_tables_text(tables, frame->file),
                            (int32_t)frame->start_line};
    bool is_new;
    int32_t index =
        index_of(tables, &tables->functions, key, sizeof(key), &is_new);
    if (!is_new)
        return index;
    Otlp__Function *function =
        NEW(tables, Otlp__Function, OTLP__FUNCTION__INIT);
    function->name_strindex = key[0];
    function->system_name_strindex = key[1];
    function->filename_strindex = key[2];
    function->start_line = frame->start_line;
    APPEND(tables, tables->dictionary.function_table,
           tables->dictionary.n_function_table, function);
    return index;
}

/* The kind of code at NODE, in OpenTelemetry's words; NULL if it is unknown.
 * Which runtime made code that is in no module is known by its file. */
static const char *
frame_type(const struct profile *profile, uint32_t node,
           const struct symbol *symbol)
{
    const char *dot = strrchr(symbol->frames[0].file, '.');
    if (profile_is_marker(profile, node))
        return NULL;
    if ((profile->nodes[node].flags & NODE_PHP) != 0)
        return "php";
    if (profile_is_script(profile, node) ||
        (dot != NULL && strcmp(dot, ".py") == 0))
        return "cpython";
    return profile->nodes[node].module != 0 ? "native" : NULL;
}

/* Give LOCATION the lines of SYMBOL. */
static void
set_lines(struct otlp_tables *tables, Otlp__Location *location,
          const struct symbol *symbol)
{
    location->lines =
        otlp_tables_space(tables, symbol->count * sizeof(*location->lines));
    for (unsigned i = 0; location->lines != NULL && i < symbol->count; i++) {
        Otlp__Line *line = NEW(tables, Otlp__Line, OTLP__LINE__INIT);
        line->function_index = function_of(tables, &symbol->frames[i]);
        line->line = symbol->frames[i].line;
        location->lines[location->n_lines++] = line;
    }
}

/* Append the location of NODE at ADDRESS of MAPPING. */
static void
add_location(struct otlp_tables *tables, uint32_t node,
             const struct symbol *symbol, uint64_t address, uint32_t mapping)
{
    Otlp__Location *location =
        NEW(tables, Otlp__Location, OTLP__LOCATION__INIT);
    const char *type = frame_type(tables->profile, node, symbol);
    location->mapping_index = (int32_t)mapping;
    location->address = address;
    set_lines(tables, location, symbol);
    if (type != NULL) {
        location->attribute_indices =
            otlp_tables_space(tables, sizeof(*location->attribute_indices));
        location->attribute_indices[0] =
            otlp_tables_attribute(tables, "profile.frame.type", type, 0, "");
        location->n_attribute_indices = 1;
    }
    APPEND(tables, tables->dictionary.location_table,
           tables->dictionary.n_location_table, location);
}

/* The index of the location of NODE. Nodes with the same address are one
 * location. A marker has no address, and a node outside the module that it
 * names has no mapping. */
static int32_t
location_of(struct otlp_tables *tables, uint32_t node)
{
    struct profile *profile = tables->profile;
    if (tables->by_node[node] != 0)
        return tables->by_node[node];
    uint32_t mapping = profile->nodes[node].module;
    const struct profile_module *module = &profile->modules[mapping];
    const struct symbol *symbol = naming_symbol(profile, node);
    uint64_t address = 0;
    if (!profile_is_marker(profile, node))
        address = module->base + profile_offset(profile, node);
    if (mapping != 0 && (address < module->start || address >= module->end))
        mapping = 0;
    const uint64_t key[3] = {(uintptr_t)symbol, address, mapping};
    bool is_new;
    int32_t index =
        index_of(tables, &tables->locations, key, sizeof(key), &is_new);
    if (is_new)
        add_location(tables, node, symbol, address, mapping);
    tables->by_node[node] = index;
    return index;
}

int32_t
otlp_tables_stack(struct otlp_tables *tables, uint32_t node)
{
    const struct profile *profile = tables->profile;
    size_t depth = 0;
    bool is_new;
    if (tables->failed)
        return 0;
    for (uint32_t i = node; i != 0; i = profile->nodes[i].parent)
        tables->path[depth++] = location_of(tables, i);
    size_t size = depth * sizeof(*tables->path);
    int32_t index =
        index_of(tables, &tables->stacks, tables->path, size, &is_new);
    if (!is_new)
        return index;
    Otlp__Stack *stack = NEW(tables, Otlp__Stack, OTLP__STACK__INIT);
    stack->n_location_indices = depth;
    /* The key is the array. */
    stack->location_indices =
        (int32_t *)intern_bytes(&tables->stacks, (uint32_t)index);
    APPEND(tables, tables->dictionary.stack_table,
           tables->dictionary.n_stack_table, stack);
    return index;
}

/* Set SIZE BYTES from the digits of TEXT. Returns whether it has as many
 * digits, and not all are 0. */
static bool
parse_hexadecimal(const char *text, uint8_t *bytes, size_t size)
{
    bool any = false;
    if (strlen(text) != 2 * size)
        return false;
    for (size_t i = 0; i < 2 * size; i++) {
        static const char digits[] = "0123456789abcdef";
        char letter = text[i] >= 'A' && text[i] <= 'F'
                          ? (char)(text[i] - 'A' + 'a')
                          : text[i];
        const char *at = strchr(digits, letter);
        if (at == NULL)
            return false;
        uint8_t value = (uint8_t)(at - digits);
        any |= value != 0;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | value);
    }
    return any;
}

/* Append the link with the ids at BYTES, which has no element yet. */
static void
add_link(struct otlp_tables *tables, const uint8_t *bytes)
{
    Otlp__Link *link = NEW(tables, Otlp__Link, OTLP__LINK__INIT);
    link->trace_id = (ProtobufCBinaryData){TRACE_BYTES, (uint8_t *)bytes};
    link->span_id =
        (ProtobufCBinaryData){SPAN_BYTES, (uint8_t *)bytes + TRACE_BYTES};
    APPEND(tables, tables->dictionary.link_table,
           tables->dictionary.n_link_table, link);
}

int32_t
otlp_tables_link(struct otlp_tables *tables, const char *trace,
                 const char *span)
{
    uint8_t ids[TRACE_BYTES + SPAN_BYTES] = {0};
    bool is_new;
    if (!parse_hexadecimal(trace, ids, TRACE_BYTES) ||
        !parse_hexadecimal(span, ids + TRACE_BYTES, SPAN_BYTES))
        return 0;
    int32_t index = index_of(tables, &tables->links, ids, sizeof(ids), &is_new);
    if (is_new)
        add_link(tables, intern_bytes(&tables->links, (uint32_t)index));
    return index;
}

/* Append MODULE, or element 0, which has nothing. */
static void
add_mapping(struct otlp_tables *tables, const struct profile_module *module)
{
    Otlp__Mapping *mapping = NEW(tables, Otlp__Mapping, OTLP__MAPPING__INIT);
    mapping->memory_start = module->start;
    mapping->memory_limit = module->end;
    mapping->filename_strindex = otlp_tables_text(tables, module->path);
    if (module->build_id[0] != '\0') {
        mapping->attribute_indices =
            otlp_tables_space(tables, sizeof(*mapping->attribute_indices));
        mapping->attribute_indices[0] =
            otlp_tables_attribute(tables, "process.executable.build_id.gnu",
                                  module->build_id, 0, "");
        mapping->n_attribute_indices = 1;
    }
    APPEND(tables, tables->dictionary.mapping_table,
           tables->dictionary.n_mapping_table, mapping);
}

/* Append element 0 of each table. Its key is that of no other element. */
static void
add_nothing(struct otlp_tables *tables)
{
    static const uint8_t no_ids[TRACE_BYTES + SPAN_BYTES];
    Otlp__Dictionary *to = &tables->dictionary;
    static const char key[] = "-";
    bool is_new;
    (void)otlp_tables_text(tables, "");
    (void)index_of(tables, &tables->functions, key, 1, &is_new);
    APPEND(tables, to->function_table, to->n_function_table,
           NEW(tables, Otlp__Function, OTLP__FUNCTION__INIT));
    (void)index_of(tables, &tables->locations, key, 1, &is_new);
    APPEND(tables, to->location_table, to->n_location_table,
           NEW(tables, Otlp__Location, OTLP__LOCATION__INIT));
    (void)index_of(tables, &tables->stacks, key, 1, &is_new);
    APPEND(tables, to->stack_table, to->n_stack_table,
           NEW(tables, Otlp__Stack, OTLP__STACK__INIT));
    (void)index_of(tables, &tables->attributes, key, 1, &is_new);
    APPEND(tables, to->attribute_table, to->n_attribute_table,
           NEW(tables, Otlp__Attribute, OTLP__ATTRIBUTE__INIT));
    (void)index_of(tables, &tables->links, key, 1, &is_new);
    add_link(tables, no_ids);
}

void
otlp_tables_begin(struct otlp_tables *tables, struct profile *profile)
{
    *tables = (struct otlp_tables){.profile = profile};
    tables->dictionary = (Otlp__Dictionary)OTLP__DICTIONARY__INIT;
    if (!ARRAY_NEW(tables->by_node, profile->node_count) ||
        !ARRAY_NEW(tables->path, profile->node_count)) {
        tables->failed = true;
        return;
    }
    add_nothing(tables);
    for (uint32_t i = 0; i < profile->module_count; i++)
        add_mapping(tables, &profile->modules[i]);
}

int
otlp_tables_end(struct otlp_tables *tables)
{
    Otlp__Dictionary *to = &tables->dictionary;
    for (uint32_t i = 0; i < intern_count(&tables->texts); i++)
        APPEND(tables, to->string_table, to->n_string_table,
               (char *)intern_bytes(&tables->texts, i));
    return tables->failed ? -1 : 0;
}

void
otlp_tables_release(struct otlp_tables *tables)
{
    Otlp__Dictionary *of = &tables->dictionary;
    free(of->mapping_table);
    free(of->location_table);
    free(of->function_table);
    free(of->link_table);
    free(of->string_table);
    free(of->attribute_table);
    free(of->stack_table);
    intern_clear(&tables->texts);
    intern_clear(&tables->attributes);
    intern_clear(&tables->functions);
    intern_clear(&tables->locations);
    intern_clear(&tables->stacks);
    intern_clear(&tables->links);
    intern_clear(&tables->memory);
    free(tables->by_node);
    free(tables->path);
}
