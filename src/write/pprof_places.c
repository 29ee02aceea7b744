/* SPDX-License-Identifier: MIT */
/*
 * pprof_places.c -- the address of a location is the one that was looked up.
 * For a frame with a return address it is one less, which is within the call;
 * so other tools that look it up find the same line. The kernel maps a file's
 * first segment at the module's start, so mappings have file offset 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/intern.h"
#include "pprof_stream.h"
#include "pprof_places.h"

int
pprof_places_begin(struct pprof_places *places, struct pprof_stream *stream,
                   struct profile *profile)
{
    *places = (struct pprof_places){.stream = stream, .profile = profile};
    places->functions = intern_new();
    places->locations = intern_new();
    places->by_node = calloc(profile->node_count, sizeof(*places->by_node));
    if (places->functions != NULL && places->locations != NULL &&
        places->by_node != NULL)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* The id of a function; a new function is written. 0 if memory is short. */
static uint64_t
function_of(struct pprof_places *places, const struct symbol_frame *frame)
{
    Perftools__Profiles__Function function =
        PERFTOOLS__PROFILES__FUNCTION__INIT;
    Perftools__Profiles__Function *only = &function;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    uint32_t known = intern_count(places->functions);
    int64_t key[4];
    function.name = key[0] = pprof_stream_text(places->stream, frame->function);
    function.system_name = key[1] =
        pprof_stream_text(places->stream, frame->linkage);
    function.filename = key[2] = pprof_stream_text(places->stream, frame->file);
    function.start_line = key[3] = frame->start_line;
    uint32_t number = intern_put(places->functions, key, sizeof(key));
    if (number == known) {
        function.id = number + 1u;
        part.n_function = 1;
        part.function = &only;
        pprof_stream_part(places->stream, &part);
    }
    return number == INTERN_NONE ? 0 : number + 1u;
}

/* Write LOCATION with the lines of SYMBOL. Returns 0, or -1 if memory is short.
 */
static int
write_lines(struct pprof_places *places,
            Perftools__Profiles__Location *location,
            const struct symbol *symbol)
{
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__Line *lines = calloc(symbol->count, sizeof(*lines));
    Perftools__Profiles__Line **list = calloc(symbol->count, sizeof(*list));
    int status = -1;
    if (lines == NULL || list == NULL)
        goto done;
    for (unsigned i = 0; i < symbol->count; i++) {
        list[i] = &lines[i];
        perftools__profiles__line__init(&lines[i]);
        lines[i].line = symbol->frames[i].line;
        lines[i].function_id = function_of(places, &symbol->frames[i]);
        if (lines[i].function_id == 0)
            goto done;
    }
    location->n_line = symbol->count;
    location->line = list;
    part.n_location = 1;
    part.location = &location;
    pprof_stream_part(places->stream, &part);
    status = 0;
done:
    free(list);
    free(lines);
    return status;
}

/* Set the address of NODE in LOCATION. A marker has none. A node outside the
 * module that it names gets no mapping. */
static void
set_address(const struct profile *profile, uint32_t node,
            Perftools__Profiles__Location *location)
{
    uint32_t number = profile->nodes[node].module;
    const struct profile_module *module = &profile->modules[number];
    if (profile_is_marker(profile, node))
        return;
    location->address = module->base + profile_offset(profile, node);
    if (number != 0 && location->address >= module->start &&
        location->address < module->end)
        location->mapping_id = number;
}

/* Nodes with the same address are one location: a function that is called from
 * many places has many nodes. */
uint64_t
pprof_places_location(struct pprof_places *places, uint32_t node)
{
    Perftools__Profiles__Location location =
        PERFTOOLS__PROFILES__LOCATION__INIT;
    uint32_t known = intern_count(places->locations);
    const struct symbol *symbol;
    if (places->by_node[node] != 0)
        return places->by_node[node];
    symbol = naming_symbol(places->profile, node);
    set_address(places->profile, node, &location);
    uint64_t key[3];
    key[0] = (uintptr_t)symbol;
    key[1] = location.address;
    key[2] = location.mapping_id;
    uint32_t number = intern_put(places->locations, key, sizeof(key));
    if (number == INTERN_NONE)
        return 0;
    location.id = number + 1u;
    if (number == known && write_lines(places, &location, symbol) != 0)
        return 0;
    places->by_node[node] = location.id;
    return location.id;
}

/* Without has_functions pprof looks for symbols itself. */
static void
write_mapping(struct pprof_places *places, uint32_t number)
{
    Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
    Perftools__Profiles__Mapping *only = &mapping;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    const struct profile *profile = places->profile;
    const struct profile_module *module = &profile->modules[number];
    uint32_t names = profile_module_names(profile, number);
    mapping.id = number;
    mapping.memory_start = module->start;
    mapping.memory_limit = module->end;
    mapping.filename = pprof_stream_text(places->stream, module->path);
    mapping.build_id = pprof_stream_text(places->stream, module->build_id);
    mapping.has_functions = (names & MODULE_HAS_FUNCTIONS) != 0;
    mapping.has_filenames = (names & MODULE_HAS_FILES) != 0;
    mapping.has_line_numbers = (names & MODULE_HAS_LINES) != 0;
    mapping.has_inline_frames = (names & MODULE_HAS_INLINES) != 0;
    part.n_mapping = 1;
    part.mapping = &only;
    pprof_stream_part(places->stream, &part);
}

/* The module of the first process's executable, else the first module. */
static uint32_t
main_module(const struct profile *profile)
{
    for (uint32_t i = 1; i < profile->module_count; i++)
        if (strcmp(profile->modules[i].path, profile->processes[0].exe) == 0)
            return i;
    return 1;
}

/* pprof takes the first mapping for that of the program (pprof.proto). */
void
pprof_places_write_mappings(struct pprof_places *places)
{
    const struct profile *profile = places->profile;
    if (profile->module_count < 2)
        return;
    uint32_t first = main_module(profile);
    write_mapping(places, first);
    for (uint32_t i = 1; i < profile->module_count; i++)
        if (i != first)
            write_mapping(places, i);
}

void
pprof_places_release(struct pprof_places *places)
{
    free(places->by_node);
    intern_free(places->locations);
    intern_free(places->functions);
}
