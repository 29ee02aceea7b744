/* SPDX-License-Identifier: MIT */
/* slices.c -- see slices.h. Parts enter a list when they are first used. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slices.h"

#define LIVES_MOST 10000

static struct {
    int tid;
    struct span span;
} lives[LIVES_MOST];
static unsigned life_count;
static struct part *parts;

#define LOG_MOST (1u << 20)

static struct logged {
    const struct part *part;
    int64_t begin, end;
} * slice_log; /* NULL: none is kept */
static unsigned log_count;

double ticks_per_ns;
static __thread uint64_t seed;
static __thread struct span born;

int64_t
clock_now(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static struct span
both_clocks(void)
{
    struct span now;

    now.cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    now.wall = clock_now(CLOCK_MONOTONIC);
    return now;
}

void
calibrate(void)
{
    struct timespec pause = {0, 20 * MS};
    int64_t before = clock_now(CLOCK_MONOTONIC);
    uint64_t from = ticks();

    nanosleep(&pause, NULL);
    ticks_per_ns = (double)(ticks() - from) /
                   (double)(clock_now(CLOCK_MONOTONIC) - before);
}

static void
enlist(struct part *part)
{
    part->next = __atomic_load_n(&parts, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&parts, &part->next, part, 0,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static void
log_slice(const struct part *part, int64_t begin, int64_t end)
{
    unsigned at = __atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED);

    if (at < LOG_MOST)
        slice_log[at] = (struct logged){part, begin, end};
}

void
log_slices(void)
{
    slice_log = malloc(LOG_MOST * sizeof *slice_log);
    if (slice_log == NULL)
        abort();
}

void
write_log(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || log_count > LOG_MOST)
        abort();
    for (unsigned i = 0; i < log_count; i++)
        fprintf(file, "%s %lld %lld\n", slice_log[i].part->name,
                (long long)slice_log[i].begin, (long long)slice_log[i].end);
    fclose(file);
}

void
slice(struct part *part, int64_t ns)
{
    struct span before, after;

    if (!__atomic_load_n(&part->listed, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&part->listed, 1, __ATOMIC_RELAXED))
        enlist(part);
    /* Wall time is read next to the part: to read the other clock is a system
     * call, at whose end a thread often loses its CPU. */
    before = both_clocks();
    part->run(ns);
    after.wall = clock_now(CLOCK_MONOTONIC);
    after.cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    __atomic_fetch_add(&part->sum.cpu, after.cpu - before.cpu,
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&part->sum.wall, after.wall - before.wall,
                       __ATOMIC_RELAXED);
    if (slice_log != NULL)
        log_slice(part, before.wall, after.wall);
}

void
slice_until(struct part *part, int64_t target)
{
    int64_t left;

    while ((left = target - clock_now(CLOCK_THREAD_CPUTIME_ID)) > 2 * US)
        slice(part, left);
}

uint64_t
pick(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

void
thread_begin(uint64_t number)
{
    born = both_clocks();
    if (getpid() != (int)syscall(SYS_gettid))
        born.cpu = 0; /* what it took to begin is its own, too */
    seed = (number + 1) * 88172645463325252u;
}

void
thread_end(void)
{
    struct span now = both_clocks();
    unsigned at = __atomic_fetch_add(&life_count, 1, __ATOMIC_RELAXED);

    if (at >= LIVES_MOST)
        return;
    lives[at].tid = (int)syscall(SYS_gettid);
    lives[at].span.cpu = now.cpu - born.cpu;
    lives[at].span.wall = now.wall - born.wall;
}

void
forget_truth(void)
{
    for (struct part *part = parts; part != NULL; part = part->next) {
        part->sum = (struct span){0, 0};
        part->listed = 0;
    }
    parts = NULL;
    life_count = 0;
}

void
print_truth(void)
{
    for (struct part *part = parts; part != NULL; part = part->next)
        printf("%s %s %lld %lld\n", part->kind, part->name,
               (long long)part->sum.cpu, (long long)part->sum.wall);
    for (unsigned i = 0; i < life_count && i < LIVES_MOST; i++)
        printf("thread %d %lld %lld\n", lives[i].tid,
               (long long)lives[i].span.cpu, (long long)lives[i].span.wall);
}
