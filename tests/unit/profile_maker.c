/* SPDX-License-Identifier: MIT */
/* profile_maker.c -- see profile_maker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "read/load.h"
#include "util/intern.h"

#include "profile_maker.h"

struct maker_name maker_names[32];
unsigned maker_name_count, maker_files, maker_refused;
struct collector maker_collector;
static struct intern maker_ids;

static const struct symbol_frame maker_nameless = {"?", "?", "", 0, 0};

static const struct symbol maker_unknown = {1, false, &maker_nameless, false};

void
maker_name(uint64_t offset, const char *function, const char *inlined)
{
    struct maker_name *name = &maker_names[maker_name_count++];
    unsigned count = 0;

    if (inlined != NULL)
        name->frames[count++] =
            (struct symbol_frame){inlined, inlined, "inlined.h", 7, 5};
    name->frames[count++] = (struct symbol_frame){function, function, "file.c",
                                                  (unsigned)offset, 1};
    name->offset = offset;
    name->symbol = (struct symbol){count, true, name->frames, false};
}

struct symbolizer *
symbolizer_new(const struct symbolizer_options *options)
{
    (void)options;
    maker_files = maker_refused = 0;
    intern_clear(&maker_ids);
    return (struct symbolizer *)maker_names;
}

uint32_t
symbolizer_file(struct symbolizer *symbolizer, const char *path,
                const char *build_id, uint32_t owner)
{
    char key[256];

    (void)symbolizer;
    (void)owner;
    snprintf(key, sizeof key, "%s\n%s", path, build_id);
    return intern_string(&maker_ids, key) + 1;
}

uint32_t
symbolizer_owner(struct symbolizer *symbolizer)
{
    (void)symbolizer;
    return 1;
}

const char *
symbolizer_path(const struct symbolizer *symbolizer, uint32_t id)
{
    (void)symbolizer, (void)id;
    return "";
}

void
symbolizer_refuse(struct symbolizer *symbolizer, uint32_t id, const char *why)
{
    (void)symbolizer, (void)id, (void)why;
    maker_refused++;
}

void
symbolizer_add(struct symbolizer *symbolizer, uint32_t id, const char *path,
               const uint8_t *build_id, size_t length)
{
    (void)symbolizer;
    (void)path;
    (void)build_id;
    (void)length;
    maker_files++;
    assert_int_equal(id, maker_files);
}

void
symbolizer_add_copy(struct symbolizer *symbolizer, uint32_t id,
                    const char *copy)
{
    (void)symbolizer;
    (void)id;
    (void)copy;
}

void
symbolizer_expect(struct symbolizer *symbolizer,
                  struct symbol_question *questions, size_t count)
{
    (void)symbolizer;
    (void)questions;
    (void)count;
}

void
symbolizer_limit(struct symbolizer *symbolizer, uint64_t ns)
{
    (void)symbolizer;
    (void)ns;
}

const struct symbol *
symbolizer_find(struct symbolizer *symbolizer, uint32_t id, uint64_t offset)
{
    (void)symbolizer;
    (void)id;
    for (unsigned i = 0; i < maker_name_count; i++)
        if (maker_names[i].offset == offset)
            return &maker_names[i].symbol;
    return &maker_unknown;
}

/* "before" begins 16 bytes in front of each. */
const char *
symbolizer_before(struct symbolizer *symbolizer, uint32_t id, uint64_t offset,
                  uint64_t *distance)
{
    (void)symbolizer;
    (void)id;
    (void)offset;
    *distance = 16;
    return "before";
}

const char *
symbolizer_problem(const struct symbolizer *symbolizer, uint32_t id)
{
    (void)symbolizer;
    (void)id;
    return NULL;
}

const char *
symbolizer_unread(const struct symbolizer *symbolizer, uint32_t id)
{
    (void)symbolizer;
    (void)id;
    return NULL;
}

unsigned
symbolizer_flags(const struct symbolizer *symbolizer, uint32_t id)
{
    (void)symbolizer;
    return SYMBOLIZER_SYMBOLS | (id == 1 ? SYMBOLIZER_LINES : 0u);
}

bool
symbolizer_collector(const struct symbolizer *symbolizer, uint32_t id,
                     struct collector *collector)
{
    (void)symbolizer;
    (void)id;
    *collector = maker_collector;
    return maker_collector.high != 0;
}

void
symbolizer_free(struct symbolizer *symbolizer)
{
    (void)symbolizer;
    intern_clear(&maker_ids);
}

struct writer *maker_writer;
static unsigned maker_spools;

void
maker_set(uint64_t place, size_t skip, uint64_t value, size_t size)
{
    writer_change(maker_writer, place, skip, &value, size);
}

void
maker_append(enum record_kind kind, const void *record, size_t size,
             const struct writer_tail *tail, size_t parts)
{
    char name[32];

    if (maker_writer == NULL) {
        snprintf(name, sizeof name, "%u.sprof", maker_spools++);
        maker_writer = maker_create_file(maker_path(name), MAKER_CAP, true);
    }
    assert_non_null(maker_writer);
    assert_true(writer_append(maker_writer, kind, record, size, tail, parts));
}

void
maker_add_process(uint32_t pid, const char *exe)
{
    const struct record_process record = {.period = 1000000,
                                          .pid = pid,
                                          .exe_length =
                                              (uint16_t)(strlen(exe) + 1),
                                          .command_length = sizeof "app -x"};
    const struct writer_tail tail[] = {{exe, strlen(exe) + 1},
                                       {"app -x", sizeof "app -x"}};

    maker_append(RECORD_PROCESS, &record, sizeof record, tail, 2);
}

void
maker_add_module(uint32_t id, const char *path)
{
    const struct record_module record = {.id = id,
                                         .base = id * MAKER_BASE,
                                         .start = id * MAKER_BASE,
                                         .end = id * MAKER_BASE + 0x10000,
                                         .build_id_length = 2,
                                         .path_length =
                                             (uint16_t)(strlen(path) + 1)};
    const struct writer_tail tail[] = {{"\xab\x01", 2},
                                       {path, strlen(path) + 1}};

    maker_append(RECORD_MODULE, &record, sizeof record, tail, 2);
}

void
maker_add_thread(uint32_t id, uint32_t tid, const char *name)
{
    const struct record_thread record = {.id = id,
                                         .tid = tid,
                                         .name_length =
                                             (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, strlen(name) + 1};

    maker_append(RECORD_THREAD, &record, sizeof record, &tail, 1);
}

void
maker_add_node(uint32_t id, uint32_t parent, uint32_t module, uint64_t offset,
               uint32_t flags)
{
    const struct record_node record = {.id = id,
                                       .parent = parent,
                                       .module = module,
                                       .flags = flags,
                                       .offset = offset};

    maker_append(RECORD_NODE, &record, sizeof record, NULL, 0);
}

void
maker_add_sample(uint32_t thread, uint32_t node, uint64_t count,
                 uint16_t waiting)
{
    const struct record_sample record = {
        .time = 1000000,
        .duration = 4000000,
        .wall = count * 1000000,
        .cpu = waiting == 0 ? count * 1000000 : 0,
        .count = count,
        .thread = thread,
        .node = node,
        .system_call = waiting == 0 ? SYSCALL_UNKNOWN : waiting,
        .state = waiting == 0 ? STATE_RUNNING : STATE_WAITING,
        .trigger = TRIGGER_TIMER,
        .stopped = 560};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

void
maker_add_aged(uint32_t thread, uint32_t node, uint64_t count, uint64_t cpu,
               uint64_t age)
{
    maker_add_timed(thread, node, 0, count, cpu, age);
}

void
maker_add_timed(uint32_t thread, uint32_t node, uint64_t time, uint64_t count,
                uint64_t cpu, uint64_t age)
{
    const struct record_sample record = {.time = time,
                                         .wall = cpu,
                                         .cpu = cpu,
                                         .count = count,
                                         .thread = thread,
                                         .node = node,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING,
                                         .trigger = TRIGGER_PERF,
                                         .age = age};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

void
maker_add_running(uint32_t thread, uint32_t node, uint64_t count, uint64_t cpu)
{
    maker_add_aged(thread, node, count, cpu, 0);
}

void
maker_add_text(uint32_t id, const char *text)
{
    assert_true(maker_text(maker_writer, id, text));
}

void
maker_add_script(uint32_t id, uint32_t language, const char *name,
                 const char *file)
{
    const struct record_script record = {
        .id = id,
        .language = language,
        .lines = SCRIPT_NUMBERS,
        .first_line = 1,
        .name_length = (uint32_t)strlen(name) + 1,
        .file_length = (uint32_t)strlen(file) + 1,
    };
    const struct writer_tail tail[] = {{name, record.name_length},
                                       {file, record.file_length}};
    maker_append(RECORD_SCRIPT, &record, sizeof(record), tail, 2);
}

void
maker_add_end(uint32_t thread, uint64_t time, uint64_t cpu, uint64_t flags)
{
    const struct record_thread_end record = {.id = thread,
                                             .time = time,
                                             .cpu = cpu,
                                             .flags = flags};

    maker_append(RECORD_THREAD_END, &record, sizeof record, NULL, 0);
}

void
maker_add_counts(uint64_t time)
{
    const struct record_counts record = {.time = time,
                                         .asked = 20,
                                         .taken = 20,
                                         .peeked = 1204,
                                         .unsure = 3,
                                         .skipped = 7};

    maker_append(RECORD_COUNTS, &record, sizeof record, NULL, 0);
}

void
maker_add_rate(void)
{
    struct rate_entry entries[LIMIT_COUNT] = {
        [LIMIT_MERGED] = {3000000, 1}, [LIMIT_SWITCHES] = {37000000, 19}};
    const struct record_rate record = {.period = 1000000,
                                       .tick = 4000000,
                                       .count = LIMIT_COUNT};
    const struct writer_tail tail = {entries, sizeof entries};

    maker_append(RECORD_RATE, &record, sizeof record, &tail, 1);
}

void
maker_add_head(void)
{
    maker_add_process(4711, "/bin/app");
    maker_add_module(1, "/bin/app");
    maker_add_module(2, "/lib/libx.so");
    maker_add_thread(1, 4711, "main");
    maker_add_thread(2, 4712, "worker");
}

const char *
maker_finish(void)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", writer_file(maker_writer)->path);
    assert_int_equal(writer_close(maker_writer), 0);
    maker_writer = NULL;
    return path;
}

struct profile *
maker_load(struct profile *profile)
{
    const struct symbolizer_options options = {.inlines = true};
    char error[1024];

    if (profile == NULL)
        profile = profile_new(&options);
    assert_non_null(profile);
    assert_int_equal(load_file(profile, maker_finish(), error, sizeof error),
                     0);
    return profile;
}

const struct profile_sample *
maker_find(const struct profile *profile, uint32_t thread, uint32_t node,
           enum state state)
{
    const struct profile_sample *found = NULL;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (sample->thread != thread || sample->node != node ||
            sample->state != state)
            continue;
        assert_null(found);
        found = sample;
    }
    assert_non_null(found);
    return found;
}

void
maker_expect_sums(const struct profile *profile)
{
    for (unsigned value = 0; value < VALUE_COUNT; value++) {
        uint64_t total = 0;
        for (uint32_t thread = 0; thread < profile->thread_count; thread++) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < profile->sample_count; i++)
                if (profile->samples[i].thread == thread)
                    sum_add(&sum, profile->samples[i].values[value]);
            assert_int_equal(profile->threads[thread].values[value], sum);
            sum_add(&total, sum);
        }
        assert_int_equal(profile->totals[value], total);
    }
}

int
maker_forget(void **state)
{
    (void)state;
    maker_name_count = 0;
    maker_writer = NULL;
    return 0;
}
