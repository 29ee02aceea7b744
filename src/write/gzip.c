/* SPDX-License-Identifier: MIT */
/*
 * gzip.c -- zlib's deflate with a gzip wrapper. The fastest level: the program
 * waits for this at its exit, and the next level saves a tenth of the size for
 * three times the time.
 */
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* 15 is the largest window; 16 more ask for the gzip wrapper. */
enum { WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };

struct gzip {
    z_stream deflater;
    FILE *stream;
    int error; /* errno of the first failure, 0 if none */
    unsigned char out[64 * 1024];
};

struct gzip *
gzip_new(FILE *stream)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);

    if (gzip == NULL)
        goto err0;
    gzip->stream = stream;
    if (deflateInit2(&gzip->deflater, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        goto err1;
    return gzip;

err1:
    free(gzip);
err0:
    errno = ENOMEM;
    return NULL;
}

/* Run the deflater until it wants more input (or, with Z_FINISH, is done). */
static void
pump(struct gzip *gzip, int flush)
{
    size_t length;

    do {
        gzip->deflater.next_out = gzip->out;
        gzip->deflater.avail_out = sizeof gzip->out;
        deflate(&gzip->deflater, flush);
        length = sizeof gzip->out - gzip->deflater.avail_out;
        if (gzip->error == 0 &&
            fwrite(gzip->out, 1, length, gzip->stream) != length)
            gzip->error = errno != 0 ? errno : EIO;
    } while (gzip->deflater.avail_out == 0);
}

/* After a failure of the stream the deflater goes on, but nothing is written
 * any more; gzip_end tells. */
void
gzip_add(struct gzip *gzip, const void *bytes, size_t length)
{
    /* zlib counts input in 32 bits. */
    const size_t most = 1u << 30;

    gzip->deflater.next_in = (unsigned char *)bytes;
    while (length > 0) {
        size_t part = length < most ? length : most;
        gzip->deflater.avail_in = (unsigned)part;
        length -= part;
        pump(gzip, Z_NO_FLUSH);
    }
}

int
gzip_end(struct gzip *gzip)
{
    int error;

    pump(gzip, Z_FINISH);
    deflateEnd(&gzip->deflater);
    error = gzip->error;
    free(gzip);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
