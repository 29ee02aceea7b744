/* SPDX-License-Identifier: MIT */
/*
 * journal.c -- from what the sampler sees to records; see journal.h. The first
 * record that cannot be written ends the journal: what stands in the file is
 * whole, and journal_error says why there is no more.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/rules.h"
#include "capture/walk.h"
#include "store/writer.h"
#include "journal.h"
#include "label_journal.h"
#include "stack_tree.h"
#include "text_ids.h"

/* Frames that are none: below all addresses that code can have. */
#define FRAME_ELIDED 1u
#define FRAME_CUT 16u /* + enum cut */

/* Modules are written when a frame first lies in them; ids beyond this are not
 * remembered and written again. */
#define MODULES_MAX 65536u

/* All threads that came and went unseen, as one. */
#define UNSEEN_THREAD UINT32_MAX
#define UNSEEN_NAME "[short-lived]"

static struct journal_options options;
static struct writer *writer;
static struct record_counts *counts;
static struct record_control *control;
static int failure;
static uint8_t *module_written;  /* by module id */
static uint32_t *thread_written; /* by thread index: the serial */
static struct record_sample *unseen[JOURNAL_AGES];

int
journal_error(void)
{
    return failure;
}

/* The one way to the file: after the first failure nothing is tried again. */
void *
journal_append(enum record_kind kind, const void *record, size_t fixed,
               const struct writer_tail *tail, size_t parts)
{
    if (writer == NULL || failure != 0)
        return NULL;
    void *place = writer_append(writer, kind, record, fixed, tail, parts);
    if (place == NULL)
        failure = errno;
    return place;
}

static void
write_process(void)
{
    char host[256];
    if (gethostname(host, sizeof(host)) != 0)
        host[0] = '\0';
    host[sizeof(host) - 1] = '\0';
    struct record_process process = options.process;
    process.exe_length = (uint16_t)(strlen(options.exe) + 1);
    process.command_length = (uint16_t)(strlen(options.command) + 1);
    process.version_length = sizeof(SPROF_VERSION);
    process.host_length = (uint16_t)(strlen(host) + 1);
    const struct writer_tail tail[] = {
        {options.exe, process.exe_length},
        {options.command, process.command_length},
        {SPROF_VERSION, process.version_length},
        {host, process.host_length},
    };
    journal_append(RECORD_PROCESS, &process, sizeof(process), tail, 4);
}

/* Written once with zeros and changed in place from then on (journal_counts),
 * so that a killed process leaves its last counts. */
static void
write_counts(void)
{
    static const uint64_t zeros[LOSS_COUNT + CUT_COUNT];
    struct record_counts record = {.loss_count = LOSS_COUNT,
                                   .cut_count = CUT_COUNT};
    const struct writer_tail tail = {zeros, sizeof(zeros)};
    counts = journal_append(RECORD_COUNTS, &record, sizeof(record), &tail, 1);
}

static void
write_control(void)
{
    struct record_control record = {.state = CONTROL_WAITING};
    control = journal_append(RECORD_CONTROL, &record, sizeof(record), NULL, 0);
}

/* Make the file. Returns 0, or -1 with errno. */
static int
make_file(void)
{
    struct spool_header header = {.start_monotonic = options.start,
                                  .pid = options.process.pid};
    header.start_realtime = clock_realtime() - (clock_now() - options.start);
    writer = writer_create(options.path, &header, options.max_size);
    if (writer == NULL)
        return -1;
    write_process();
    write_counts();
    write_control();
    errno = failure;
    return failure == 0 ? 0 : -1;
}

int
journal_begin(const struct journal_options *given)
{
    options = *given;
    writer = NULL;
    counts = NULL;
    control = NULL;
    memset(unseen, 0, sizeof(unseen));
    failure = 0;
    sys_release(module_written, MODULES_MAX);
    sys_release(thread_written, THREADS_MAX * sizeof(*thread_written));
    module_written = sys_reserve(MODULES_MAX);
    thread_written = sys_reserve(THREADS_MAX * sizeof(*thread_written));
    if (module_written == NULL || thread_written == NULL ||
        stack_tree_begin() != 0 || text_ids_begin() != 0) {
        errno = ENOMEM;
        return -1;
    }
    label_journal_begin();
    return make_file();
}

void
journal_keep_open(void)
{
    if (writer != NULL)
        writer_keep_open(writer);
}

static void
write_module(const struct module *module)
{
    struct record_module record = {.id = module->id,
                                   .generation = module->id,
                                   .base = module->base,
                                   .start = module->start,
                                   .end = module->end,
                                   .time = clock_now() - options.start,
                                   .build_id_length = module->build_id_length,
                                   .path_length =
                                       (uint16_t)(strlen(module->path) + 1),
                                   .flags =
                                       (module->is_vdso ? MODULE_VDSO : 0u) |
                                       (module->deleted ? MODULE_DELETED : 0u)};
    const struct writer_tail tail[] = {{module->build_id,
                                        module->build_id_length},
                                       {module->path, record.path_length}};
    journal_append(RECORD_MODULE, &record, sizeof(record), tail, 2);
    if (module->id < MODULES_MAX)
        module_written[module->id] = 1;
}

void
journal_module_gone(const struct module *module)
{
    struct record_module_end record = {.id = module->id,
                                       .time = clock_now() - options.start};
    if (module->id < MODULES_MAX && !module_written[module->id])
        return;
    stack_tree_forget();
    journal_append(RECORD_MODULE_END, &record, sizeof(record), NULL, 0);
}

/* Write node ID, which is FRAME under PARENT. */
static bool
write_node(uint32_t id, uint32_t parent, uint64_t frame)
{
    struct record_node record = {.id = id, .parent = parent};
    uint64_t lookup = frame_lookup(frame);
    const struct module *module = modules_find(lookup);
    if (frame == FRAME_ELIDED) {
        record.flags = NODE_ELIDED;
    } else if (frame >= FRAME_CUT && frame < FRAME_CUT + CUT_COUNT) {
        record.flags = NODE_TRUNCATED;
        record.offset = frame - FRAME_CUT;
    } else {
        record.flags = (frame & FRAME_RETURN) ? NODE_RETURN : 0;
        record.offset = FRAME_PC(frame) - (module != NULL ? module->base : 0);
        record.module = module != NULL ? module->id : 0;
        if (module != NULL &&
            (module->id >= MODULES_MAX || !module_written[module->id]))
            write_module(module);
        /* A frame that is seen again deserves a rule of its own: one probe. */
        if (!rules_has_exact(lookup)) {
            struct rule rule = rules_find(lookup);
            if (rule_kind(rule) != RULE_NONE)
                rules_put(lookup, rule);
        }
    }
    return journal_append(RECORD_NODE, &record, sizeof(record), NULL, 0) !=
           NULL;
}

/* The node of FRAME under *PARENT, written if it is new, becomes *PARENT. */
static bool
descend(uint32_t *parent, uint64_t frame)
{
    bool is_new;
    uint32_t id = stack_tree_node(*parent, frame, &is_new);
    if (id == 0 || (is_new && !write_node(id, *parent, frame)))
        return false;
    *parent = id;
    return true;
}

/* From the root to the leaf, as a node needs its caller's id. What was cut off
 * beyond the root is a frame of its own, and so is the gap. */
uint32_t
journal_stack(const uint64_t *frames, uint32_t count, uint32_t gap, bool elided,
              enum cut cut)
{
    uint32_t node = 0;
    if (failure != 0)
        return 0;
    if (cut != CUT_NONE && !descend(&node, FRAME_CUT + (uint64_t)cut))
        return 0;
    for (uint32_t i = count; i-- > 0;) {
        if (elided && i + 1 == gap && !descend(&node, FRAME_ELIDED))
            return 0;
        if (!descend(&node, frames[i]))
            return 0;
    }
    return node;
}

static void
write_thread_as(uint32_t id, pid_t tid, const char *name)
{
    struct record_thread record = {.id = id,
                                   .tid = (uint32_t)tid,
                                   .time = clock_now() - options.start,
                                   .name_length = (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, record.name_length};
    journal_append(RECORD_THREAD, &record, sizeof(record), &tail, 1);
}

static void
write_thread(uint32_t index)
{
    const struct thread *thread = threads_at(index);
    write_thread_as(thread->serial, thread->tid, thread->name);
    thread_written[index] = thread->serial;
}

/* An index is used again for another thread, whose serial is a new one. */
static bool
is_written(uint32_t index)
{
    return thread_written[index] == threads_at(index)->serial;
}

uint32_t
journal_thread(uint32_t index)
{
    if (!is_written(index)) {
        threads_read_name(index);
        write_thread(index);
    }
    return threads_at(index)->serial;
}

uint64_t
journal_time(uint64_t time)
{
    return time > options.start ? time - options.start : 0;
}

struct record_sample *
journal_sample(struct record_sample *sample, uint32_t index)
{
    sample->thread = journal_thread(index);
    sample->time -= options.start;
    return journal_append(RECORD_SAMPLE, sample, sizeof(*sample), NULL, 0);
}

/* The flags last, with the word they share. */
static void
store_flags(struct record_sample *sample, uint64_t flags)
{
    _Static_assert(offsetof(struct record_sample, flags) ==
                       offsetof(struct record_sample, waits_on) + 4,
                   "one word");
    writer_store((uint64_t *)(void *)&sample->waits_on,
                 flags << 32 | sample->waits_on);
}

void
journal_close(struct record_sample *sample, uint64_t wall, uint64_t count,
              uint64_t end)
{
    uint64_t time = end - options.start;
    if (time > sample->time)
        writer_store(&sample->duration, time - sample->time);
    writer_store(&sample->count, count);
    writer_store(&sample->wall, wall);
    store_flags(sample, 0);
}

void
journal_reopen(struct record_sample *sample, uint64_t wall, uint64_t now)
{
    writer_store(&sample->duration, now - options.start - sample->time);
    writer_store(&sample->wall, wall);
    store_flags(sample, SAMPLE_OPEN);
}

uint32_t
journal_text(const char *text)
{
    bool is_new;
    uint32_t id = text_ids_of(text, &is_new);
    if (id == 0 || !is_new)
        return id;
    struct record_text record = {.id = id,
                                 .text_length = (uint16_t)(strlen(text) + 1)};
    const struct writer_tail tail = {text, record.text_length};
    journal_append(RECORD_TEXT, &record, sizeof(record), &tail, 1);
    return id;
}

void
journal_thread_end(uint32_t index, uint64_t cpu, uint64_t flags, uint64_t end)
{
    struct record_thread_end record = {.id = threads_at(index)->serial,
                                       .time = end - options.start,
                                       .cpu = cpu,
                                       .flags = flags};
    if (failure != 0 || (cpu == 0 && !is_written(index)))
        return;
    if (!is_written(index))
        write_thread(index);
    journal_append(RECORD_THREAD_END, &record, sizeof(record), NULL, 0);
}

void
journal_thread_name(uint32_t index)
{
    if (is_written(index))
        write_thread(index);
}

static struct record_sample *
begin_unseen(uint64_t age)
{
    struct record_sample sample = {.time = clock_now() - options.start,
                                   .thread = UNSEEN_THREAD,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_RUNNING,
                                   .trigger = TRIGGER_NONE,
                                   .age = age};
    return journal_append(RECORD_SAMPLE, &sample, sizeof(sample), NULL, 0);
}

void
journal_unseen(unsigned i, uint64_t age, uint64_t cpu)
{
    if (i == 0 && unseen[0] == NULL)
        write_thread_as(UNSEEN_THREAD, 0, UNSEEN_NAME);
    if (unseen[i] == NULL)
        unseen[i] = begin_unseen(age);
    if (unseen[i] == NULL)
        return;
    writer_store(&unseen[i]->cpu, cpu);
    writer_store(&unseen[i]->wall, cpu);
}

uint64_t
journal_start(void)
{
    return options.start;
}

/* STATE and SIGNO are one word. */
static void
store_control(uint32_t state, uint32_t signo)
{
    _Static_assert(offsetof(struct record_control, state) % 8 == 0 &&
                       offsetof(struct record_control, signal) ==
                           offsetof(struct record_control, state) + 4,
                   "one word");
    writer_store((uint64_t *)(void *)&control->state,
                 (uint64_t)signo << 32 | state);
}

void
journal_state(uint32_t state, uint64_t now)
{
    if (control == NULL)
        return;
    writer_store(&control->time, now - options.start);
    store_control(state, control->signal);
}

void
journal_signal(int signo)
{
    if (control != NULL)
        store_control(control->state, (uint32_t)signo);
}

void
journal_counts(const struct record_counts *now, const uint64_t *lost,
               const uint64_t *cut)
{
    if (counts == NULL)
        return;
    /* All counters between the head and the two lengths are one word each. */
    struct record_counts relative = *now;
    relative.time -= options.start;
    const uint64_t *from = &relative.time;
    uint64_t *to = &counts->time;
    size_t words = (offsetof(struct record_counts, loss_count) -
                    offsetof(struct record_counts, time)) /
                   sizeof(uint64_t);
    for (size_t i = 0; i < words; i++)
        writer_store(&to[i], from[i]);
    uint64_t *tail = (uint64_t *)(void *)(counts + 1);
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        writer_store(&tail[i], lost[i]);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        writer_store(&tail[LOSS_COUNT + i], cut[i]);
}

void
journal_end(const struct record_summary *summary)
{
    struct record_summary record = *summary;
    if (writer == NULL)
        return;
    record.time -= options.start;
    /* Also after a failure: the writer keeps room for it. */
    writer_append(writer, RECORD_SUMMARY, &record, sizeof(record), NULL, 0);
    writer_close(writer);
    writer = NULL;
    counts = NULL;
    control = NULL;
}

void
journal_forget(void)
{
    if (writer != NULL)
        writer_forget(writer);
    writer = NULL;
    counts = NULL;
    control = NULL;
}
