/* SPDX-License-Identifier: MIT */
/* stacks_json.c -- see stacks_text.h. */
#include <stdlib.h>

#include "model/naming.h"
#include "model/system_call.h"
#include "util/json.h"
#include "stacks_text.h"

/* Add NUMBER, or null if it is not known. */
static void
add_number(struct json *json, const char *name, uint64_t number, bool is_known)
{
    json_name(json, name);
    if (is_known)
        json_number(json, number);
    else
        json_null(json);
}

/* Add TEXT, or null if it is NULL or "". */
static void
add_text(struct json *json, const char *name, const char *text)
{
    json_name(json, name);
    if (text != NULL && text[0] != '\0')
        json_string(json, text);
    else
        json_null(json);
}

/* Add the tids of COUNT threads with these NUMBERS. */
static void
add_tids(struct json *json, const char *name, const struct stacks *stacks,
         const uint32_t *numbers, uint32_t count)
{
    json_name_open(json, name, '[');
    for (uint32_t i = 0; i < count; i++)
        json_number(json, stacks->threads[numbers[i]].tid);
    json_close(json, ']');
}

static void
add_head(struct json *json, const struct stacks *stacks)
{
    const struct profile_process *process = stacks_process(stacks);
    json_name_number(json, "pid", process->pid);
    json_name_string(json, "exe", process->exe);
    json_name_string(json, "command", process->command);
    json_name_string(json, "host", process->host);
    json_name_number(json, "time_ns", stacks->time);
    json_name_number(json, "took_ns", stacks->took);
    json_name_number(json, "thread_count", stacks->thread_count);
}

/* Add the circles as the tids of their threads. */
static void
add_deadlocks(struct json *json, const struct stacks *stacks)
{
    const uint32_t *threads = stacks->deadlocks.threads;
    json_name_open(json, "deadlocks", '[');
    for (uint32_t i = 0; i < stacks->deadlocks.count; i++) {
        const struct deadlock *deadlock = &stacks->deadlocks.all[i];
        json_open(json, '{');
        add_tids(json, "tids", stacks, threads + deadlock->first,
                 deadlock->count);
        add_tids(json, "waiting_tids", stacks,
                 threads + deadlock->first_outside, deadlock->outside);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Keys are the program's own words. */
static void
add_labels(struct json *json, const struct stacks *stacks, uint32_t set)
{
    const struct stacks_label *list[STACKS_LABELS_MOST];
    unsigned count = stacks_label_list(&stacks->labels, set, list);
    json_name_open(json, "labels", '{');
    for (unsigned i = 0; i < count; i++) {
        json_key(json, list[i]->key);
        json_string(json, list[i]->value);
    }
    json_close(json, '}');
}

static void
add_thread(struct json *json, const struct stacks *stacks,
           const struct stacks_thread *thread)
{
    const char state[2] = {(char)thread->state, '\0'};
    const char *call = thread->system_call == SYSCALL_UNKNOWN
                           ? NULL
                           : system_call_name(stacks_process(stacks)->machine,
                                              thread->system_call);
    json_open(json, '{');
    json_name_number(json, "tid", thread->tid);
    json_name_string(json, "name", thread->name);
    json_name_string(json, "state", thread->doing);
    add_text(json, "kernel_state", state);
    add_text(json, "system_call", call);
    add_text(json, "waits_on", thread->waits_on);
    add_number(json, "owner_tid", thread->owner, thread->owner != 0);
    add_number(json, "cpu_ns", thread->cpu, thread->cpu != STACKS_NO_CPU);
    add_labels(json, stacks, thread->label);
    json_name_number(json, "group", thread->group);
    json_close(json, '}');
}

/* Add the note for missing frames. */
static void
add_note(struct json *json, const struct profile_node *node)
{
    json_open(json, '{');
    json_name_string(json, "note",
                     (node->flags & NODE_ELIDED) != 0 ? "frames are left out"
                     : (node->flags & NODE_GUESSED) != 0
                         ? "caller guessed"
                         : cut_text((unsigned)node->offset));
    json_close(json, '}');
}

/* Add the frames of one node, inlined ones first. */
static void
add_node(struct json *json, struct profile *profile, uint32_t node)
{
    const struct symbol *symbol = naming_symbol(profile, node);
    uint32_t module = profile->nodes[node].module;
    char offset[32];
    snprintf(offset, sizeof(offset), "0x%llx",
             (unsigned long long)profile->nodes[node].offset);
    for (unsigned i = 0; i < symbol->count; i++) {
        const struct symbol_frame *frame = &symbol->frames[i];
        json_open(json, '{');
        json_name_string(json, "function", frame->function);
        json_name_string(json, "linkage", frame->linkage);
        add_text(json, "file", frame->file);
        add_number(json, "line", frame->line, frame->line > 0);
        add_text(json, "module", profile->modules[module].path);
        json_name_string(json, "offset", offset);
        json_name_bool(json, "inlined", i + 1 < symbol->count);
        json_close(json, '}');
    }
}

/* Threads of a group have these values in common, so the first thread gives
 * them. */
static void
add_group(struct json *json, struct stacks *stacks,
          const struct stacks_group *group)
{
    const uint32_t *numbers = stacks->order + group->first;
    const struct stacks_thread *first = &stacks->threads[numbers[0]];
    struct profile *profile = stacks->profile;
    bool has_cause = first->node == 0 || first->cause != STACK_NONE;
    json_open(json, '{');
    add_tids(json, "tids", stacks, numbers, group->count);
    json_name_string(json, "state", first->doing);
    json_name_number(json, "depth", first->depth);
    add_text(json, "cause", has_cause ? stack_cause_word(first->cause) : NULL);
    add_text(json, "cause_text",
             has_cause ? stack_cause_text(first->cause) : NULL);
    json_name_open(json, "frames", '[');
    for (uint32_t at = first->node; at != 0; at = profile->nodes[at].parent)
        if (profile_is_marker(profile, at))
            add_note(json, &profile->nodes[at]);
        else
            add_node(json, profile, at);
    json_close(json, ']');
    json_close(json, '}');
}

/* struct json contains a buffer that is too large for the stack. */
int
stacks_json_write(FILE *stream, struct stacks *stacks)
{
    struct json *json = malloc(sizeof(*json));
    if (json == NULL)
        return -1;
    json_begin(json, stream);
    json_open(json, '{');
    add_head(json, stacks);
    add_deadlocks(json, stacks);
    json_name_open(json, "threads", '[');
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        if (stacks->threads[i].is_kept)
            add_thread(json, stacks, &stacks->threads[i]);
    json_close(json, ']');
    json_name_open(json, "groups", '[');
    for (uint32_t i = 0; i < stacks->group_count; i++)
        add_group(json, stacks, &stacks->groups[i]);
    json_close(json, ']');
    json_close(json, '}');
    int result = json_end(json);
    free(json);
    return result;
}
