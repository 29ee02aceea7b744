/* SPDX-License-Identifier: MIT */
/* spool_maker.c -- see spool_maker.h. */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "spool_maker.h"

static char maker_directory[PATH_MAX - 256];

int
maker_begin(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(maker_directory, sizeof(maker_directory), "%s/sprof-XXXXXX",
             base != NULL && base[0] == '/' ? base : "/tmp");
    return mkdtemp(maker_directory) == NULL ? -1 : 0;
}

const char *
maker_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, PATH_MAX, "%s/%s", maker_directory, name);
    return path;
}

int
maker_clean(void **state)
{
    DIR *directory = opendir(maker_directory);
    struct dirent *entry;

    (void)state;
    if (directory == NULL)
        return -1;
    while ((entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    return closedir(directory);
}

int
maker_end(void **state)
{
    maker_clean(state);
    return rmdir(maker_directory);
}

pid_t
maker_fork(void)
{
    pid_t parent = getpid(), child = fork();

    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child == 0 && getppid() != parent)
        _exit(1);
    return child;
}

struct writer *
maker_create_file(const char *path, uint64_t cap, bool keeps_open)
{
    struct spool_header header = {.start_monotonic = 1000,
                                  .start_realtime = 2000,
                                  .pid = 4711};

    return writer_create(path, &header, cap, keeps_open);
}

struct writer *
maker_create(const char *path, uint64_t cap)
{
    return maker_create_file(path, cap, false);
}

uint64_t
maker_mark(struct writer *writer, uint64_t time, const char *text,
           size_t length)
{
    struct record_mark mark = {.time = time,
                               .mark = MARK_USER,
                               .text_length = (uint16_t)length};
    struct writer_tail tail = {text, length};

    return writer_append(writer, RECORD_MARK, &mark, sizeof(mark), &tail, 1);
}

uint64_t
maker_node(struct writer *writer, uint32_t id)
{
    struct record_node node = {.id = id,
                               .parent = id - 1,
                               .module = 1,
                               .offset = id * 16ull};

    return writer_append(writer, RECORD_NODE, &node, sizeof(node), NULL, 0);
}

uint64_t
maker_process(struct writer *writer)
{
    struct record_process process = {.period = 1000000,
                                     .pid = 4711,
                                     .ppid = 4710,
                                     .mode = 1,
                                     .trigger = TRIGGER_ASK,
                                     .exe_length = sizeof("/bin/app"),
                                     .command_length = sizeof("app -x 'y z'"),
                                     .version_length = sizeof("0.1.0"),
                                     .host_length = sizeof("host")};
    struct writer_tail tail[] = {{"/bin/app", sizeof("/bin/app")},
                                 {"app -x 'y z'", sizeof("app -x 'y z'")},
                                 {"0.1.0", sizeof("0.1.0")},
                                 {"host", sizeof("host")}};

    return writer_append(writer, RECORD_PROCESS, &process, sizeof(process),
                         tail, 4);
}

uint64_t
maker_module(struct writer *writer)
{
    struct record_module module = {.id = 1,
                                   .generation = 3,
                                   .base = 0x400000,
                                   .start = 0x401000,
                                   .end = 0x402000,
                                   .time = 5,
                                   .build_id_length = 3,
                                   .path_length = sizeof("/lib/libx.so"),
                                   .flags = MODULE_DELETED};
    struct writer_tail tail[] = {{"\x01\x02\x03", 3},
                                 {"/lib/libx.so", sizeof("/lib/libx.so")}};

    return writer_append(writer, RECORD_MODULE, &module, sizeof(module), tail,
                         2);
}

uint64_t
maker_thread(struct writer *writer)
{
    struct record_thread thread = {.id = 1,
                                   .tid = 4711,
                                   .time = 6,
                                   .name_length = sizeof("main")};
    struct writer_tail tail = {"main", sizeof("main")};

    return writer_append(writer, RECORD_THREAD, &thread, sizeof(thread), &tail,
                         1);
}

uint64_t
maker_text(struct writer *writer, uint32_t id, const char *text)
{
    struct record_text record = {.id = id,
                                 .text_length = (uint16_t)(strlen(text) + 1)};
    struct writer_tail tail = {text, strlen(text) + 1};

    return writer_append(writer, RECORD_TEXT, &record, sizeof(record), &tail,
                         1);
}

uint64_t
maker_sample(struct writer *writer)
{
    struct record_sample sample = {.time = 7,
                                   .wall = 1000000,
                                   .cpu = 900000,
                                   .count = 1,
                                   .thread = 1,
                                   .node = 1,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_RUNNING,
                                   .trigger = TRIGGER_TIMER,
                                   .stopped = 560,
                                   .depth = 1,
                                   .waits_on = 1,
                                   .flags = SAMPLE_OPEN};

    return writer_append(writer, RECORD_SAMPLE, &sample, sizeof(sample), NULL,
                         0);
}

uint64_t
maker_counts(struct writer *writer)
{
    static const uint64_t lost[] = {11, 12}, cut[] = {21, 22, 23};
    static const uint64_t late[] = {31, 32}; /* expired, missed */
    struct record_counts counts = {.time = 8,
                                   .ticks = 9,
                                   .asked = 33,
                                   .taken = 10,
                                   .peeked = 14,
                                   .unsure = 15,
                                   .skipped = 16,
                                   .loss_count = 2,
                                   .cut_count = 3};
    struct writer_tail tail[] = {{lost, sizeof(lost)},
                                 {cut, sizeof(cut)},
                                 {late, sizeof(late)}};

    return writer_append(writer, RECORD_COUNTS, &counts, sizeof(counts), tail,
                         3);
}

uint64_t
maker_summary(struct writer *writer)
{
    struct record_summary summary = {.time = 11,
                                     .user_cpu = 12,
                                     .system_cpu = 13,
                                     .reason = END_SIZE,
                                     .status = 3};

    return writer_append(writer, RECORD_SUMMARY, &summary, sizeof(summary),
                         NULL, 0);
}

uint64_t
maker_label(struct writer *writer, uint32_t id, uint32_t parent, uint32_t key,
            uint32_t value)
{
    struct record_label label = {.id = id,
                                 .parent = parent,
                                 .key = key,
                                 .value = value};

    return writer_append(writer, RECORD_LABEL, &label, sizeof(label), NULL, 0);
}

uint64_t
maker_stacks(struct writer *writer, const struct stacks_entry *entries,
             uint32_t count, uint32_t capacity)
{
    static const struct stacks_entry none[64];
    struct record_stacks stacks = {.sequence = 2,
                                   .time = 120000000,
                                   .took = 1300000,
                                   .nonce = 77,
                                   .count = count,
                                   .capacity = capacity};
    struct writer_tail tail[] = {{entries, count * sizeof(*entries)},
                                 {none, (capacity - count) * sizeof(*none)}};

    return writer_append(writer, RECORD_STACKS, &stacks, sizeof(stacks), tail,
                         2);
}

int
maker_every_kind(struct writer *writer)
{
    struct record_module_end module_end = {.id = 1, .time = 9};
    struct record_thread_end thread_end = {.id = 1,
                                           .time = 10,
                                           .cpu = 77,
                                           .flags = THREAD_END_EXACT};
    int bad = 0;

    bad |= maker_process(writer) == 0;
    bad |= maker_module(writer) == 0;
    bad |= maker_thread(writer) == 0;
    bad |= maker_node(writer, 1) == 0;
    bad |= maker_text(writer, 1, "pipe:[17]") == 0;
    bad |= maker_sample(writer) == 0;
    bad |= maker_counts(writer) == 0;
    bad |= maker_mark(writer, 42, "hello", sizeof("hello")) == 0;
    bad |= writer_append(writer, RECORD_MODULE_END, &module_end,
                         sizeof(module_end), NULL, 0) == 0;
    bad |= writer_append(writer, RECORD_THREAD_END, &thread_end,
                         sizeof(thread_end), NULL, 0) == 0;
    bad |= maker_summary(writer) == 0;
    return -bad;
}

int
maker_small_spool(const char *path)
{
    struct writer *writer = maker_create(path, MAKER_CAP);

    if (writer == NULL || maker_every_kind(writer) != 0)
        return -1;
    return writer_close(writer);
}

int
maker_stacks_spool(const char *path)
{
    const struct stacks_entry entries[] = {
        {.tid = 4711,
         .thread = 1,
         .node = 1,
         .depth = 1,
         .waits_on = 1,
         .owner = 4712,
         .cpu = 5,
         .system_call = 202,
         .state = 'S',
         .label = 2},
        {.tid = 4712, .node = 2, .owner = 4711, .state = 'S', .label = 1},
        {.tid = 4713, .node = 2, .owner = 4711, .state = 'S'},
        {.tid = 4714, .state = 'D', .cause = STACK_KERNEL},
    };
    struct writer *writer = maker_create(path, MAKER_CAP);
    int bad = 0;

    if (writer == NULL)
        return -1;
    bad |= maker_process(writer) == 0;
    bad |= maker_module(writer) == 0;
    bad |= maker_thread(writer) == 0;
    bad |= maker_text(writer, 1, "mutex of b (4712)") == 0;
    bad |= maker_text(writer, 2, "user") == 0;
    bad |= maker_label(writer, 1, 0, 2, 1) == 0;
    bad |= maker_label(writer, 2, 1, 1, 2) == 0;
    bad |= maker_stacks(writer, entries, 4, 6) == 0;
    bad |= maker_node(writer, 1) == 0;
    bad |= maker_node(writer, 2) == 0;
    return bad != 0 || writer_close(writer) != 0 ? -1 : 0;
}

unsigned char *
maker_bytes(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long size;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        *length = (size_t)size;
        bytes = malloc(*length + 1);
        if (bytes != NULL && fread(bytes, 1, *length, file) != *length) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}
