/* SPDX-License-Identifier: MIT */
/*
 * pprof.c -- the format that `go tool pprof` and its relatives read. For a
 * profile with
 *
 *   main -> work        3 samples, 3 ms of CPU, thread "app" (tid 7), running
 *   main -> read        2 samples, 0 CPU, 2 ms of wall time, in system call
 *                       read on pipe:[17]
 *
 * `go tool pprof -raw` prints
 *
 *   Samples:
 *   samples/count cpu/nanoseconds[dflt] wall/nanoseconds
 *           3    3000000    3000000: 1 2
 *                   state:[running]
 *                   thread:[app]
 *                   tid:[7]
 *           2          0    2000000: 3 2
 *                   state:[read]
 *                   waits_on:[pipe:[17]]
 *                   ...
 *
 * The encodings of two protobuf messages, one after the other, are the encoding
 * of both merged. So a message of any size takes little memory: each part is
 * packed as a profile that has only that part, in one buffer that is used again
 * and again, and compressed. Samples are written one by one. Each is written
 * after the parts that it needs and that were not written yet; a reader puts
 * the parts together by their ids. The table of strings is written last,
 * because only then all strings are known.
 *
 * The address of a location is the one that was looked up. For a frame with a
 * return address it is one less, which is within the call; so other tools that
 * look it up find the same line. The kernel maps a file's first segment at the
 * module's start, so mappings have file offset 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/label_sets.h"
#include "model/naming.h"
#include "model/quality.h"
#include "model/sample_state.h"
#include "model/spending.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/gzip.h"
#include "util/intern.h"
#include "util/share.h"
#include "pprof.pb-c.h"
#include "output_file.h"
#include "pprof.h"

/* Limit of the labels of a sample: our own, and ours with those of the
 * program. */
enum { OWN_LABELS = 5, LABELS_MOST = OWN_LABELS + LABEL_SETS_DEPTH };

/* COMMAND_MOST: bytes of a command in its comment. */
enum { COMMAND_MOST = 1014 };

/* A profile that is being written. */
struct pprof {
    struct profile *profile;
    const struct profile_sample *samples; /* those that are written */
    uint32_t sample_count;
    const enum value *values; /* the types of values that are written */
    unsigned value_count;
    bool is_series; /* with few labels and without comments (pprof.h) */
    struct gzip *gzip;
    struct intern *texts; /* string_table */
    uint8_t *buffer;
    size_t size;
    int error; /* errno of the first failure, 0 if none */
    struct intern *functions;
    struct intern *locations;
    struct intern *languages; /* of interpreters: names of their mappings */
    uint64_t *by_node; /* location of each node of the profile; 0: not yet */
    uint64_t *stack;   /* location ids of the current sample; room for all */
    size_t depth;
    Perftools__Profiles__Label labels[LABELS_MOST];
    Perftools__Profiles__Label *label_list[LABELS_MOST];
    size_t label_count;
};

/* Only the first error is the cause; later ones follow from it. */
static void
note_error(struct pprof *pprof, int error)
{
    if (pprof->error == 0)
        pprof->error = error;
}

/* Write the parts that are set in PROFILE. */
static void
write_part(struct pprof *pprof, const Perftools__Profiles__Profile *profile)
{
    size_t size = perftools__profiles__profile__get_packed_size(profile);
    if (size > pprof->size) {
        uint8_t *buffer = realloc(pprof->buffer, 2 * size);
        if (buffer == NULL) {
            note_error(pprof, ENOMEM);
            return;
        }
        pprof->buffer = buffer;
        pprof->size = 2 * size;
    }
    perftools__profiles__profile__pack(profile, pprof->buffer);
    gzip_add(pprof->gzip, pprof->buffer, size);
}

/* The index of TEXT, cleaned, in string_table; 0 is "". */
static int64_t
text_of(struct pprof *pprof, const char *text)
{
    uint32_t number = clean_put(pprof->texts, text, "");
    if (number != INTERN_NONE)
        return number;
    note_error(pprof, ENOMEM);
    return 0;
}

static void
write_texts(struct pprof *pprof)
{
    for (uint32_t i = 0; i < intern_count(pprof->texts); i++) {
        Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
        char *text = (char *)intern_bytes(pprof->texts, i);
        part.n_string_table = 1;
        part.string_table = &text;
        write_part(pprof, &part);
    }
}

static Perftools__Profiles__ValueType
value_type(struct pprof *pprof, enum value value)
{
    static const char *const types[VALUE_COUNT][2] = {
        [VALUE_SAMPLES] = {"samples", "count"},
        [VALUE_CPU] = {"cpu", "nanoseconds"},
        [VALUE_WALL] = {"wall", "nanoseconds"},
    };
    Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    type.type = text_of(pprof, types[value][0]);
    type.unit = text_of(pprof, types[value][1]);
    return type;
}

/* The drop_frames and keep_frames that all processes have. Those of some would
 * drop frames of the others. */
static void
set_frames(struct pprof *pprof, Perftools__Profiles__Profile *part)
{
    const struct profile *profile = pprof->profile;
    const struct profile_process *first = profile->processes;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->drop_frames == NULL ||
            strcmp(process->drop_frames, first->drop_frames) != 0 ||
            strcmp(process->keep_frames, first->keep_frames) != 0)
            return;
    }
    if (first == NULL)
        return;
    part->drop_frames = text_of(pprof, first->drop_frames);
    part->keep_frames = text_of(pprof, first->keep_frames);
}

/* Write the kinds of values, and when and how they were taken. Of several
 * periods it is the longest, as in what `go tool pprof` merges. */
static void
write_head(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__ValueType types[VALUE_COUNT], *list[VALUE_COUNT];
    for (unsigned i = 0; i < pprof->value_count; i++) {
        types[i] = value_type(pprof, pprof->values[i]);
        list[i] = &types[i];
    }
    enum value last = pprof->values[pprof->value_count - 1];
    Perftools__Profiles__ValueType period = value_type(pprof, last);
    part.n_sample_type = pprof->value_count;
    part.sample_type = list;
    part.default_sample_type =
        pprof->is_series ? period.type : types[VALUE_CPU].type;
    part.period_type = &period;
    for (uint32_t i = 0; i < profile->process_count; i++)
        if ((int64_t)profile->processes[i].period > part.period)
            part.period = (int64_t)profile->processes[i].period;
    part.time_nanos = (int64_t)profile->start;
    part.duration_nanos = (int64_t)profile->duration;
    set_frames(pprof, &part);
    write_part(pprof, &part);
}

/* `go tool pprof -comments` shows comments, and so do its tables. */
static void
write_comment(struct pprof *pprof, const char *key, const char *value)
{
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    char text[QUALITY_COUNTERS_SIZE + 16];
    snprintf(text, sizeof(text), "%s: %s", key, value);
    int64_t comment = text_of(pprof, text);
    part.n_comment = 1;
    part.comment = &comment;
    write_part(pprof, &part);
}

/* The sentences are for people; `sprofile` reads the counters. */
static void
write_comments(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    const struct counters counters = {profile->cost,
                                      profile->triggers[TRIGGER_ASK]};
    char text[QUALITY_COUNTERS_SIZE];
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        snprintf(text, sizeof(text), "%u on %.200s, %.200s", process->pid,
                 process->host[0] != '\0' ? process->host : "unknown host",
                 process->exe);
        write_comment(pprof, "process", text);
        snprintf(text, sizeof(text), "%.*s", COMMAND_MOST, process->command);
        write_comment(pprof, "command", text);
    }
    if (quality_rate(profile, text, sizeof(text))[0] != '\0') {
        write_comment(pprof, "rate", text);
        write_comment(pprof, "due", quality_due(profile, text, sizeof(text)));
    }
    if (spending_rates(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "epochs", text);
    if (spending_cost(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "spent", text);
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "unseen", text);
    if (quality_spread(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "spread", text);
    write_comment(pprof, "lost", quality_losses(profile, text, sizeof(text)));
    write_comment(pprof, "cut", quality_cuts(profile, text, sizeof(text)));
    write_comment(pprof, "cost", quality_cost(profile, text, sizeof(text)));
    if (quality_sums(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "WRONG", text);
    if (quality_asked(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "note", text);
    write_comment(pprof, "counters", quality_write_counters(&counters, text));
}

/* A label with a text, or with a number if TEXT is NULL. */
static void
add_label(struct pprof *pprof, const char *key, const char *text,
          int64_t number)
{
    Perftools__Profiles__Label *label = &pprof->labels[pprof->label_count];
    perftools__profiles__label__init(label);
    label->key = text_of(pprof, key);
    if (text != NULL)
        label->str = text_of(pprof, text);
    else
        label->num = number;
    pprof->label_list[pprof->label_count++] = label;
}

/* Of labels that are too many for a series, the first ones stay, and those of a
 * span, which servers know. */
static unsigned
choose_labels(struct label_pair *pairs, unsigned count)
{
    unsigned left = 0, others = 0;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(pairs[i].key, "span_id") == 0 ||
            strcmp(pairs[i].key, "trace_id") == 0 ||
            others++ < PPROF_SERIES_LABELS)
            pairs[left++] = pairs[i];
    return left;
}

/* Add the labels that the program set. A number keeps its unit. */
static void
add_program_labels(struct pprof *pprof, uint32_t set)
{
    struct label_pair pairs[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(pprof->profile, set, pairs);
    if (pprof->is_series)
        count = choose_labels(pairs, count);
    for (unsigned i = 0; i < count; i++) {
        bool is_number = pairs[i].unit != NULL;
        add_label(pprof, pairs[i].key, is_number ? NULL : pairs[i].value,
                  is_number ? strtoll(pairs[i].value, NULL, 10) : 0);
        if (is_number && pairs[i].unit[0] != '\0')
            pprof->labels[pprof->label_count - 1].num_unit =
                text_of(pprof, pairs[i].unit);
    }
}

/* The state in one of five words. */
static const char *
kind_of_state(struct profile *profile, const struct profile_sample *sample)
{
    static const char *const words[STATE_COUNT] = {
        [STATE_RUNNING] = "running",
        [STATE_WAITING] = "waiting",
        [STATE_RUNQUEUE] = "runnable",
    };
    const char *gpu = sample_state_gpu(profile, sample);
    return gpu != NULL ? gpu : words[sample->state];
}

static void
set_labels(struct pprof *pprof, const struct profile_sample *sample)
{
    struct profile *profile = pprof->profile;
    const struct profile_thread *thread = &profile->threads[sample->thread];
    const struct profile_process *process =
        &profile->processes[thread->process];
    char text[512];
    pprof->label_count = 0;
    if (thread->name[0] != '\0')
        add_label(pprof, "thread", thread->name, 0);
    if (pprof->is_series) {
        if (pprof->values[0] == VALUE_WALL)
            add_label(pprof, "state", kind_of_state(profile, sample), 0);
        add_program_labels(pprof, sample->labels);
        return;
    }
    add_label(pprof, "tid", NULL, thread->tid);
    add_label(pprof, "state", sample_state_name(profile, sample), 0);
    if (sample->waits_on[0] != '\0')
        add_label(pprof, "waits_on", sample->waits_on, 0);
    if (profile->process_count > 1) {
        snprintf(text, sizeof(text), "%s.%u", path_name(process->exe),
                 process->pid);
        add_label(pprof, "process", text, 0);
    }
    add_program_labels(pprof, sample->labels);
}

/* The id of a function; a new function is written. 0 if memory is short. */
static uint64_t
function_of(struct pprof *pprof, const struct symbol_frame *frame)
{
    Perftools__Profiles__Function function =
        PERFTOOLS__PROFILES__FUNCTION__INIT;
    Perftools__Profiles__Function *only = &function;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    uint32_t known = intern_count(pprof->functions);
    int64_t key[4];
    function.name = key[0] = text_of(pprof, frame->function);
    function.system_name = key[1] = text_of(pprof, frame->linkage);
    function.filename = key[2] = text_of(pprof, frame->file);
    function.start_line = key[3] = frame->start_line;
    uint32_t number = intern_put(pprof->functions, key, sizeof(key));
    if (number == known) {
        function.id = number + 1u;
        part.n_function = 1;
        part.function = &only;
        write_part(pprof, &part);
    }
    return number == INTERN_NONE ? 0 : number + 1u;
}

/* Write LOCATION with the lines of SYMBOL. Returns 0, or -1 if memory is short.
 */
static int
write_lines(struct pprof *pprof, Perftools__Profiles__Location *location,
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
        lines[i].function_id = function_of(pprof, &symbol->frames[i]);
        if (lines[i].function_id == 0)
            goto done;
    }
    location->n_line = symbol->count;
    location->line = list;
    part.n_location = 1;
    part.location = &location;
    write_part(pprof, &part);
    status = 0;
done:
    free(list);
    free(lines);
    return status;
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

/* The id of the mapping of module NUMBER. Some readers expect ids 1, 2, ... in
 * the order of the file, with the program's first. */
static uint64_t
mapping_id(const struct profile *profile, uint32_t number)
{
    uint32_t first = main_module(profile);
    if (number == first)
        return 1;
    return number < first ? number + 1u : number;
}

/* The id of the mapping of the functions of NODE's interpreter. 0 if memory is
 * short. */
static uint64_t
language_id(struct pprof *pprof, uint32_t node)
{
    uint32_t number = intern_string(pprof->languages,
                                    profile_node_module(pprof->profile, node));
    if (number != INTERN_NONE)
        return (uint64_t)pprof->profile->module_count + number;
    note_error(pprof, ENOMEM);
    return 0;
}

/* Set the address of NODE in LOCATION. A marker has none. A node outside the
 * module that it names gets no mapping. */
static void
set_address(struct pprof *pprof, uint32_t node,
            Perftools__Profiles__Location *location)
{
    const struct profile *profile = pprof->profile;
    uint32_t number = profile->nodes[node].module;
    const struct profile_module *module = &profile->modules[number];
    if (profile_is_marker(profile, node))
        return;
    location->address = module->base + profile_offset(profile, node);
    if (number != 0 && location->address >= module->start &&
        location->address < module->end)
        location->mapping_id = mapping_id(profile, number);
    if (profile_is_script(profile, node))
        location->mapping_id = language_id(pprof, node);
}

/* The location id of NODE; a new location is written with its functions. 0 if
 * memory is short. Nodes with the same address are one location: a function
 * that is called from many places has many nodes. */
static uint64_t
location_of(struct pprof *pprof, uint32_t node)
{
    Perftools__Profiles__Location location =
        PERFTOOLS__PROFILES__LOCATION__INIT;
    uint32_t known = intern_count(pprof->locations);
    const struct symbol *symbol;
    if (pprof->by_node[node] != 0)
        return pprof->by_node[node];
    symbol = naming_symbol(pprof->profile, node);
    set_address(pprof, node, &location);
    uint64_t key[3];
    key[0] = (uintptr_t)symbol;
    key[1] = location.address;
    key[2] = location.mapping_id;
    uint32_t number = intern_put(pprof->locations, key, sizeof(key));
    if (number == INTERN_NONE)
        return 0;
    location.id = number + 1u;
    if (number == known && write_lines(pprof, &location, symbol) != 0)
        return 0;
    pprof->by_node[node] = location.id;
    return location.id;
}

/* Write the mapping of module NUMBER; numbers after all modules are languages,
 * which have no addresses. Without has_functions pprof looks for symbols
 * itself. */
static void
write_mapping(struct pprof *pprof, uint32_t number)
{
    Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
    Perftools__Profiles__Mapping *only = &mapping;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    const struct profile *profile = pprof->profile;
    uint32_t names = MODULE_HAS_FUNCTIONS | MODULE_HAS_FILES | MODULE_HAS_LINES;
    if (number < profile->module_count) {
        const struct profile_module *module = &profile->modules[number];
        names = profile_module_names(profile, number);
        mapping.id = mapping_id(profile, number);
        mapping.memory_start = module->start;
        mapping.memory_limit = module->end;
        mapping.filename = text_of(pprof, module->path);
        mapping.build_id = text_of(pprof, module->build_id);
    } else {
        mapping.id = number;
        mapping.filename =
            text_of(pprof, intern_bytes(pprof->languages,
                                        number - profile->module_count));
    }
    mapping.has_functions = (names & MODULE_HAS_FUNCTIONS) != 0;
    mapping.has_filenames = (names & MODULE_HAS_FILES) != 0;
    mapping.has_line_numbers = (names & MODULE_HAS_LINES) != 0;
    mapping.has_inline_frames = (names & MODULE_HAS_INLINES) != 0;
    part.n_mapping = 1;
    part.mapping = &only;
    write_part(pprof, &part);
}

/* pprof takes the first mapping for that of the program (pprof.proto). Mappings
 * are written last, when it is known which of them have symbols. */
static void
write_mappings(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    uint32_t first = profile->module_count > 1 ? main_module(profile) : 0;
    uint32_t end = profile->module_count + intern_count(pprof->languages);
    if (first != 0)
        write_mapping(pprof, first);
    for (uint32_t i = 1; i < end; i++)
        if (i != first)
            write_mapping(pprof, i);
}

/* Collect the location ids of a stack, leaf first. Returns 0, or -1 if memory
 * is short. */
static int
set_stack(struct pprof *pprof, uint32_t leaf)
{
    const struct profile *profile = pprof->profile;
    pprof->depth = 0;
    for (uint32_t i = leaf; i != 0; i = profile->nodes[i].parent) {
        uint64_t location = location_of(pprof, i);
        if (location == 0)
            return -1;
        pprof->stack[pprof->depth++] = location;
    }
    return 0;
}

static int
write_sample(struct pprof *pprof, const struct profile_sample *from)
{
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
    Perftools__Profiles__Sample *only = &sample;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    if (set_stack(pprof, from->node) != 0)
        return -1;
    set_labels(pprof, from);
    int64_t values[VALUE_COUNT];
    for (unsigned i = 0; i < pprof->value_count; i++)
        values[i] = (int64_t)from->values[pprof->values[i]];
    sample.n_location_id = pprof->depth;
    sample.location_id = pprof->stack;
    sample.n_value = pprof->value_count;
    sample.value = values;
    sample.n_label = pprof->label_count;
    sample.label = pprof->label_list;
    part.n_sample = 1;
    part.sample = &only;
    write_part(pprof, &part);
    return 0;
}

/* Parts may come in any order; each sample is written with the parts to which
 * it refers. */
static int
write_parts(struct pprof *pprof)
{
    write_head(pprof);
    if (!pprof->is_series)
        write_comments(pprof);
    for (uint32_t i = 0; i < pprof->sample_count; i++)
        if (write_sample(pprof, &pprof->samples[i]) != 0)
            return -1;
    write_mappings(pprof);
    write_texts(pprof);
    return 0;
}

/* Write PPROF to STREAM. Measured: a node takes some 100 bytes with its
 * location, function and names, and a sample 50 with its stack and labels. */
static int
write_all(struct pprof *pprof, FILE *stream)
{
    const struct profile *profile = pprof->profile;
    size_t expected =
        100 * (size_t)profile->node_count + 50 * (size_t)pprof->sample_count;
    pprof->gzip = gzip_new(stream, expected);
    pprof->texts = intern_new();
    pprof->functions = intern_new();
    pprof->locations = intern_new();
    pprof->languages = intern_new();
    pprof->by_node = calloc(profile->node_count, sizeof(*pprof->by_node));
    pprof->stack = malloc(profile->node_count * sizeof(*pprof->stack));
    if (pprof->gzip == NULL || pprof->texts == NULL ||
        pprof->functions == NULL || pprof->locations == NULL ||
        pprof->languages == NULL || pprof->by_node == NULL ||
        pprof->stack == NULL || text_of(pprof, "") != 0 ||
        write_parts(pprof) != 0)
        note_error(pprof, ENOMEM);
    if (pprof->gzip != NULL && gzip_end(pprof->gzip) != 0)
        note_error(pprof, errno);
    intern_free(pprof->texts);
    intern_free(pprof->languages);
    intern_free(pprof->locations);
    intern_free(pprof->functions);
    free(pprof->by_node);
    free(pprof->stack);
    free(pprof->buffer);
    errno = pprof->error;
    return pprof->error == 0 ? 0 : -1;
}

int
pprof_write(FILE *stream, struct profile *profile)
{
    static const enum value values[] = {VALUE_SAMPLES, VALUE_CPU, VALUE_WALL};
    struct pprof pprof = {.profile = profile,
                          .samples = profile->samples,
                          .sample_count = profile->sample_count,
                          .values = values,
                          .value_count = VALUE_COUNT};
    return write_all(&pprof, stream);
}

int
pprof_write_series(FILE *stream, struct profile *profile, enum value value,
                   const struct profile_sample *samples, uint32_t count)
{
    static const enum value cpu[] = {VALUE_SAMPLES, VALUE_CPU};
    static const enum value wall[] = {VALUE_WALL};
    struct pprof pprof = {.profile = profile,
                          .samples = samples,
                          .sample_count = count,
                          .values = value == VALUE_CPU ? cpu : wall,
                          .value_count = value == VALUE_CPU ? 2 : 1,
                          .is_series = true};
    return write_all(&pprof, stream);
}

int
pprof_write_value(FILE *stream, struct profile *profile, enum value value)
{
    const enum value values[] = {VALUE_SAMPLES, value};
    struct profile_sample *samples = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].values[value] == 0)
            continue;
        if (!ARRAY_GROW(samples, count)) {
            free(samples);
            errno = ENOMEM;
            return -1;
        }
        samples[count++] = profile->samples[i];
    }
    struct pprof pprof = {.profile = profile,
                          .samples = samples,
                          .sample_count = count,
                          .values = values,
                          .value_count = 2};
    int status = write_all(&pprof, stream);
    free(samples);
    return status;
}

/* Samples that do not differ in what a series shows become one. */
struct profile_sample *
pprof_merge(struct profile *profile, enum value value, uint32_t *count)
{
    struct intern keys = {0};
    struct profile_sample *merged = NULL;
    uint32_t number = 0;
    *count = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *from = &profile->samples[i];
        const uintptr_t key[4] = {
            from->node, from->labels,
            (uintptr_t)profile->threads[from->thread].name,
            value == VALUE_WALL ? from->state : 0u};
        if (from->values[value] == 0)
            continue;
        number = intern_put(&keys, key, sizeof(key));
        if (number == INTERN_NONE || !ARRAY_GROW(merged, *count))
            break;
        if (number == *count)
            merged[(*count)++] = *from;
        else
            for (unsigned j = 0; j < VALUE_COUNT; j++)
                sum_add(&merged[number].values[j], from->values[j]);
        number = 0;
    }
    intern_clear(&keys);
    if (number == 0 && (merged != NULL || ARRAY_NEW(merged, 0)))
        return merged;
    free(merged);
    errno = ENOMEM;
    return NULL;
}
