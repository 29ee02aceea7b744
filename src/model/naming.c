/* SPDX-License-Identifier: MIT */
/*
 * naming.c -- see naming.h. Symbols are the costly part of a profile. So a node
 * gets its symbol when it is first shown, and a node that no output shows costs
 * nothing. Nodes are many but addresses few. So each address is looked up once,
 * and all together: several files are read at a time.
 *
 * Code that lies in no module is code that a runtime compiled while it ran. Its
 * names are in the jitdumps of the process (symbol/generated_code.h), which
 * have times. Names that these lack are looked up in its perf map
 * (symbol/perf_map.h), which is opened for the first such name. The map's file
 * name has the pid of the process in its own PID namespace. The spool's header
 * has that pid, too.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/demangle.h"
#include "symbol/generated_code.h"
#include "symbol/perf_map.h"
#include "symbol/symbolizer.h"
#include "util/array.h"
#include "util/intern.h"
#include "naming.h"

#define MARKER(index, name, node, flags)                \
    {                                                   \
        {1, true, &naming_markers[index].frame, false}, \
            {name, name, "", 0, 0}, node, flags         \
    }
/* The number of elided frames differs between samples. One name for all keeps
 * the stacks together. */
const struct naming_marker naming_markers[NAMING_MARKERS] = {
    MARKER(0, "[no stack]", PROFILE_NO_STACK, NODE_TRUNCATED),
    MARKER(1, PROFILE_NOT_SAMPLED_NAME, PROFILE_NOT_SAMPLED, NODE_TRUNCATED),
    MARKER(2, "[truncated]", 0, NODE_TRUNCATED),
    MARKER(3, "[frames elided]", 0, NODE_ELIDED),
    MARKER(4, "[caller guessed]", 0, NODE_GUESSED),
};
#undef MARKER

/* The parts of naming_budget: LEAST_NS is 0.3 ms for every profile. CPU_PART
 * adds a 20th of the CPU time (5 %). DURATION_PART adds a 200th of the duration
 * (0.5 %) beyond the first second, SHORT_NS. */
enum { LEAST_NS = 300000, CPU_PART = 20, DURATION_PART = 200 };

static const uint64_t SHORT_NS = 1000000000;

struct questions {
    struct symbol_question *items; /* by the numbers of KNOWN */
    struct intern known;           /* (id, offset) */
    uint32_t *by_node;             /* a number + 2; 1: no question; 0: unseen */
};

/* Returns the number of a question, which is added if it is new. INTERN_NONE if
 * memory is short. */
static uint32_t
question_number(struct questions *questions, uint32_t id, uint64_t offset)
{
    uint64_t key[] = {id, offset};
    uint32_t count = intern_count(&questions->known);
    if (!ARRAY_GROW(questions->items, count))
        return INTERN_NONE;
    uint32_t number = intern_put(&questions->known, key, sizeof(key));
    if (number == count)
        questions->items[count] =
            (struct symbol_question){.id = id, .offset = offset};
    return number;
}

/* Ask for NODE and its callers, up to a node that was seen. Markers and
 * generated code are in no module. Returns 0, or -1 if memory is short. */
static int
add_stack(struct questions *questions, const struct profile *profile,
          uint32_t node)
{
    uint32_t *by_node = questions->by_node;
    for (; node != 0 && by_node[node] == 0;
         node = profile->nodes[node].parent) {
        const struct profile_node *at = &profile->nodes[node];
        by_node[node] = 1;
        if (at->module == 0 || at->symbol != NULL ||
            profile_is_marker(profile, node))
            continue;
        uint32_t number =
            question_number(questions, profile->modules[at->module].symbols,
                            profile_offset(profile, node));
        if (number == INTERN_NONE)
            return -1;
        by_node[node] = number + 2;
    }
    return 0;
}

/* Have the questions answered, and store each node's answer in it: a lookup for
 * each node would cost a cache miss in the symbolizer's table. */
static void
answer_questions(struct questions *questions, struct profile *profile)
{
    uint32_t count = intern_count(&questions->known);
    const struct symbol **answers = calloc(count + 1ul, sizeof(*answers));
    for (uint32_t i = 0; answers != NULL && i < count; i++)
        questions->items[i].answer = &answers[i];
    symbolizer_expect(profile->symbols, questions->items, count);
    for (uint32_t i = 0; answers != NULL && i < profile->node_count; i++)
        if (questions->by_node[i] > 1)
            profile->nodes[i].symbol = answers[questions->by_node[i] - 2];
    free(answers);
}

/* Names of a small file fit into this limit and are read in full. A program
 * that waits may spend less on names than one that computes, because its own
 * caller waits for its end. One that waits for less than a second may spend
 * nothing. An example is a compiler's driver: a build starts hundreds of
 * them. */
uint64_t
naming_budget(const struct profile *profile)
{
    uint64_t duration = 0;
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].duration > duration)
            duration = profile->processes[i].duration;
    if (duration < SHORT_NS)
        duration = SHORT_NS;
    return LEAST_NS + profile->totals[VALUE_CPU] / CPU_PART +
           (duration - SHORT_NS) / DURATION_PART;
}

/* Look up the names on the stacks of all samples. If memory is short, names are
 * looked up one by one later. A profile that spares names gets no lines and no
 * inlined calls where reading them would take long compared with the recorded
 * time (docs/names.md). */
static void
look_up_names(struct profile *profile)
{
    struct questions questions = {
        .by_node = calloc(profile->node_count, sizeof(*questions.by_node))};
    int status = questions.by_node != NULL ? 0 : -1;
    for (uint32_t i = 0; status == 0 && i < profile->sample_count; i++)
        status = add_stack(&questions, profile, profile->samples[i].node);
    if (profile->spares_names)
        symbolizer_limit(profile->symbols, naming_budget(profile));
    if (status == 0)
        answer_questions(&questions, profile);
    intern_clear(&questions.known);
    free(questions.items);
    free(questions.by_node);
}

/* It is the last process whose nodes begin at or before NODE. */
struct profile_process *
naming_process(const struct profile *profile, uint32_t node)
{
    uint32_t low = 0, high = profile->process_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (profile->processes[middle].first_node <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &profile->processes[low - 1];
}

/* PATH_SIZE: bytes for "/tmp/perf-4294967295.map". */
enum { PATH_SIZE = 32 };

static void
map_path(const struct profile_process *process, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "/tmp/perf-%u.map", process->pid);
}

/* The size of the map's file in bytes, 0 if there is none. Maps only grow. */
static uint64_t
map_size(const struct profile_process *process)
{
    struct stat now = {0};
    char path[PATH_SIZE];
    map_path(process, path);
    return lstat(path, &now) == 0 ? (uint64_t)now.st_size : 0;
}

/* Open the map of PROCESS. All records have been read, so the end of the
 * process is known. The file is as old as the process, even if a flight
 * recorder kept only the end. */
static void
open_map(struct profile_process *process)
{
    uint64_t start = process->start - process->begin, end = process->start;
    sum_add(&end, process->duration);
    char path[PATH_SIZE];
    map_path(process, path);
    process->map_size = map_size(process);
    process->map = perf_map_open(path, start, end);
    process->has_map = true;
}

/* The symbol for NODE, which lies in no module. NULL if neither the jitdumps
 * nor the map of its process have it. */
static const struct symbol *
generated_symbol(struct profile *profile, uint32_t node)
{
    struct profile_process *process = naming_process(profile, node);
    if (process == NULL)
        return NULL;
    const struct symbol *symbol =
        process->codes != NULL
            ? generated_code_symbol(process->codes, profile->nodes[node].code,
                                    profile_offset(profile, node))
            : NULL;
    if (symbol != NULL)
        return symbol;
    if (!process->has_map)
        open_map(process);
    if (process->map == NULL)
        return NULL;
    return perf_map_find(process->map, profile_offset(profile, node));
}

/* Find the symbol of a node that has none yet. */
static const struct symbol *
find_symbol(struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];
    for (unsigned i = 0; i < NAMING_MARKERS; i++)
        if (naming_markers[i].node == node ||
            (naming_markers[i].node == 0 &&
             (at->flags & naming_markers[i].flags) != 0))
            return &naming_markers[i].symbol;
    const struct symbol *generated =
        at->module == 0 ? generated_symbol(profile, node) : NULL;
    if (generated != NULL)
        return generated;
    if (!profile->has_looked_up) {
        profile->has_looked_up = true;
        look_up_names(profile);
    }
    return symbolizer_find(profile->symbols,
                           profile->modules[at->module].symbols,
                           profile_offset(profile, node));
}

/* By enum naming_mark. */
static const struct symbol_frame mark_frames[] = {
    [NAMING_UNKNOWN_SCRIPT] = {"[python function, not known]",
                               "[python function, not known]", "", 0, 0},
    [NAMING_COLLECTOR] = {"[garbage collection]", "[garbage collection]", "", 0,
                          0},
    [NAMING_THREAD_START] = {"(thread start)", "(thread start)", "", 0, 0},
    [NAMING_PROGRAM_START] = {"(program start)", "(program start)", "", 0, 0},
};
static const struct symbol marks[] = {
    [NAMING_UNKNOWN_SCRIPT] = {1, true, &mark_frames[NAMING_UNKNOWN_SCRIPT],
                               false},
    [NAMING_COLLECTOR] = {1, true, &mark_frames[NAMING_COLLECTOR], false},
    [NAMING_THREAD_START] = {1, true, &mark_frames[NAMING_THREAD_START], false},
    [NAMING_PROGRAM_START] = {1, true, &mark_frames[NAMING_PROGRAM_START],
                              false},
};

/* The kind of start that NODE belongs to. It is code of the C library, and only
 * the program's first instruction may be below it. NAMING_OWN: to none. */
static enum naming_mark
start_of(const struct profile *profile, uint32_t node)
{
    for (uint32_t at = node;; at = profile->nodes[at].parent) {
        const struct profile_node *frame = &profile->nodes[at];
        if (frame->module == 0 || profile_is_script(profile, at) ||
            profile_is_marker(profile, at))
            return NAMING_OWN;
        const char *name = profile_module_name(profile, frame->module);
        bool is_c_library = strncmp(name, "libc.", 5) == 0;
        if (frame->parent == 0 && is_c_library)
            return NAMING_THREAD_START;
        if (!is_c_library)
            return at != node && frame->parent == 0 &&
                           strstr(name, ".so") == NULL
                       ? NAMING_PROGRAM_START
                       : NAMING_OWN;
    }
}

/* OWN without its first COUNT functions, the innermost ones; OWN itself if
 * memory is short. Keys of names have the id 0. */
static const struct symbol *
without_innermost(struct profile *profile, const struct symbol *own,
                  unsigned count)
{
    void **place =
        address_table_place(&profile->spelled, count, (uintptr_t)own);
    if (place == NULL)
        return own;
    if (*place == NULL) {
        struct symbol *rest = profile_block(profile, sizeof(*rest));
        if (rest == NULL)
            return own;
        *rest = *own;
        rest->frames += count;
        rest->count -= count;
        *place = rest;
    }
    return *place;
}

const struct symbol *
naming_symbol(struct profile *profile, uint32_t node)
{
    unsigned mark = profile->nodes[node].mark;
    unsigned entries = profile->nodes[node].entries;
    const struct symbol *own =
        mark == NAMING_OWN ? naming_own_symbol(profile, node) : NULL;
    if (own != NULL && entries > 0)
        return without_innermost(profile, own, entries);
    if (own != NULL && !own->named)
        mark = start_of(profile, node);
    return mark != NAMING_OWN ? &marks[mark] : own;
}

/* The pointer in the node is a cache. The symbolizer has its own cache, which
 * costs a lookup for each frame that is shown. */
const struct symbol *
naming_own_symbol(struct profile *profile, uint32_t node)
{
    if (profile->nodes[node].symbol == NULL)
        profile->nodes[node].symbol = find_symbol(profile, node);
    return profile->nodes[node].symbol;
}

const char *
naming_problem(const struct profile *profile, uint32_t number, unsigned i)
{
    const struct profile_process *process = &profile->processes[number];
    if (i > 0)
        return process->codes == NULL
                   ? NULL
                   : generated_code_problem(process->codes, i - 1);
    return process->map == NULL ? NULL : perf_map_problem(process->map);
}

bool
naming_has_news(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if ((process->has_map && map_size(process) != process->map_size) ||
            (process->codes != NULL && generated_code_has_news(process->codes)))
            return true;
    }
    return false;
}

void
naming_forget(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].module == 0 && !profile_is_script(profile, i))
            profile->nodes[i].symbol = NULL;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        perf_map_close(profile->processes[i].map);
        profile->processes[i].map = NULL;
        profile->processes[i].has_map = false;
        if (profile->processes[i].codes != NULL)
            generated_code_forget(profile->processes[i].codes);
    }
}

/* The linker's stub for a function has the function's name with this ending. */
static const char stub[] = "@plt";

/* LINKAGE demangled, for the caller to free. NULL if it is not mangled or
 * memory is short. */
static char *
demangle_name(const char *linkage, enum demangle_form form)
{
    size_t length = strcspn(linkage, "@");
    char *whole = NULL;
    if (strcmp(linkage + length, stub) != 0)
        return demangle(linkage, form);
    char *plain = strndup(linkage, length);
    char *name = plain != NULL ? demangle(plain, form) : NULL;
    if (name != NULL && asprintf(&whole, "%s%s", name, stub) < 0)
        whole = NULL;
    free(name);
    free(plain);
    return whole;
}

/* Strings of a profile are interned, so a linkage name is recognised by its
 * address, and each is demangled once. Most names of C programs are not
 * mangled; they take no place in the table. */
const char *
naming_spell(struct profile *profile, const char *name, const char *linkage)
{
    uintptr_t key = (uintptr_t)linkage;
    if (linkage[0] != '_')
        return name;
    void **place = address_table_place(&profile->spelled, 0, key);
    if (place == NULL || *place != NULL)
        return place != NULL ? *place : NULL;
    char *text = demangle_name(linkage, profile->full_names ? DEMANGLE_FULL
                                                            : DEMANGLE_SHORT);
    if (text == NULL)
        return name;
    *place = (void *)profile_string(profile, text);
    free(text);
    return *place;
}
