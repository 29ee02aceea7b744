/* SPDX-License-Identifier: MIT */
/*
 * pack.c -- packs parts into one buffer that is used again and again, and
 * compresses it. The table of strings is written last, because only then all
 * strings are known. Readers use it after they have read everything.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/clean.h"
#include "util/gzip.h"
#include "util/intern.h"
#include "pack.h"

/* Only the first error is the cause; later ones follow from it. */
static void
note_error(struct pack *pack, int error)
{
    if (pack->error == 0)
        pack->error = error;
}

int
pack_begin(struct pack *pack, FILE *stream, size_t expected)
{
    *pack = (struct pack){.texts = intern_new(),
                          .gzip = gzip_new(stream, expected)};
    if (pack->texts == NULL || pack->gzip == NULL)
        goto err;
    pack_text(pack, "");
    return 0;

err:
    intern_free(pack->texts);
    if (pack->gzip != NULL)
        gzip_end(pack->gzip);
    errno = ENOMEM;
    return -1;
}

void
pack_part(struct pack *pack, const Perftools__Profiles__Profile *profile)
{
    size_t size = perftools__profiles__profile__get_packed_size(profile);
    if (size > pack->size) {
        uint8_t *buffer = realloc(pack->buffer, 2 * size);
        if (buffer == NULL) {
            note_error(pack, ENOMEM);
            return;
        }
        pack->buffer = buffer;
        pack->size = 2 * size;
    }
    perftools__profiles__profile__pack(profile, pack->buffer);
    gzip_add(pack->gzip, pack->buffer, size);
}

int64_t
pack_text(struct pack *pack, const char *text)
{
    uint32_t number = clean_put(pack->texts, text, "");
    if (number != INTERN_NONE)
        return number;
    note_error(pack, ENOMEM);
    return 0;
}

int
pack_end(struct pack *pack)
{
    for (uint32_t i = 0; i < intern_count(pack->texts); i++) {
        Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
        char *text = (char *)intern_bytes(pack->texts, i);
        part.n_string_table = 1;
        part.string_table = &text;
        pack_part(pack, &part);
    }
    if (gzip_end(pack->gzip) != 0)
        note_error(pack, errno);
    intern_free(pack->texts);
    free(pack->buffer);
    errno = pack->error;
    return pack->error == 0 ? 0 : -1;
}
