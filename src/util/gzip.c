/* SPDX-License-Identifier: MIT */
/*
 * gzip.c -- zlib's deflate and inflate with a gzip wrapper. Deflate uses the
 * fastest level, because the program waits for this at its exit. The next level
 * saves a tenth of the size and takes three times as long. Inflate fills a
 * buffer that doubles.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "gzip.h"

/* 15 is the largest window, and 16 more asks for the gzip wrapper alone. With
 * the usual memory level, zlib clears 64 KiB before the first byte. For at most
 * FEW bytes, a quarter of that memory gives a result as small. */
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

/* The stream and the buffer that grows. */
struct unzip {
    z_stream stream;
    uint8_t *bytes;
    size_t size, room;
};

bool
gzip_recognize(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    return length >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

static int
grow_buffer(struct unzip *unzip)
{
    size_t room = unzip->room == 0 ? 64 * 1024 : 2 * unzip->room;
    if (unzip->size < unzip->room)
        return 0;
    if (unzip->size >= GZIP_MOST) {
        errno = EFBIG;
        return -1;
    }
    uint8_t *bytes = realloc(unzip->bytes, room);
    if (bytes == NULL)
        return -1;
    unzip->bytes = bytes;
    unzip->room = room;
    return 0;
}

/* Inflate all of the LEFT bytes, in steps that zlib can count. Returns 0, or -1
 * with errno set. */
static int
inflate_all(struct unzip *unzip, size_t left)
{
    z_stream *stream = &unzip->stream;
    int status = Z_OK;
    while (status != Z_STREAM_END || left + stream->avail_in > 0) {
        size_t step = left < 1u << 30 ? left : 1u << 30;
        if (stream->avail_in == 0) {
            stream->avail_in = (uInt)step;
            left -= step;
        }
        if (status == Z_STREAM_END && inflateReset(stream) != Z_OK)
            break;
        if (grow_buffer(unzip) < 0)
            return -1;
        stream->next_out = unzip->bytes + unzip->size;
        stream->avail_out = (uInt)(unzip->room - unzip->size);
        status = inflate(stream, Z_NO_FLUSH);
        unzip->size = unzip->room - stream->avail_out;
        if (status == Z_MEM_ERROR) {
            errno = ENOMEM;
            return -1;
        }
        if (status == Z_BUF_ERROR && stream->avail_out == 0)
            continue;
        if (status != Z_OK && status != Z_STREAM_END)
            break;
    }
    errno = EINVAL;
    return status == Z_STREAM_END ? 0 : -1;
}

/* As for gzip itself, several gzip files in a row give their contents in a
 * row. */
uint8_t *
gzip_unpack(const void *bytes, size_t length, size_t *size)
{
    struct unzip unzip = {.stream.next_in = (unsigned char *)bytes};
    int status = -1, error = ENOMEM;
    if (inflateInit2(&unzip.stream, WINDOW_BITS) == Z_OK) {
        status = inflate_all(&unzip, length);
        error = errno;
        inflateEnd(&unzip.stream);
    }
    if (status < 0) {
        free(unzip.bytes);
        errno = error;
        return NULL;
    }
    *size = unzip.size;
    return unzip.bytes;
}
