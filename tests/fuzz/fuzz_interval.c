/* SPDX-License-Identifier: MIT */
/*
 * fuzz_interval.c -- any bytes as a spool that is followed: a part is taken,
 * the position passes through text, and another process goes on with the whole
 * and ends it. Then all of it is what a report says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/interval.h"
#include "read/load.h"

#include "fuzz.h"
#include "repair.h"

/* Sums of damaged spools may be as large as numbers are. */
#define SANE ((uint64_t)1 << 55)

static const struct symbolizer_options options = {.inlines = true};

static void
add(uint64_t sums[VALUE_COUNT], const struct interval *interval)
{
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&sums[i], interval_profile(interval)->totals[i]);
}

/* Save the position of INTERVAL, and go to it with NEXT. */
static int
pass_on(struct interval *interval, struct interval *next)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        abort();
    interval_position_save(interval, stream);
    fclose(stream);
    stream = fmemopen(text, size, "r");
    if (stream == NULL)
        abort();
    int status = interval_position_resume(next, stream);
    fclose(stream);
    free(text);
    return status;
}

/* No more than the report has, and no less. */
static void
compare(const uint64_t sums[VALUE_COUNT], const uint8_t *bytes, size_t size)
{
    struct profile *profile = profile_new(&options);
    char error[512];
    if (profile == NULL)
        abort();
    if (load_memory(profile, bytes, size, "fuzz", error, sizeof error) == 0 &&
        profile->process_count == 1)
        for (unsigned i = 0; i < VALUE_COUNT; i++)
            if (sums[i] < profile->totals[i] && profile->thread_count > 0 &&
                profile->totals[i] < SANE)
                abort();
    profile_free(profile);
}

static void
follow(const char *path, int fd, const uint8_t *bytes, size_t size)
{
    uint64_t sums[VALUE_COUNT] = {0};
    char error[8192];
    struct interval *first = interval_open(path, &options, error, sizeof error);
    if (first == NULL)
        return;
    if (interval_take(first) != 0)
        abort();
    add(sums, first);
    if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
        abort();
    struct interval *next = interval_open(path, &options, error, sizeof error);
    if (next == NULL)
        abort();
    if (pass_on(first, next) == 0 && interval_finish(next) == 0) {
        add(sums, next);
        compare(sums, bytes, size);
    }
    interval_close(next);
    interval_close(first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    char path[64];
    int fd = memfd_create("spool", 0);
    if (copy == NULL || fd < 0)
        abort();
    memcpy(copy, data, size);
    repair(copy, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pwrite(fd, copy, size / 2, 0) == (ssize_t)(size / 2))
        follow(path, fd, copy, size);
    close(fd);
    free(copy);
    return 0;
}
