/* SPDX-License-Identifier: MIT */
/*
 * unit.c -- answers from one compilation unit. Report side.
 *
 * Almost all functions are directly below the unit or in its namespaces. They
 * are searched there first; everything else is skipped by the sibling offsets.
 * Only if no such function covers an address, the whole tree is searched for
 * functions inside types and other functions (Rust, nested functions).
 *
 * An inlined call covers part of its parent's code. Only the calls directly
 * below a call are read, when an address first hits it: in large functions most
 * calls are never looked at. The addresses of blocks are ignored, because
 * compilers do not always describe them correctly.
 */
#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "die.h"
#include "unit.h"

/* Limits of the nesting of calls and blocks, and of the ranges of one function
 * or call. Real code stays far below both; damaged DWARF may not. */
#define DEEPEST 256
#define MOST_RANGES 4096

/* A function, or a call that the compiler inlined into it. */
struct inlined_call {
    const uint8_t *entry;      /* its entry in the DWARF */
    struct range_index ranges; /* calls in it; values: their indexes */
    uint32_t parent; /* the call it is in; CALL_FUNCTION: the function */
    bool is_opened;  /* RANGES is filled in */
    bool is_read;    /* the fields below, which the unit's reader fills in */
    unsigned line, start_line; /* of the call; of the called function */
    const char *name, *file, *directory;
};
#define CALL_FUNCTION 0

/* The calls in a function are read from the outside in. */
struct unit_function {
    Dwarf_Die die;
    const char *name; /* these are valid once CALLS_READ */
    unsigned start_line;
    bool calls_read;
    struct inlined_call *calls; /* the first is the function itself */
    size_t count;
    size_t left; /* bytes of entries that may still be read for CALLS */
};

/* The sections to which the entries of UNIT refer. NULL if only libdw knows
 * them. */
static const struct sections *
body_sections(const struct unit *unit)
{
    return unit->die.addr == unit->body.addr ? &unit->file->sections : NULL;
}

static int
add_call(struct unit_function *function, const uint8_t *entry, uint32_t parent)
{
    if (!ARRAY_GROW(function->calls, function->count))
        return -1;
    function->calls[function->count++] =
        (struct inlined_call){.entry = entry, .parent = parent};
    return 0;
}

/* Whether TAG is a block. Calls below it are inlined into the function itself.
 */
static bool
is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* Count SIZE bytes as read. False if the function cannot have that many.
 * Entries of damaged DWARF may overlap, and would be read again and again. */
static bool
may_read(struct unit_function *function, size_t size)
{
    if (function->left < size) {
        function->left = 0;
        return false;
    }
    function->left -= size;
    return true;
}

/* Like scan_skip. False if it had to read more than may_read allows. */
static bool
skip_entry(struct unit_function *function, struct scan *scan,
           const struct scan_entry *entry)
{
    const uint8_t *from = scan->next, *end = scan->unit->end;
    scan_skip(scan, entry);
    if (entry->sibling != NULL || from == NULL)
        return true;
    return may_read(function,
                    (size_t)((scan->next != NULL ? scan->next : end) - from));
}

/*
 * Read the calls directly in call NUMBER into RANGES.
 *
 * The calls inside them are read, too, if only reading can skip them. Some
 * compilers do not write where an entry ends. In DWARF 2, which has no ranges,
 * a call may lie outside its caller. All go into one index, in which the
 * innermost call is the nearest: it starts last, or starts with its caller and
 * has a higher rank. Returns 0, or -1 with errno set.
 */
static int
read_calls(const struct unit *unit, struct unit_function *function,
           uint32_t number, struct range_index *ranges)
{
    uint32_t around[DEEPEST] = {number}; /* by depth: the call around it */
    struct scan scan = scan_begin(&unit->scan, function->calls[number].entry);
    struct scan_entry entry;
    scan_next(&scan, &entry); /* the call itself */
    while (scan_next(&scan, &entry) && may_read(function, 1)) {
        unsigned depth = entry.depth;
        bool is_call = entry.tag == DW_TAG_inlined_subroutine;
        if (depth >= DEEPEST || (!is_call && !is_block(entry.tag))) {
            /* Variables, types, and functions with code of their own. */
            if (!skip_entry(function, &scan, &entry))
                break;
            continue;
        }
        around[depth] = around[depth - 1];
        if (!is_call)
            continue;
        if (add_call(function, entry.start, around[depth - 1]) != 0)
            return -1;
        around[depth] = (uint32_t)function->count - 1;
        if (entry.has_code &&
            die_add_entry(body_sections(unit), &scan, &entry, ranges,
                          around[depth], depth, MOST_RANGES) < 0)
            return -1;
        if (entry.has_code && entry.sibling != NULL && unit->scan.version > 2)
            scan_skip(&scan, &entry);
        else
            function->calls[around[depth]].is_opened = true;
    }
    return 0;
}

static int
open_call(const struct unit *unit, struct unit_function *function,
          uint32_t number)
{
    struct range_index ranges = {0};
    int failed = read_calls(unit, function, number, &ranges);
    range_index_seal(&ranges);
    function->calls[number].ranges = ranges;
    function->calls[number].is_opened = true;
    return failed;
}

/* Returns the innermost call whose code covers ADDRESS, or CALL_FUNCTION.
 * PARENT leads from it to its callers. If memory is short, it may be an outer
 * call. */
static uint32_t
find_call(const struct unit *unit, struct unit_function *function,
          uint64_t address)
{
    uint32_t number = CALL_FUNCTION;
    if (function->count == 0)
        return CALL_FUNCTION;
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        if (!function->calls[number].is_opened &&
            open_call(unit, function, number) != 0)
            return number;
        const struct range *range =
            range_index_find(&function->calls[number].ranges, address, NULL);
        if (range == NULL)
            break;
        number = range->value;
    }
    return number;
}

/* About how much memory the calls take, in bytes. */
static size_t
size_of_calls(const struct unit_function *function)
{
    return function->count * (sizeof(*function->calls) + sizeof(struct range));
}

static void
free_calls(struct unit_function *function)
{
    for (size_t i = 0; i < function->count; i++)
        range_index_free(&function->calls[i].ranges);
    free(function->calls);
}

/* A function that the compiler has inlined somewhere. */
struct unit_origin {
    const char *name;
    unsigned start_line;
};

static int
add_function(struct unit *unit, const struct scan *scan,
             const struct scan_entry *entry)
{
    if (!ARRAY_GROW(unit->functions, unit->function_count))
        return -1;
    long ranges = die_add_entry(body_sections(unit), scan, entry, &unit->ranges,
                                (uint32_t)unit->function_count, 0, MOST_RANGES);
    if (ranges > 0)
        unit->functions[unit->function_count++] =
            (struct unit_function){.die = scan_die(scan->unit, entry->start)};
    return ranges < 0 ? -1 : 0;
}

/* Whether functions below an entry with TAG are looked for. EVERYWHERE includes
 * types and other functions. */
static bool
is_searched(int tag, bool everywhere)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return everywhere;
    default:
        return false;
    }
}

/* Index the functions in the usual places, or EVERYWHERE. If memory is short,
 * the index is incomplete, and some addresses get no function. */
static void
read_functions(struct unit *unit, bool everywhere)
{
    struct scan scan = scan_begin(&unit->scan, unit->body.addr);
    for (size_t i = 0; i < unit->function_count; i++)
        free_calls(&unit->functions[i]);
    unit->function_count = 0;
    unit->ranges.count = 0;
    struct scan_entry entry;
    while (scan_next(&scan, &entry)) {
        /* Most entries are declarations and abstract instances. */
        if (entry.tag == DW_TAG_subprogram && entry.has_code &&
            add_function(unit, &scan, &entry) != 0)
            break;
        if (entry.depth > 0 && !is_searched(entry.tag, everywhere))
            scan_skip(&scan, &entry);
    }
    range_index_seal(&unit->ranges);
    unit->kept += unit->function_count * sizeof(*unit->functions) +
                  unit->ranges.count * sizeof(*unit->ranges.ranges);
}

static struct unit_function *
find_indexed(const struct unit *unit, uint64_t address)
{
    const struct range *range = range_index_find(&unit->ranges, address, NULL);
    return range != NULL ? &unit->functions[range->value] : NULL;
}

/* Read what all functions of UNIT have in common. A unit from a package has
 * memory of its own, which is counted. */
static void
read_body(struct unit *unit)
{
    unit->functions_read = true;
    if (unit->is_packed &&
        !package_find(&unit->file->package, &unit->die, &unit->body))
        unit->body = unit->die;
    scan_unit_read(&unit->scan, &unit->body);
    size_t size = (size_t)(unit->scan.end - unit->scan.start);
    unit->kept += scan_unit_size(&unit->scan) + (unit->is_packed ? size : 0);
    unit->seen += size;
    read_functions(unit, false);
}

/* The name of DIE in the body of UNIT, valid as long as the file is open. */
static const char *
read_name(struct unit *unit, Dwarf_Die *die)
{
    const char *name = die_name(die);
    return name != NULL && unit->is_packed
               ? intern_text(&unit->file->store, name)
               : name;
}

/* The function that owns ADDRESS. NULL if none does. */
static struct unit_function *
find_function(struct unit *unit, uint64_t address)
{
    struct unit_function *function = NULL;
    if (!unit->functions_read)
        read_body(unit);
    function = find_indexed(unit, address);
    if (function == NULL && !unit->all_functions_read) {
        unit->all_functions_read = true;
        read_functions(unit, true);
        function = find_indexed(unit, address);
    }
    return function;
}

static void
read_lines(struct unit *unit)
{
    unit->lines_read = true;
    unit->directory = die_text(&unit->die, DW_AT_comp_dir);
    /* If memory is short, the table is shorter. */
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    if (dwarf_attr(&unit->die, DW_AT_stmt_list, &attribute) != NULL &&
        dwarf_formudata(&attribute, &offset) == 0)
        line_table_read(&unit->lines, &unit->file->sections, offset);
    unit->kept += line_table_size(&unit->lines);
    unit->seen += (size_t)(unit->lines.program.end - unit->lines.program.at);
}

/* Put file NUMBER into FRAME, relative to the directory where the compiler ran.
 * A relative directory can already be part of the file's name. It is then left
 * out. */
static void
set_file(struct unit *unit, struct unit_frame *frame, uint64_t number)
{
    const char *directory = unit->directory;
    size_t length = directory != NULL ? strlen(directory) : 0;
    const char *file =
        line_table_file(&unit->lines, number, directory, &unit->file->store);
    frame->file = file;
    frame->directory = NULL;
    if (file != NULL && *file != '/' && length > 0 &&
        (strncmp(file, directory, length) != 0 || file[length] != '/'))
        frame->directory = directory;
}

/* The inlined function with the entry at AT, read at its first use. NULL if
 * memory is short. */
static const struct unit_origin *
find_origin(struct unit *unit, const uint8_t *at)
{
    struct unit_file *file = unit->file;
    void **place = address_table_place(&file->origins, 0, (uintptr_t)at);
    if (place == NULL || *place != NULL)
        return place != NULL ? *place : NULL;
    struct unit_origin *origin = intern_space(&file->store, sizeof(*origin));
    if (origin == NULL)
        return NULL;
    *place = origin;
    Dwarf_Die die = scan_die(&unit->scan, at);
    origin->name = read_name(unit, &die);
    origin->start_line = die_start_line(&die);
    return origin;
}

/* The contents of the entry of one inlined call. */
struct call_entry {
    const uint8_t *origin; /* entry of the called function, same unit */
    bool has_file;
    uint32_t file, line; /* the place of the call */
};

/* Whether VALUE is a number. *NUMBER then gets it. */
static bool
read_number(const struct scan_value *value, uint32_t *number)
{
    struct bytes bytes = value->bytes;
    uint64_t large = value->constant;
    if (value->form != DW_FORM_implicit_const &&
        !bytes_form(&bytes, value->form, &large))
        return false;
    *number = (uint32_t)large;
    return bytes.at != NULL && large <= UINT32_MAX;
}

/* Read the entry at AT in UNIT into *CALL. False if it does not have the usual
 * form; libdw is then asked. libdw searches for each attribute separately, and
 * for a name in the entry, its origin and beyond.
 *
 * gcc and clang write a DW_TAG_inlined_subroutine with DW_AT_abstract_origin,
 * its code, DW_AT_call_file and DW_AT_call_line. An entry that also has a name
 * or a line of its own is not usual. */
static bool
read_call_entry(const struct scan_unit *unit, const uint8_t *at,
                struct call_entry *call)
{
    struct scan scan = scan_begin(unit, at);
    unsigned count = 0;
    bool usual = true;
    *call = (struct call_entry){0};
    struct scan_value values[SCAN_VALUES];
    struct scan_entry entry;
    if (scan_next(&scan, &entry))
        count = scan_values(unit, &entry, values);
    for (unsigned i = 0; i < count; i++) {
        switch (values[i].name) {
        case DW_AT_abstract_origin:
            call->origin = scan_reference(unit, &values[i]);
            break;
        case DW_AT_call_file:
            call->has_file = read_number(&values[i], &call->file);
            usual = usual && call->has_file;
            break;
        case DW_AT_call_line:
            usual = usual && read_number(&values[i], &call->line);
            break;
        case DW_AT_name:
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
        case DW_AT_decl_line:
            usual = false;
            break;
        default:
            break;
        }
    }
    return usual && call->origin != NULL;
}

/* Fill CALL with the data that every address in it needs. */
static void
read_call(struct unit *unit, struct inlined_call *call)
{
    const struct unit_origin *origin = NULL;
    struct unit_frame caller = {0};
    call->is_read = true;
    struct call_entry entry;
    if (read_call_entry(&unit->scan, call->entry, &entry))
        origin = find_origin(unit, entry.origin);
    if (origin != NULL) {
        if (entry.has_file)
            set_file(unit, &caller, entry.file);
        caller.line = entry.line;
        call->name = origin->name;
        call->start_line = origin->start_line;
    } else {
        Dwarf_Die die = scan_die(&unit->scan, call->entry);
        caller.line = die_number(&die, DW_AT_call_line);
        if (dwarf_hasattr(&die, DW_AT_call_file) != 0)
            set_file(unit, &caller, die_number(&die, DW_AT_call_file));
        call->name = read_name(unit, &die);
        call->start_line = die_start_line(&die);
    }
    call->file = caller.file;
    call->directory = caller.directory;
    call->line = caller.line;
}

/* Fill FRAMES with the calls of FUNCTION at ADDRESS. The caller has set the
 * place in frames[0]. Each call knows its own name and the place in its caller.
 * Returns the number of frames. */
static unsigned
unwind_calls(struct unit *unit, struct unit_function *function,
             uint64_t address, struct unit_frame *frames, unsigned limit)
{
    unsigned count = 0;
    if (!function->calls_read) {
        function->calls_read = true;
        function->name = read_name(unit, &function->die);
        function->start_line = die_start_line(&function->die);
        function->left = (size_t)(unit->scan.end - unit->scan.start);
        add_call(function, function->die.addr, CALL_FUNCTION);
    }
    unit->kept -= size_of_calls(function);
    uint32_t number = find_call(unit, function, address);
    unit->kept += size_of_calls(function);
    while (number != CALL_FUNCTION) {
        struct inlined_call *call = &function->calls[number];
        if (!call->is_read)
            read_call(unit, call);
        /* The last frame is the function's. A call that does not fit is left
         * out, and its place in the caller becomes the function's place. */
        if (count + 1 < limit) {
            frames[count].name = call->name;
            frames[count].start_line = call->start_line;
            count++;
        }
        frames[count] = (struct unit_frame){.directory = call->directory,
                                            .file = call->file,
                                            .line = call->line};
        number = call->parent;
    }
    frames[count].name = function->name;
    frames[count].start_line = function->start_line;
    return count + 1;
}

unsigned
unit_find(struct unit *unit, uint64_t address, struct unit_frame *frames,
          unsigned limit)
{
    struct unit_function *function = find_function(unit, address);
    if (!unit->lines_read)
        read_lines(unit);
    frames[0] = (struct unit_frame){0};
    struct line_row row;
    if (line_table_find(&unit->lines, address, &row)) {
        set_file(unit, &frames[0], row.file);
        frames[0].line = row.line <= INT_MAX ? row.line : 0;
    }
    if (function == NULL)
        return frames[0].file != NULL ? 1 : 0;
    return unwind_calls(unit, function, address, frames, limit);
}

void
unit_forget(struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++)
        free_calls(&unit->functions[i]);
    range_index_free(&unit->ranges);
    scan_unit_free(&unit->scan);
    line_table_free(&unit->lines);
    free(unit->functions);
    unit->functions = NULL;
    unit->function_count = 0;
    unit->lines_read = unit->functions_read = unit->all_functions_read = false;
    unit->kept = unit->seen = 0;
}
