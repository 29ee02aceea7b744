/* SPDX-License-Identifier: MIT */
/*
 * fuzz_otlp.c -- any bytes as a spool, written as OpenTelemetry's profiles,
 * with a part of the bytes as what a program says of itself in its environment.
 * The file SPROF_TEST_OTLP, if it is named, gets what was written, for
 * otlp_decoder.py:
 *
 *    length:32 | samples:64 | cpu:64 | wall:64 | the bytes
 *
 * The sums are those of the profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/load.h"
#include "write/otlp.h"

#include "fuzz.h"
#include "repair.h"

/* TEXT_SIZE: bytes of a variable of the environment. */
enum { TEXT_SIZE = 200 };

/* Sums of damaged spools may be as large as numbers are. */
#define SANE ((uint64_t)1 << 55)

static void
keep(const struct profile *profile, const char *bytes, size_t size)
{
    static FILE *file;
    const char *path = getenv("SPROF_TEST_OTLP");
    uint32_t length = (uint32_t)size;
    if (path == NULL)
        return;
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        if (profile->totals[i] > SANE)
            return;
    if (file == NULL)
        file = fopen(path, "we");
    if (file == NULL || fwrite(&length, sizeof length, 1, file) != 1 ||
        fwrite(profile->totals, sizeof profile->totals, 1, file) != 1 ||
        fwrite(bytes, 1, size, file) != size || fflush(file) != 0)
        abort();
}

/* The last bytes of DATA as a text. */
static void
take_text(char text[TEXT_SIZE], const uint8_t *data, size_t size)
{
    size_t length = size < TEXT_SIZE - 1 ? size : TEXT_SIZE - 1;
    memcpy(text, data + size - length, length);
    text[length] = '\0';
}

static void
write_it(struct profile *profile, const struct otlp_resource *resource)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    if (stream == NULL)
        abort();
    int status = otlp_write_as(stream, profile, resource);
    if (fclose(stream) != 0)
        abort();
    if (status == 0)
        keep(profile, bytes, size);
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    uint8_t *copy = malloc(size + 1);
    char error[512], text[TEXT_SIZE];
    if (copy == NULL || profile == NULL)
        abort();
    memcpy(copy, data, size);
    repair(copy, size);
    take_text(text, data, size);
    const struct otlp_resource resource = {text, text, text}, none = {0};
    if (load_memory(profile, copy, size, "fuzz", error, sizeof error) == 0)
        write_it(profile, size % 2 == 0 ? &none : &resource);
    profile_free(profile);
    free(copy);
    return 0;
}
