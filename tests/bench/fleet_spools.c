/* SPDX-License-Identifier: MIT */
/*
 * fleet_spools.c DIRECTORY COUNT -- many processes that have spools as fleet.c
 * has with the library, and do nothing else: so a small machine can have a
 * thousand of them. By its spool each has four threads. Three wait for ever;
 * the first works for a millisecond each second, in one of STACKS stacks, and
 * then waits again. All threads are there, and so is one that bears the
 * sampler's name, which writes. They end with this program.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/writer.h"

/* COUNTERS: words after the fixed part of COUNTS. */
enum { THREADS = 4, STACKS = 60, DEPTH = 8, MODULE = 1 };
#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

/* What is on the stacks: places in these functions. */
#define LEVEL(n)                                          \
    static __attribute__((noinline)) void level_##n(void) \
    {                                                     \
        for (int i = 0; i < 32; i++)                      \
            __asm__ volatile("nop; nop; nop; nop");       \
    }
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)
static void (*const levels[DEPTH])(void) = {level_0, level_1, level_2, level_3,
                                            level_4, level_5, level_6, level_7};

static struct writer *writer;
static struct spool_header header = {.purpose = SPOOL_TEMPORARY};
static uint64_t base, counts_place;
static uint32_t nodes, stacks[STACKS];
static struct {
    struct record_counts record;
    uint64_t words[LOSS_COUNT + CUT_COUNT + 2];
} counts = {.record = {.loss_count = LOSS_COUNT, .cut_count = CUT_COUNT}};

static uint64_t
read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* ns since the spool began. */
static uint64_t
now(void)
{
    return read_clock(CLOCK_MONOTONIC) - header.start_monotonic;
}

static uint64_t
append(enum record_kind kind, const void *record, size_t size,
       const char *const *texts, size_t count)
{
    struct writer_tail tail[4];
    for (size_t i = 0; i < count; i++)
        tail[i] = (struct writer_tail){texts[i], strlen(texts[i]) + 1};
    uint64_t place = writer_append(writer, kind, record, size, tail, count);
    if (place == 0)
        exit(1);
    return place;
}

static uint16_t
length_of(const char *text)
{
    return (uint16_t)(strlen(text) + 1);
}

static void
write_process(const char *exe)
{
    const char *const texts[] = {exe, exe, "0", "host"};
    const struct record_process process = {.period = MILLISECOND,
                                           .pid = header.pid,
                                           .ppid = 1,
                                           .exe_length = length_of(exe),
                                           .command_length = length_of(exe),
                                           .version_length = 2,
                                           .host_length = 5};
    const struct record_module module = {.id = MODULE,
                                         .base = base,
                                         .start = base,
                                         .end = base + (1u << 20),
                                         .path_length = length_of(exe)};
    append(RECORD_PROCESS, &process, sizeof(process), texts, 4);
    append(RECORD_MODULE, &module, sizeof(module), texts, 1);
}

static uint32_t
write_node(uint32_t parent, void (*function)(void), uint32_t skip)
{
    const struct record_node node = {.id = ++nodes,
                                     .parent = parent,
                                     .module = MODULE,
                                     .flags = NODE_RETURN,
                                     .offset = (uint64_t)(uintptr_t)function -
                                               base + skip};
    append(RECORD_NODE, &node, sizeof(node), NULL, 0);
    return node.id;
}

static void
write_stacks(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        for (uint32_t depth = 0; depth < DEPTH; depth++)
            stacks[i] = write_node(depth == 0 ? 0 : stacks[i],
                                   levels[(depth + i) % DEPTH], 1 + 2 * i);
}

/* A wait of THREAD that begins now. Returns its place. */
static uint64_t
open_wait(uint32_t thread)
{
    const struct record_sample sample = {.time = now(),
                                         .count = 1,
                                         .thread = thread,
                                         .node = stacks[thread],
                                         .depth = DEPTH,
                                         .system_call = SYS_nanosleep,
                                         .state = STATE_WAITING,
                                         .trigger = TRIGGER_KEPT,
                                         .flags = SAMPLE_OPEN};
    return append(RECORD_SAMPLE, &sample, sizeof(sample), NULL, 0);
}

/* End the wait at PLACE, which began at SINCE. */
static void
end_wait(uint64_t place, uint64_t since)
{
    uint64_t wall = now() - since;
    struct record_sample sample = {.duration = wall,
                                   .wall = wall,
                                   .count = wall / MILLISECOND,
                                   .thread = 1,
                                   .node = stacks[1],
                                   .system_call = SYS_nanosleep,
                                   .state = STATE_WAITING,
                                   .trigger = TRIGGER_KEPT,
                                   .depth = DEPTH};
    const size_t from = offsetof(struct record_sample, duration);
    writer_change(writer, place, from, &sample.duration,
                  sizeof(sample) - from - sizeof(sample.age));
}

static void
write_sample(uint32_t stack, uint64_t age)
{
    const struct record_sample sample = {.time = now(),
                                         .wall = MILLISECOND,
                                         .cpu = MILLISECOND,
                                         .count = 1,
                                         .thread = 1,
                                         .node = stacks[stack % STACKS],
                                         .depth = DEPTH,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING,
                                         .trigger = TRIGGER_PERF,
                                         .stopped = 2000,
                                         .age = age};
    append(RECORD_SAMPLE, &sample, sizeof(sample), NULL, 0);
}

static void
write_counts(void)
{
    counts.record.time = now();
    counts.record.ticks++;
    const size_t from = offsetof(struct record_counts, time);
    writer_change(writer, counts_place, from, &counts.record.time,
                  sizeof(counts) - from);
}

static void
write_beginning(const char *exe)
{
    static const char *const names[THREADS] = {"fleet", "waiter", "waiter",
                                               "waiter"};
    write_process(exe);
    counts_place = append(RECORD_COUNTS, &counts, sizeof(counts), NULL, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct record_thread thread = {.id = i + 1,
                                             .tid = header.pid + i,
                                             .time = now(),
                                             .name_length =
                                                 length_of(names[i])};
        append(RECORD_THREAD, &thread, sizeof(thread), &names[i], 1);
    }
    write_stacks();
    for (uint32_t i = 1; i < THREADS; i++)
        (void)open_wait(i + 1);
}

static void *
wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* The threads that do nothing. */
static void
make_threads(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    prctl(PR_SET_NAME, "fleet");
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 15);
    for (uint32_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread, &attributes, wait_for_ever, NULL) != 0)
            exit(1);
    prctl(PR_SET_NAME, "sprof");
}

/* One process, number I of all. */
static void
live(const char *directory, uint32_t i)
{
    char path[4096], exe[4096] = "";
    struct stat space;
    if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0 ||
        stat("/proc/self/ns/pid", &space) != 0)
        exit(1);
    header.pid = (uint32_t)getpid();
    header.pid_namespace = (uint32_t)space.st_ino;
    header.start_monotonic = read_clock(CLOCK_MONOTONIC);
    header.start_realtime = read_clock(CLOCK_REALTIME);
    snprintf(path, sizeof(path), "%s/fleet.%u.pb.gz.sprof", directory,
             header.pid);
    writer = writer_create(path, &header, UINT64_C(1) << 30, true);
    if (writer == NULL)
        exit(1);
    spool_file_show(writer_file(writer));
    make_threads();
    write_beginning(exe);
    writer_gather(writer);
    for (uint64_t round = 0;; round++) {
        uint64_t wait = open_wait(1), since = now();
        write_counts();
        (void)writer_flush(writer);
        /* Not all at the same instant. */
        usleep(round == 0 ? i * 997 % 1000000 : 1000000);
        end_wait(wait, since);
        write_sample((uint32_t)round + i, (round + 1) * MILLISECOND);
        counts.record.asked++, counts.record.taken++;
    }
}

static int
find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    base = info->dlpi_addr;
    return 1; /* the first one is the program */
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    dl_iterate_phdr(find_base, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
    for (uint32_t i = 0; i < count; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            live(argv[1], i);
        }
    while (wait(NULL) > 0)
        ;
    return 1;
}
