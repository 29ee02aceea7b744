/* SPDX-License-Identifier: MIT */
/*
 * pprof_file.c -- reads the tables of a file of any origin, then its samples
 * one by one. So every length, id and number is checked. A file with a
 * reference to a missing part is refused as a whole, as by `go tool pprof`.
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
#include "pprof_file.h"

enum { TYPES_MOST = 64 };

int
pprof_file_refuse(struct pprof_file *file, const char *wrong)
{
    file->wrong = wrong;
    return -1;
}

/* For errors without a more exact text: a length or a type is wrong. */
static int
refuse_damaged(struct pprof_file *file)
{
    return pprof_file_refuse(file, "it is damaged");
}

int
pprof_file_each(struct pprof_file *file, struct wire whole,
                enum pprof_field number,
                int (*use)(struct pprof_file *, struct wire))
{
    struct wire_field field;
    while (wire_next(&whole, &field)) {
        if (field.number != (uint32_t)number)
            continue;
        if (field.type != WIRE_BYTES)
            return refuse_damaged(file);
        if (use(file, field.bytes) != 0)
            return -1;
    }
    return whole.is_damaged ? refuse_damaged(file) : 0;
}

/* A text is made clean when it is asked for (pprof_file_text); here only its
 * place is noted. */
static int
add_text(struct pprof_file *file, struct wire text)
{
    if (!ARRAY_GROW(file->texts, file->text_count))
        return -1;
    file->texts[file->text_count++] = (struct pprof_text){.raw = text};
    return 0;
}

/* A text ends at a NUL, if it has one. */
const char *
pprof_file_text(struct pprof_file *file, uint64_t number)
{
    if (number >= file->text_count) {
        pprof_file_refuse(file, "it refers to a text that it lacks");
        return NULL;
    }
    struct pprof_text *text = &file->texts[number];
    if (text->clean != NULL)
        return text->clean;
    char *copy = strndup((const char *)text->raw.at,
                         (size_t)(text->raw.end - text->raw.at));
    if (copy == NULL)
        return NULL;
    text->clean = profile_string(file->profile, copy);
    free(copy);
    return text->clean;
}

/* Read the numbers of MESSAGE's fields below COUNT, the last of each. Fields
 * that are no numbers are left at 0. Returns 0, or -1 with FILE->wrong set. */
static int
read_numbers(struct pprof_file *file, struct wire message, uint64_t *numbers,
             unsigned count)
{
    memset(numbers, 0, count * sizeof(*numbers));
    struct wire_field field;
    while (wire_next(&message, &field))
        if (field.number < count && field.type == WIRE_NUMBER)
            numbers[field.number] = field.value;
    return message.is_damaged ? refuse_damaged(file) : 0;
}

/* Give ID the index NEXT. */
static int
define_id(struct pprof_file *file, struct intern *ids, uint64_t id,
          uint32_t next)
{
    uint32_t number = intern_put(ids, &id, sizeof(id));
    if (number == INTERN_NONE)
        return -1;
    if (id == 0 || number != next)
        return pprof_file_refuse(file, "it has an id twice, or 0 as one");
    return 0;
}

/* Recognise our own writer's form for functions of an interpreter: a mapping
 * without addresses, with the name of the language. */
static void
recognize_script(struct pprof_mapping *mapping)
{
    if (mapping->limit != 0)
        return;
    if (strcmp(mapping->path, PROFILE_PYTHON) == 0)
        mapping->script = NODE_SCRIPT;
    else if (strcmp(mapping->path, PROFILE_PHP) == 0)
        mapping->script = NODE_SCRIPT | NODE_PHP;
}

/* Fields 7 to 10 of pprof.proto's Mapping, has_functions to has_inline_frames,
 * are the four bits of enum module_names. */
static int
add_mapping(struct pprof_file *file, struct wire message)
{
    enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID, FIRST_NAMES };
    if (!ARRAY_GROW(file->mappings, file->mapping_count))
        return -1;
    uint64_t numbers[FIRST_NAMES + 4];
    if (read_numbers(file, message, numbers, FIRST_NAMES + 4) != 0 ||
        define_id(file, &file->mapping_ids, numbers[ID], file->mapping_count) !=
            0)
        return -1;
    struct pprof_mapping *mapping = &file->mappings[file->mapping_count++];
    *mapping = (struct pprof_mapping){
        .start = numbers[START],
        .limit = numbers[LIMIT],
        .offset = numbers[OFFSET],
        .path = pprof_file_text(file, numbers[FILENAME]),
        .build_id = pprof_file_text(file, numbers[BUILD_ID]),
    };
    for (unsigned i = 0; i < 4; i++)
        if (numbers[FIRST_NAMES + i] != 0)
            mapping->names |= 1u << i;
    if (mapping->path == NULL || mapping->build_id == NULL)
        return -1;
    recognize_script(mapping);
    return 0;
}

static int
add_function(struct pprof_file *file, struct wire message)
{
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE, COUNT };
    if (!ARRAY_GROW(file->functions, file->function_count))
        return -1;
    uint64_t numbers[COUNT];
    if (read_numbers(file, message, numbers, COUNT) != 0 ||
        define_id(file, &file->function_ids, numbers[ID],
                  file->function_count) != 0)
        return -1;
    struct pprof_function *place = &file->functions[file->function_count++];
    struct symbol_frame *function = &place->frame;
    *place = (struct pprof_function){0};
    *function = (struct symbol_frame){
        .function = pprof_file_text(file, numbers[NAME]),
        .linkage = pprof_file_text(file, numbers[SYSTEM_NAME]),
        .file = pprof_file_text(file, numbers[FILENAME]),
        .start_line = (unsigned)numbers[START_LINE],
    };
    if (function->function == NULL || function->linkage == NULL ||
        function->file == NULL)
        return -1;
    const char *name = function->function;
    function->function = naming_spell(file->profile, name, function->linkage);
    if (function->function == NULL)
        return -1;
    /* A name that differs from the linker's was chosen by the writer. */
    if (name[0] == '\0' || strcmp(name, function->linkage) == 0)
        name = function->function;
    place->is_dropped = prune_is_dropped(&file->prune, name);
    return 0;
}

/* A first pass counts the locations. Symbols of the second pass are pointed to,
 * so they must not move. */
static int
count_location(struct pprof_file *file, struct wire message)
{
    (void)message;
    file->location_count++;
    return 0;
}

/* Name a location "module+0xoffset", like a place in a file without symbols. */
static int
make_nameless(struct pprof_file *file, struct pprof_location *location,
              struct symbol_frame *frame)
{
    uint64_t offset = location->address;
    const char *name = "";
    if (location->mapping != PPROF_NO_MAPPING) {
        const struct pprof_mapping *mapping =
            &file->mappings[location->mapping];
        offset = offset - mapping->start + mapping->offset;
        name = path_name(mapping->path);
    }
    char text[300];
    snprintf(text, sizeof(text), "%.250s%s0x%llx", name,
             name[0] != '\0' ? "+" : "", (unsigned long long)offset);
    *frame = (struct symbol_frame){.file = ""};
    frame->function = frame->linkage = profile_string(file->profile, text);
    location->symbol.count = 1;
    location->symbol.named = false;
    return frame->function == NULL ? -1 : 0;
}

/* *DROPPED becomes the number of frames, if this one is dropped. */
static int
add_line(struct pprof_file *file, struct pprof_location *location,
         struct symbol_frame *frames, unsigned *dropped, struct wire message)
{
    enum { FUNCTION = 1, LINE, COUNT };
    uint64_t numbers[COUNT];
    if (read_numbers(file, message, numbers, COUNT) != 0)
        return -1;
    uint32_t function =
        intern_find(&file->function_ids, &numbers[FUNCTION], sizeof(uint64_t));
    if (function == INTERN_NONE)
        return pprof_file_refuse(file, "it refers to a function that it lacks");
    frames[location->symbol.count] = file->functions[function].frame;
    frames[location->symbol.count++].line =
        numbers[LINE] <= INT32_MAX ? (unsigned)numbers[LINE] : 0;
    if (file->functions[function].is_dropped)
        *dropped = location->symbol.count;
    return 0;
}

/* The innermost COUNT frames of LOCATION are dropped, but not all of its
 * frames: then all stay, in case the location begins a stack. */
static void
drop_frames(struct pprof_location *location, unsigned count)
{
    location->is_cut = count > 0;
    location->is_dropped = count == location->symbol.count && count > 0;
    if (location->is_dropped)
        return;
    location->symbol.frames += count;
    location->symbol.count -= count;
}

/* Read the frames of a location into a block of the profile, because symbols
 * point to it for as long as the profile lives. */
static int
read_lines(struct pprof_file *file, struct pprof_location *location,
           struct wire message)
{
    enum { LINE = 4 };
    struct wire look = message;
    size_t count = 0;
    unsigned dropped = 0;
    struct wire_field field;
    while (wire_next(&look, &field))
        count += field.number == LINE && field.type == WIRE_BYTES;
    struct symbol_frame *frames =
        profile_block(file->profile, (count + 1) * sizeof(*frames));
    if (frames == NULL)
        return -1;
    location->symbol.named = true;
    location->symbol.frames = frames;
    while (wire_next(&message, &field))
        if (field.number == LINE && field.type == WIRE_BYTES &&
            add_line(file, location, frames, &dropped, field.bytes) != 0)
            return -1;
    drop_frames(location, dropped);
    return count > 0 ? 0 : make_nameless(file, location, frames);
}

/* Recognise our own writer's form for a marker (naming_symbol). */
static void
recognize_marker(struct pprof_location *location)
{
    const struct symbol *symbol = &location->symbol;
    if (symbol->count != 1 || location->address != 0 ||
        location->mapping != PPROF_NO_MAPPING)
        return;
    for (unsigned i = 0; i < NAMING_MARKERS; i++) {
        if (strcmp(symbol->frames[0].function,
                   naming_markers[i].frame.function) != 0)
            continue;
        location->flags = naming_markers[i].flags;
        location->known_node = naming_markers[i].node;
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
add_location(struct pprof_file *file, struct wire message)
{
    enum { ID = 1, MAPPING, ADDRESS, COUNT };
    struct pprof_location *location = &file->locations[file->location_count];
    uint64_t numbers[COUNT];
    if (read_numbers(file, message, numbers, COUNT) != 0 ||
        define_id(file, &file->location_ids, numbers[ID],
                  file->location_count) != 0)
        return -1;
    file->location_count++;
    location->address = numbers[ADDRESS];
    location->mapping = PPROF_NO_MAPPING;
    if (numbers[MAPPING] != 0) {
        location->mapping = intern_find(&file->mapping_ids, &numbers[MAPPING],
                                        sizeof(uint64_t));
        if (location->mapping == INTERN_NONE)
            return pprof_file_refuse(file,
                                     "it refers to a mapping that it lacks");
    }
    if (read_lines(file, location, message) != 0)
        return -1;
    recognize_marker(location);
    recognize_nameless(location);
    return 0;
}

/* They are read before the functions, wherever they are. */
static int
read_prune(struct pprof_file *file, struct wire whole)
{
    uint64_t numbers[PPROF_KEEP_FRAMES + 1];
    if (read_numbers(file, whole, numbers, PPROF_KEEP_FRAMES + 1) != 0)
        return -1;
    file->drop_frames = pprof_file_text(file, numbers[PPROF_DROP_FRAMES]);
    file->keep_frames = pprof_file_text(file, numbers[PPROF_KEEP_FRAMES]);
    if (file->drop_frames == NULL || file->keep_frames == NULL)
        return -1;
    file->is_not_pruned =
        prune_begin(&file->prune, file->drop_frames, file->keep_frames) != 0;
    return 0;
}

int
pprof_file_read(struct pprof_file *file, struct profile *profile,
                struct wire whole)
{
    *file = (struct pprof_file){.profile = profile};
    if (pprof_file_each(file, whole, PPROF_STRING, add_text) != 0 ||
        read_prune(file, whole) != 0 ||
        pprof_file_each(file, whole, PPROF_MAPPING, add_mapping) != 0 ||
        pprof_file_each(file, whole, PPROF_FUNCTION, add_function) != 0 ||
        pprof_file_each(file, whole, PPROF_LOCATION, count_location) != 0)
        return -1;
    file->locations = profile_block(profile, (file->location_count + 1u) *
                                                 sizeof(*file->locations));
    if (file->locations == NULL)
        return -1;
    file->location_count = 0;
    return pprof_file_each(file, whole, PPROF_LOCATION, add_location);
}

/* The result is 0 for words that are no time, such as "count" and "bytes". */
uint64_t
pprof_file_unit(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t scale;
    } units[] = {
        {"nanoseconds", 1},        {"ns", 1},
        {"microseconds", 1000},    {"us", 1000},
        {"milliseconds", 1000000}, {"ms", 1000000},
        {"seconds", 1000000000},   {"s", 1000000000},
    };
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].scale;
    return 0;
}

/* A ValueType of pprof.proto has its type in field 1 and its unit in field 2,
 * both as numbers of texts. */
int
pprof_file_type(struct pprof_file *file, struct wire message, const char **type,
                const char **unit)
{
    uint64_t numbers[3];
    if (read_numbers(file, message, numbers, 3) != 0)
        return -1;
    *type = pprof_file_text(file, numbers[1]);
    *unit = pprof_file_text(file, numbers[2]);
    return *type == NULL || *unit == NULL ? -1 : 0;
}

/* Go's profiles of blocking call it "delay". */
static bool
is_wall(const char *type)
{
    return strcmp(type, "wall") == 0 || strcmp(type, "real") == 0 ||
           strcmp(type, "delay") == 0;
}

/* The first type of each kind counts; a scale of 0 means that there was none
 * yet. Types without a place in the model are counted, too, because a sample's
 * values stand in the order of all types. */
int
pprof_file_add_type(struct pprof_file *file, struct wire message)
{
    const char *type;
    const char *unit;
    if (pprof_file_type(file, message, &type, &unit) != 0)
        return -1;
    if (file->type_count == TYPES_MOST)
        return pprof_file_refuse(file, "it has too many types of values");
    uint64_t scale = pprof_file_unit(unit);
    enum value value = is_wall(type) ? VALUE_WALL : VALUE_CPU;
    if (scale == 0 && strcmp(unit, "count") == 0) {
        value = VALUE_SAMPLES;
        scale = 1;
    }
    if (scale != 0 && file->scale[value] == 0) {
        if (value == VALUE_SAMPLES)
            file->counts_samples = strstr(type, "sample") != NULL;
        file->scale[value] = scale;
        file->type_of[value] = file->type_count;
    }
    file->type_count++;
    return 0;
}

void
pprof_file_time_by_period(struct pprof_file *file, const char *type,
                          uint64_t period)
{
    enum value value = is_wall(type) ? VALUE_WALL : VALUE_CPU;
    if ((file->scale[VALUE_CPU] | file->scale[VALUE_WALL]) != 0 ||
        !file->counts_samples || period == 0)
        return;
    file->scale[value] = period;
    file->type_of[value] = file->type_of[VALUE_SAMPLES];
}

/* Leave out the first dropped frame of the stack, seen from its root, and all
 * that it calls. Frames at the root stay, so that something is left. */
static void
prune_stack(struct pprof_file *file)
{
    bool has_other = false;
    for (size_t i = file->depth; i-- > 0;) {
        const struct pprof_location *location =
            &file->locations[file->stack[i]];
        if (location->is_cut && has_other) {
            size_t first = location->is_dropped ? i + 1 : i;
            file->depth -= first;
            memmove(file->stack, file->stack + first,
                    file->depth * sizeof(*file->stack));
            return;
        }
        has_other |= !location->is_cut;
    }
}

/* Collect the locations of a sample, as indexes. */
static int
collect_stack(struct pprof_file *file, struct wire message)
{
    enum { LOCATION = 1 };
    uint64_t id;
    file->depth = 0;
    struct wire_field field;
    while (wire_next(&message, &field)) {
        if (field.number != LOCATION)
            continue;
        while (wire_number(&field, &id)) {
            uint32_t number = intern_find(&file->location_ids, &id, sizeof(id));
            if (number == INTERN_NONE)
                return pprof_file_refuse(
                    file, "it refers to a location that it lacks");
            if (file->depth == file->room) {
                if (!ARRAY_GROW(file->stack, file->room))
                    return -1;
                file->room++;
            }
            file->stack[file->depth++] = number;
        }
        if (field.bytes.is_damaged)
            return refuse_damaged(file);
    }
    if (message.is_damaged)
        return refuse_damaged(file);
    prune_stack(file);
    return 0;
}

/* Read the values of a sample, in our units. */
static int
read_values(struct pprof_file *file, struct wire message)
{
    enum { VALUE = 2 };
    unsigned count = 0;
    struct wire_field field;
    uint64_t numbers[TYPES_MOST], number;
    while (wire_next(&message, &field)) {
        if (field.number != VALUE)
            continue;
        while (wire_number(&field, &number)) {
            if (number > INT64_MAX)
                return pprof_file_refuse(
                    file,
                    "it has negative values: it is a difference of profiles");
            if (count < TYPES_MOST)
                numbers[count] = number;
            count++;
        }
    }
    if (count != file->type_count)
        return pprof_file_refuse(
            file, "a sample has more or fewer values than there are types");
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        uint64_t scale = file->scale[i];
        file->values[i] = scale == 0 ? 0 : numbers[file->type_of[i]];
        if (scale > 1)
            file->values[i] = file->values[i] < INT64_MAX / scale
                                  ? file->values[i] * scale
                                  : INT64_MAX;
    }
    return 0;
}

/* Keep a label that the program set: TEXT, or *NUMBER with UNIT. */
static int
keep_label(struct pprof_file *file, const char *key, const char *text,
           const uint64_t *number, const char *unit)
{
    struct profile *profile = file->profile;
    struct pprof_labels *labels = &file->labels;
    struct label_pair *pair = &labels->others[labels->other_count];
    char digits[24];
    if (labels->other_count == LABEL_SETS_DEPTH || key[0] == '\0')
        return 0;
    if (number != NULL) {
        snprintf(digits, sizeof(digits), "%lld", (long long)*number);
        text = digits;
    }
    *pair = (struct label_pair){profile_string(profile, key),
                                profile_string(profile, text),
                                number != NULL ? profile_string(profile, unit)
                                               : NULL};
    if (pair->key == NULL || pair->value == NULL ||
        (number != NULL && pair->unit == NULL))
        return -1;
    labels->other_count++;
    return 0;
}

/* Take one label: a text if STRING is set, else a number. */
static int
take_label(struct pprof_file *file, struct wire message)
{
    enum { KEY = 1, STRING, NUMBER, UNIT, COUNT };
    struct pprof_labels *labels = &file->labels;
    struct {
        const char *key, **text;
    } const places[] = {
        {"thread", &labels->thread},
        {"process", &labels->process},
        {"state", &labels->state},
        {"waits_on", &labels->waits_on},
    };
    uint64_t numbers[COUNT];
    if (read_numbers(file, message, numbers, COUNT) != 0)
        return -1;
    const char *key = pprof_file_text(file, numbers[KEY]);
    const char *text = pprof_file_text(file, numbers[STRING]);
    const char *unit = pprof_file_text(file, numbers[UNIT]);
    if (key == NULL || text == NULL || unit == NULL)
        return -1;
    if (strcmp(key, "tid") == 0)
        labels->tid = numbers[NUMBER];
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(key, places[i].key) == 0)
            *places[i].text = text;
    if (label_sets_is_reserved(key))
        return 0;
    return keep_label(file, key, text,
                      numbers[STRING] == 0 ? &numbers[NUMBER] : NULL, unit);
}

static int
read_labels(struct pprof_file *file, struct wire message)
{
    enum { LABEL = 3 };
    file->labels.thread = file->labels.process = NULL;
    file->labels.state = file->labels.waits_on = NULL;
    file->labels.tid = file->labels.other_count = 0;
    struct wire_field field;
    while (wire_next(&message, &field))
        if (field.number == LABEL && field.type == WIRE_BYTES &&
            take_label(file, field.bytes) != 0)
            return -1;
    return 0;
}

/* In a profile without a type for samples, each row is one sample. */
int
pprof_file_sample(struct pprof_file *file, struct wire message)
{
    if (collect_stack(file, message) != 0 || read_values(file, message) != 0 ||
        read_labels(file, message) != 0)
        return -1;
    if (file->scale[VALUE_SAMPLES] == 0)
        file->values[VALUE_SAMPLES] = 1;
    return 0;
}

void
pprof_file_release(struct pprof_file *file)
{
    prune_end(&file->prune);
    intern_clear(&file->mapping_ids);
    intern_clear(&file->function_ids);
    intern_clear(&file->location_ids);
    free(file->texts);
    free(file->mappings);
    free(file->functions);
    free(file->stack);
}
