/* SPDX-License-Identifier: MIT */
/*
 * pprof_stream.c -- packs parts into one buffer that is used again and again,
 * and compresses it. The table of strings is written last, because only then
 * all strings are known. Readers use it after they have read everything.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/clean.h"
#include "util/gzip.h"
#include "util/intern.h"
#include "pprof_stream.h"

/* Only the first error is the cause; later ones follow from it. */
static void
note_error(struct pprof_stream *stream, int error)
{
    if (stream->error == 0)
        stream->error = error;
}

int
pprof_stream_begin(struct pprof_stream *stream, FILE *file, size_t expected)
{
    *stream = (struct pprof_stream){.texts = intern_new(),
                                    .gzip = gzip_new(file, expected)};
    if (stream->texts == NULL || stream->gzip == NULL)
        goto err;
    pprof_stream_text(stream, "");
    return 0;

err:
    intern_free(stream->texts);
    if (stream->gzip != NULL)
        gzip_end(stream->gzip);
    errno = ENOMEM;
    return -1;
}

void
pprof_stream_part(struct pprof_stream *stream,
                  const Perftools__Profiles__Profile *profile)
{
    size_t size = perftools__profiles__profile__get_packed_size(profile);
    if (size > stream->size) {
        uint8_t *buffer = realloc(stream->buffer, 2 * size);
        if (buffer == NULL) {
            note_error(stream, ENOMEM);
            return;
        }
        stream->buffer = buffer;
        stream->size = 2 * size;
    }
    perftools__profiles__profile__pack(profile, stream->buffer);
    gzip_add(stream->gzip, stream->buffer, size);
}

int64_t
pprof_stream_text(struct pprof_stream *stream, const char *text)
{
    uint32_t number = clean_put(stream->texts, text, "");
    if (number != INTERN_NONE)
        return number;
    note_error(stream, ENOMEM);
    return 0;
}

int
pprof_stream_end(struct pprof_stream *stream)
{
    for (uint32_t i = 0; i < intern_count(stream->texts); i++) {
        Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
        char *text = (char *)intern_bytes(stream->texts, i);
        part.n_string_table = 1;
        part.string_table = &text;
        pprof_stream_part(stream, &part);
    }
    if (gzip_end(stream->gzip) != 0)
        note_error(stream, errno);
    intern_free(stream->texts);
    free(stream->buffer);
    errno = stream->error;
    return stream->error == 0 ? 0 : -1;
}
