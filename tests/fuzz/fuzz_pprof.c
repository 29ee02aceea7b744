/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pprof.c -- any bytes as a pprof file, through the model and into every
 * format that tells the most of it. What was read and written once must be
 * read again, and say the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/pprof.h"
#include "write/output_file.h"

#include "fuzz.h"

static struct profile *
new_profile(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    if (profile == NULL)
        abort();
    profile->keeps_events = true;
    return profile;
}

/* What WRITER makes of PROFILE, which the caller frees. */
static char *
written(int (*writer)(FILE *, struct profile *), struct profile *profile,
        size_t *length)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, length);

    if (stream == NULL || writer(stream, profile) < 0)
        abort();
    fclose(stream);
    return bytes;
}

static void
check_again(struct profile *profile)
{
    struct profile *again = new_profile();
    size_t length;
    char *bytes = written(pprof_write, profile, &length);
    const char *wrong;

    if (pprof_read(again, bytes, length, &wrong) < 0 ||
        memcmp(again->totals, profile->totals, sizeof profile->totals) != 0)
        abort();
    free(bytes);
    profile_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *profile = new_profile();
    const char *wrong;
    size_t length;

    if (pprof_read(profile, data, size, &wrong) == 0) {
        check_again(profile);
        free(written(folded_write, profile, &length));
        free(written(firefox_write, profile, &length));
    }
    profile_free(profile);
    return 0;
}
