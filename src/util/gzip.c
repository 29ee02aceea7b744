/* SPDX-License-Identifier: MIT */
/*
 * gzip.c -- zlib's deflate with a gzip wrapper. It uses the fastest level,
 * because the program waits for this at its exit. The next level saves a tenth
 * of the size and takes three times as long.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "gzip.h"

/* 15 is the largest window, and 16 more asks for the gzip wrapper. With the
 * usual memory level, zlib clears 64 KiB before the first byte. For at most FEW
 * bytes, a quarter of that memory gives a result as small. */
enum {
    WINDOW_BITS = 15 + 16,
    FEW = 32 * 1024,
    MEMORY_LEVEL = 8,
    MEMORY_LEVEL_OF_FEW = 6,
};

struct gzip {
    z_stream deflater;
    FILE *stream;
    int error; /* errno of the first failure; 0 if none */
    unsigned char out[64 * 1024];
};

struct gzip *
gzip_new(FILE *stream, size_t expected)
{
    int level = expected < FEW ? MEMORY_LEVEL_OF_FEW : MEMORY_LEVEL;
    struct gzip *gzip = malloc(sizeof(*gzip));
    if (gzip == NULL)
        goto err0;
    gzip->deflater = (z_stream){0};
    gzip->stream = stream;
    gzip->error = 0;
    if (deflateInit2(&gzip->deflater, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
                     level, Z_DEFAULT_STRATEGY) != Z_OK)
        goto err1;
    return gzip;

err1:
    free(gzip);
err0:
    errno = ENOMEM;
    return NULL;
}

/* Run the deflater until it needs more input. With Z_FINISH, run it to its end.
 */
static void
run_deflater(struct gzip *gzip, int flush)
{
    do {
        gzip->deflater.next_out = gzip->out;
        gzip->deflater.avail_out = sizeof(gzip->out);
        deflate(&gzip->deflater, flush);
        size_t length = sizeof(gzip->out) - gzip->deflater.avail_out;
        if (gzip->error == 0 &&
            fwrite(gzip->out, 1, length, gzip->stream) != length)
            gzip->error = errno != 0 ? errno : EIO;
    } while (gzip->deflater.avail_out == 0);
}

/* After a failure of the stream, the deflater goes on but writes nothing more.
 * gzip_end reports the failure. */
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
        run_deflater(gzip, Z_NO_FLUSH);
    }
}

int
gzip_end(struct gzip *gzip)
{
    run_deflater(gzip, Z_FINISH);
    deflateEnd(&gzip->deflater);
    int error = gzip->error;
    free(gzip);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
