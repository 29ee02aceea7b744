/* SPDX-License-Identifier: MIT */
/*
 * unzip.c -- zlib's inflate, into a buffer that doubles. As for gzip itself,
 * several gzip files in a row give their contents in a row.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "unzip.h"

/* The largest window, and only with a gzip header. */
enum { WINDOW_BITS = 15 + 16 };

/* The stream and the buffer that grows. */
struct unzip {
    z_stream stream;
    uint8_t *bytes;
    size_t size, room;
};

bool
unzip_recognize(const void *bytes, size_t length)
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
    if (unzip->size >= UNZIP_MOST) {
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

uint8_t *
unzip(const void *bytes, size_t length, size_t *size)
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
