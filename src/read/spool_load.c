/* SPDX-License-Identifier: MIT */
/*
 * spool_load.c -- takes modules, threads, nodes and texts from a spool into the
 * profile. Nodes are consecutive in a spool, so they are only shifted. Threads
 * and modules may have gaps and are looked up. A definition that contradicts an
 * earlier one, or refers to nothing, makes no sense and is left out.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "model/naming.h"
#include "store/record.h"
#include "symbol/elf_view.h"
#include "symbol/mapped_files.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "util/number.h"
#include "generated.h"
#include "spool_load.h"

uint32_t
spool_load_number(const struct numbering *numbering, uint32_t id)
{
    uint32_t at = intern_find(&numbering->ids, &id, sizeof(id));
    return at == INTERN_NONE ? INTERN_NONE : numbering->numbers[at];
}

int
spool_load_define(struct numbering *numbering, uint32_t id, uint32_t number)
{
    uint32_t count = intern_count(&numbering->ids);
    if (!ARRAY_GROW(numbering->numbers, count))
        return -1;
    numbering->numbers[count] = number;
    return intern_put(&numbering->ids, &id, sizeof(id)) == INTERN_NONE ? -1 : 0;
}

/* A time at the limit of the numbers is damage, not a long run. */
void
spool_load_see_time(struct spool_load *load, uint64_t time, uint64_t duration)
{
    sum_add(&time, duration);
    if (time > load->end && time < INT64_MAX)
        load->end = time;
}

/* Build-ids have 20 bytes, or 16 or 8; more than 64 are not shown. */
static const char *
hexadecimal(struct profile *profile, const uint8_t *bytes, size_t length)
{
    if (length > 64)
        length = 64;
    char text[2 * 64 + 1];
    return profile_string(profile, number_hexadecimal(bytes, length, text));
}

/* Why a file without a build-id is not used. */
static const char has_changed[] =
    "is not the file that was profiled: that has no build-id, and was deleted "
    "or had another size or time of change";
static const char is_foreign[] =
    "may be another file than the one that was profiled: the profile is of "
    "another host, and that file has no build-id";

bool
spool_load_is_foreign(const char *host, const char *boot)
{
    char own[256] = "", own_boot[PROC_BOOT_SIZE], text[PATH_MAX];
    const char *root = "/";
    gethostname(own, sizeof(own) - 1);
    return host[0] != '\0' && strcmp(host, own) != 0 &&
           (proc_boot(own_boot) == 0 || strcmp(boot, own_boot) != 0) &&
           elf_view_place(root, text) == root;
}

/* While the process lives, as when it has its profile written, a file that is
 * gone from its path can still be read. If it cannot, its build-id keeps
 * another file at that path from being used. A file without one is not used. */
static void
look_for_copy(struct spool_load *load, const struct record_module *record,
              uint32_t id)
{
    struct profile *profile = load->profile;
    bool is_elsewhere = (record->flags & MODULE_DELETED) != 0;
    char *copy = NULL;
    if (!load->has_looked && load->pid != 0)
        load->mapped =
            mapped_files_open(load->pid,
                              profile->processes[load->process].monotonic);
    load->has_looked = true;
    bool is_moved = false;
    const uint8_t *build_id = record_build_id(record);
    struct bytes wanted = {build_id, build_id + record->build_id_length};
    if (load->mapped != NULL)
        copy = mapped_files_find(load->mapped, record->start,
                                 record_path(record), wanted, &is_moved);
    is_elsewhere |= is_moved;
    if (copy != NULL)
        symbolizer_add_copy(profile->symbols, id, copy);
    else if (is_elsewhere && record->build_id_length == 0)
        symbolizer_refuse(profile->symbols, id, has_changed);
    free(copy);
}

/* The symbolizer may be that of other profiles, too. */
uint32_t
spool_load_file(struct profile *profile, const char *path, const char *build_id,
                const uint8_t *bytes, size_t length)
{
    uint32_t known = intern_count(&profile->files);
    uint32_t key[2] = {intern_string(profile->strings, path),
                       intern_string(profile->strings, build_id)};
    if (key[0] == INTERN_NONE || key[1] == INTERN_NONE)
        return 0;
    uint32_t file = intern_put(&profile->files, key, sizeof(key));
    uint32_t id =
        symbolizer_file(profile->symbols, path, build_id, profile->owner);
    if (file == known && id != 0)
        symbolizer_add(profile->symbols, id, path, bytes, length);
    return file != INTERN_NONE ? id : 0;
}

static uint32_t
add_file(struct spool_load *load, const struct record_module *record,
         const char *build_id)
{
    struct profile *profile = load->profile;
    uint32_t known = intern_count(&profile->files);
    uint32_t id =
        spool_load_file(profile, record_path(record), build_id,
                        record_build_id(record), record->build_id_length);
    if (id != 0 && intern_count(&profile->files) > known)
        look_for_copy(load, record, id);
    return id;
}

/* The same file mapped twice, or again after dlclose, makes two modules: they
 * have different addresses. */
enum outcome
spool_load_add_module(struct spool_load *load, const void *bytes)
{
    const struct record_module *record = bytes;
    struct profile *profile = load->profile;
    uint32_t number = profile->module_count;
    if (record->id == 0 || record->start > record->end ||
        spool_load_number(&load->modules, record->id) != INTERN_NONE)
        return SENSELESS;
    if (!ARRAY_GROW(profile->modules, number))
        return FAILED;
    struct profile_module *modules = profile->modules;
    modules[number] = (struct profile_module){
        .process = load->process,
        .flags = record->flags,
        .base = record->base,
        .start = record->start,
        .end = record->end,
        .path = profile_string(profile, record_path(record)),
        .build_id = hexadecimal(profile, record_build_id(record),
                                record->build_id_length),
    };
    if (modules[number].path == NULL || modules[number].build_id == NULL)
        return FAILED;
    modules[number].symbols = add_file(load, record, modules[number].build_id);
    if (modules[number].symbols == 0 ||
        spool_load_define(&load->modules, record->id, number) != 0)
        return FAILED;
    profile->module_count++;
    return USED;
}

/* Whether the file at PATH has the size and time of RECORD. A file that cannot
 * be read is left to the symbolizer. Copies of a file may have its time in
 * whole seconds. */
static bool
is_same_file(const char *path, const struct record_file *record)
{
    char text[PATH_MAX];
    struct stat status;
    if (stat(elf_view_place(path, text), &status) != 0)
        return true;
    uint64_t seconds = (uint64_t)status.st_mtim.tv_sec;
    uint64_t rest = (uint64_t)status.st_mtim.tv_nsec;
    return (uint64_t)status.st_size == record->size &&
           seconds == record->modified / NS_PER_SECOND &&
           (rest == 0 || rest == record->modified % NS_PER_SECOND);
}

enum outcome
spool_load_see_file(struct spool_load *load, const void *bytes)
{
    const struct record_file *record = bytes;
    uint32_t number = spool_load_number(&load->modules, record->module);
    if (number == INTERN_NONE)
        return SENSELESS;
    struct symbolizer *symbols = load->profile->symbols;
    struct profile_module *module = &load->profile->modules[number];
    module->is_checked = true;
    if (module->build_id[0] == '\0' &&
        !is_same_file(symbolizer_path(symbols, module->symbols), record))
        symbolizer_refuse(symbols, module->symbols, has_changed);
    return USED;
}

/* A thread has a further record for each change of its name;
 * the last one stays. */
enum outcome
spool_load_add_thread(struct spool_load *load, const void *bytes)
{
    const struct record_thread *record = bytes;
    struct profile *profile = load->profile;
    const char *name = profile_string(profile, record_name(record));
    uint32_t number = spool_load_number(&load->threads, record->id);
    if (record->id == 0)
        return SENSELESS;
    if (name == NULL)
        return FAILED;
    if (number != INTERN_NONE) {
        profile->threads[number].name = name;
        return USED;
    }
    number = profile->thread_count;
    if (!ARRAY_GROW(profile->threads, number))
        return FAILED;
    profile->threads[number] =
        (struct profile_thread){.process = load->process,
                                .tid = record->tid,
                                .id = record->id,
                                .name = name,
                                .start =
                                    record->time < INT64_MAX ? record->time : 0,
                                .end = UINT64_MAX};
    if (spool_load_define(&load->threads, record->id, number) != 0)
        return FAILED;
    profile->thread_count++;
    return USED;
}

/* The clock of a thread is exact, while the sum of its samples is an
 * estimate. A value of 0 that was not read at the end means that the
 * clock was never read. */
enum outcome
spool_load_end_thread(struct spool_load *load, const void *bytes)
{
    const struct record_thread_end *record = bytes;
    uint32_t number = spool_load_number(&load->threads, record->id);
    if (number == INTERN_NONE)
        return SENSELESS;
    struct profile_thread *thread = &load->profile->threads[number];
    thread->cpu = 0;
    sum_add(&thread->cpu, record->cpu);
    thread->has_exact_cpu = (record->flags & THREAD_END_EXACT) != 0;
    thread->has_cpu = thread->has_exact_cpu || thread->cpu > 0;
    thread->end = record->time;
    spool_load_see_time(load, record->time, 0);
    return USED;
}

enum outcome
spool_load_see_clock(struct spool_load *load, const void *bytes)
{
    const struct record_live *record = bytes;
    uint32_t number = spool_load_number(&load->threads, record->thread);
    if (number == INTERN_NONE)
        return SENSELESS;
    struct profile_thread *thread = &load->profile->threads[number];
    thread->live_cpu = 0;
    sum_add(&thread->live_cpu, record->cpu);
    return USED;
}

void
spool_load_see_alive(struct spool_load *load, uint32_t number, uint64_t time)
{
    struct profile_thread *thread = &load->profile->threads[number];
    if (time < thread->start)
        thread->start = time;
    if (time <= thread->end)
        return;
    thread->end = UINT64_MAX;
    thread->cpu = 0;
    thread->has_cpu = thread->has_exact_cpu = false;
}

/* A node with a wrong parent still gets its number, so that the nodes after it
 * keep theirs. It becomes the marker that the stack is not known beyond it. */
enum outcome
spool_load_add_node(struct spool_load *load, const void *bytes)
{
    const struct record_node *record = bytes;
    struct profile *profile = load->profile;
    uint32_t next = profile->node_count;
    bool valid = record->parent < record->id;
    uint32_t module = 0;
    if (record->id == 0 || record->id - 1 != load->node_count ||
        next >= UINT32_MAX - 1)
        return SENSELESS;
    if (!ARRAY_GROW(profile->nodes, next) ||
        !ARRAY_GROW(load->nodes, load->node_count))
        return FAILED;
    struct profile_node *nodes = profile->nodes;
    bool is_script = (record->flags & NODE_SCRIPT) != 0;
    if (record->module != 0 && !is_script)
        module = spool_load_number(&load->modules, record->module);
    if (module == INTERN_NONE) {
        valid = false;
        module = 0;
    }
    nodes[next] = (struct profile_node){.flags = NODE_TRUNCATED};
    if (valid) {
        nodes[next].flags = record->flags;
        nodes[next].module = module;
        nodes[next].offset = record->offset;
        if (record->parent != 0)
            nodes[next].parent = load->nodes[record->parent - 1];
    }
    load->nodes[load->node_count++] = next;
    if (valid && is_script) {
        profile->has_scripts = true;
        if (spool_script_is_php(&load->scripts, record->module))
            nodes[next].flags |= NODE_PHP;
        nodes[next].symbol =
            spool_script_symbol(&load->scripts, profile, record->module,
                                (int64_t)record->offset);
        if (nodes[next].symbol == NULL)
            return FAILED;
    }
    profile->node_count++;
    return valid ? USED : SENSELESS;
}

uint32_t
spool_load_node(const struct spool_load *load, uint32_t id)
{
    return id == 0 || id > load->node_count ? INTERN_NONE : load->nodes[id - 1];
}

/* Texts are numbers of strings, so that equal texts are equal parts of a
 * key. */
enum outcome
spool_load_add_text(struct spool_load *load, const void *bytes)
{
    const struct record_text *record = bytes;
    if (record->id == 0 ||
        spool_load_number(&load->texts, record->id) != INTERN_NONE)
        return SENSELESS;
    uint32_t string =
        clean_put(load->profile->strings, record_string(record), "");
    if (string == INTERN_NONE ||
        spool_load_define(&load->texts, record->id, string) != 0)
        return FAILED;
    return USED;
}

/* FRAMES_MOST: the most functions inlined in one another; a record with more is
 * damaged. */
enum { FRAMES_MOST = 4096 };

const char *
spool_load_text(const struct spool_load *load, uint32_t id)
{
    uint32_t string = id == 0 ? 0 : spool_load_number(&load->texts, id);
    return string == INTERN_NONE ? NULL
                                 : intern_bytes(load->profile->strings, string);
}

/* Make a symbol with room for its frames; NULL if memory is short. */
static struct symbol *
new_symbol(struct spool_load *load, const struct record_symbol *record)
{
    struct symbol_frame *frames =
        profile_block(load->profile, record->count * sizeof(*frames));
    struct symbol *symbol = profile_block(load->profile, sizeof(*symbol));
    struct symbol **symbols =
        array_room(load->symbols, load->symbol_count, sizeof(*symbols));
    if (symbols != NULL)
        load->symbols = symbols;
    if (frames == NULL || symbol == NULL || symbols == NULL)
        return NULL;
    *symbol = (struct symbol){.count = record->count,
                              .named = (record->flags & SYMBOL_NAMED) != 0,
                              .frames = frames,
                              .is_collector =
                                  (record->flags & SYMBOL_COLLECTOR) != 0};
    symbols[load->symbol_count++] = symbol;
    load->frame_count = 0;
    return symbol;
}

/* The record is a frame of the symbol that is being read, or the
 * first of the next. */
enum outcome
spool_load_add_symbol(struct spool_load *load, const void *bytes)
{
    const struct record_symbol *record = bytes;
    struct symbol_frame frame = {spool_load_text(load, record->function),
                                 spool_load_text(load, record->linkage),
                                 spool_load_text(load, record->file),
                                 record->line, record->start_line};
    struct symbol *symbol = NULL;
    if (frame.function == NULL || frame.linkage == NULL || frame.file == NULL ||
        record->count == 0 || record->count > FRAMES_MOST)
        return SENSELESS;
    frame.function = naming_spell(load->profile, frame.function, frame.linkage);
    if (frame.function == NULL)
        return FAILED;
    if (load->symbol_count > 0)
        symbol = load->symbols[load->symbol_count - 1];
    if (symbol == NULL || load->frame_count == symbol->count) {
        if (record->id != load->symbol_count + 1)
            return SENSELESS;
        symbol = new_symbol(load, record);
        if (symbol == NULL)
            return FAILED;
    } else if (record->id != load->symbol_count ||
               record->count != symbol->count) {
        return SENSELESS;
    }
    ((struct symbol_frame *)symbol->frames)[load->frame_count++] = frame;
    return USED;
}

/* A symbol that lacks frames, because the file is truncated, is not used. */
enum outcome
spool_load_name_node(struct spool_load *load, const void *bytes)
{
    const struct record_named *record = bytes;
    struct profile *profile = load->profile;
    uint32_t node = spool_load_node(load, record->node);
    if (node == INTERN_NONE || record->symbol == 0 ||
        record->symbol > load->symbol_count || profile_is_marker(profile, node))
        return SENSELESS;
    const struct symbol *symbol = load->symbols[record->symbol - 1];
    if (record->symbol == load->symbol_count &&
        load->frame_count < symbol->count)
        return SENSELESS;
    profile->nodes[node].symbol = symbol;
    struct profile_module *module =
        &profile->modules[profile->nodes[node].module];
    if (profile->nodes[node].module != 0) {
        module->has_names = true;
        module->names |= record->names;
    }
    return USED;
}

struct profile_sample *
spool_load_sample(struct spool_load *load, const struct profile_sample *key)
{
    struct profile *profile = load->profile;
    /* Strings are compared by address: equal ones have the same. */
    const uintptr_t words[6] = {key->thread,
                                key->node,
                                (uintptr_t)load->number << 32 |
                                    (uintptr_t)key->is_gpu_wait << 25 |
                                    (uintptr_t)key->is_measured << 24 |
                                    (uintptr_t)key->state << 16 |
                                    key->system_call,
                                (uintptr_t)key->waits_on,
                                key->labels,
                                key->epoch};
    struct profile_sample *samples =
        array_room(profile->samples, profile->sample_count, sizeof(*samples));
    uint32_t number;

    if (samples == NULL)
        return NULL;
    profile->samples = samples;
    number = intern_put(&profile->keys, words, sizeof(words));
    if (number == INTERN_NONE)
        return NULL;
    if (number == profile->sample_count)
        samples[profile->sample_count++] = *key;
    return &samples[number];
}

/* The time of the profile reaches from the first start to the last end. */
static void
add_time(struct spool_load *load)
{
    struct profile *profile = load->profile;
    struct profile_process *process = &profile->processes[load->process];
    uint64_t end = profile->start;
    process->duration = load->end;
    sum_add(&end, profile->duration);
    if (load->process == 0 || process->start < profile->start)
        profile->start = process->start;
    if (load->process == 0 || process->start + load->end > end) {
        end = process->start;
        sum_add(&end, load->end);
    }
    profile->duration = end - profile->start;
}

/* Add the samples of the spool, whose values are final, to the sums of threads
 * and to the totals. */
static void
add_samples(const struct spool_load *load)
{
    struct profile *profile = load->profile;
    for (uint32_t i = load->first_sample; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t *thread = profile->threads[sample->thread].values;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            sum_add(&thread[j], sample->values[j]);
            sum_add(&profile->totals[j], sample->values[j]);
        }
    }
}

/* A file of another host without a build-id is used only if it has the spool's
 * size and time. */
static void
refuse_foreign(const struct spool_load *load)
{
    const struct profile *profile = load->profile;
    for (uint32_t i = profile->module_count; i > 1; i--) {
        const struct profile_module *module = &profile->modules[i - 1];
        if (module->process != load->process)
            break;
        if (module->build_id[0] == '\0' && !module->is_checked)
            symbolizer_refuse(profile->symbols, module->symbols, is_foreign);
    }
}

/* A sum that would overflow stops at INT64_MAX. */
void
spool_load_sum(struct spool_load *load)
{
    if (load->is_foreign)
        refuse_foreign(load);
    add_samples(load);
    profile_add_cost(&load->profile->cost, &load->cost);
    add_time(load);
}

void
spool_load_forget_mapped(struct spool_load *load)
{
    mapped_files_close(load->mapped);
    load->mapped = NULL;
    load->has_looked = false;
}

static void
forget_numbers(struct numbering *numbering)
{
    intern_clear(&numbering->ids);
    free(numbering->numbers);
}

void
spool_load_release(struct spool_load *load)
{
    forget_numbers(&load->modules);
    forget_numbers(&load->threads);
    forget_numbers(&load->texts);
    forget_numbers(&load->labels);
    spool_script_release(&load->scripts);
    mapped_files_close(load->mapped);
    generated_release(load->generated);
    free(load->nodes);
    free(load->waits);
    free(load->notes);
    free(load->unsampled);
    free(load->clocks);
    free(load->symbols);
}
