/* SPDX-License-Identifier: MIT */
/* page_stream.c -- numbers go into PLAIN, and zlib turns PLAIN into PACKED.
 * Three bytes of PACKED are written as four characters of base64. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "page_stream.h"

/* LEVEL: zlib's effort. Level 9 makes pages smaller by a hundredth, in twice
 * the time. WINDOW_BITS: the largest window, without a header. MEMORY_LEVEL:
 * zlib's default. PLAIN_SIZE, PACKED_SIZE: bytes of the buffers. GROUP: bytes
 * that become four characters. VARINT_SIZE: limit of the bytes of a number. */
enum {
    LEVEL = 6,
    WINDOW_BITS = -15,
    MEMORY_LEVEL = 8,
    PLAIN_SIZE = 16 * 1024,
    PACKED_SIZE = 48 * 1024,
    GROUP = 3,
    VARINT_SIZE = 10,
};

struct page_stream {
    z_stream deflater;
    FILE *file;
    const char *id;
    unsigned part;     /* elements before this one */
    unsigned length;   /* characters in this one */
    size_t plain_used; /* bytes in PLAIN */
    unsigned char plain[PLAIN_SIZE];
    unsigned char packed[PACKED_SIZE + GROUP];
    size_t left; /* bytes in PACKED that are no whole group yet */
};

static void
open_element(struct page_stream *stream)
{
    fprintf(stream->file, "<script type=\"application/octet-stream\" id=\"%s",
            stream->id);
    if (stream->part > 0)
        fprintf(stream->file, "-%u", stream->part);
    fputs("\">", stream->file);
    stream->length = 0;
}

static void
close_element(struct page_stream *stream)
{
    fputs("</script>\n", stream->file);
    stream->part++;
}

struct page_stream *
page_stream_begin(FILE *file, const char *id)
{
    struct page_stream *stream = malloc(sizeof(*stream));
    if (stream == NULL)
        goto err0;
    stream->deflater = (z_stream){0};
    stream->file = file;
    stream->id = id;
    stream->part = 0;
    stream->plain_used = stream->left = 0;
    if (deflateInit2(&stream->deflater, LEVEL, Z_DEFLATED, WINDOW_BITS,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        goto err1;
    open_element(stream);
    return stream;

err1:
    free(stream);
err0:
    errno = ENOMEM;
    return NULL;
}

/* Write LENGTH bytes (1 to 3) as four characters. */
static void
put_group(struct page_stream *stream, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)bytes[0] << 16;
    if (length > 1)
        bits |= (unsigned)bytes[1] << 8;
    if (length > 2)
        bits |= bytes[2];
    const char text[] = {
        digits[bits >> 18],
        digits[bits >> 12 & 63],
        length > 1 ? digits[bits >> 6 & 63] : '=',
        length > 2 ? digits[bits & 63] : '=',
    };
    if (stream->length == PAGE_STREAM_ELEMENT) {
        close_element(stream);
        open_element(stream);
    }
    fwrite(text, 1, sizeof(text), stream->file);
    stream->length += sizeof(text);
}

/* Write the COUNT bytes of PACKED in groups. Move the rest to the start of
 * PACKED. AT_END: write the rest as a group, too. */
static void
put_packed(struct page_stream *stream, size_t count, bool at_end)
{
    size_t at = 0;
    for (; count - at >= GROUP; at += GROUP)
        put_group(stream, stream->packed + at, GROUP);
    stream->left = count - at;
    memmove(stream->packed, stream->packed + at, stream->left);
    if (at_end && stream->left > 0)
        put_group(stream, stream->packed, stream->left);
}

/* Deflate what is in PLAIN. */
static void
pack(struct page_stream *stream, int flush)
{
    stream->deflater.next_in = stream->plain;
    stream->deflater.avail_in = (unsigned)stream->plain_used;
    stream->plain_used = 0;
    do {
        stream->deflater.next_out = stream->packed + stream->left;
        stream->deflater.avail_out = PACKED_SIZE;
        deflate(&stream->deflater, flush);
        put_packed(stream,
                   stream->left + PACKED_SIZE - stream->deflater.avail_out,
                   false);
    } while (stream->deflater.avail_out == 0);
}

void
page_stream_number(struct page_stream *stream, uint64_t number)
{
    if (stream->plain_used > PLAIN_SIZE - VARINT_SIZE)
        pack(stream, Z_NO_FLUSH);
    unsigned char *at = stream->plain + stream->plain_used;
    for (; number > 0x7f; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    stream->plain_used = (size_t)(at - stream->plain);
}

void
page_stream_change(struct page_stream *stream, uint64_t number, uint64_t before)
{
    uint64_t change = number - before;
    page_stream_number(stream, change << 1 ^ (0 - (change >> 63)));
}

void
page_stream_bytes(struct page_stream *stream, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        size_t room = PLAIN_SIZE - stream->plain_used;
        size_t part = length < room ? length : room;
        memcpy(stream->plain + stream->plain_used, at, part);
        stream->plain_used += part;
        at += part;
        length -= part;
        if (stream->plain_used == PLAIN_SIZE)
            pack(stream, Z_NO_FLUSH);
    }
}

void
page_stream_text(struct page_stream *stream, const char *text, size_t length)
{
    page_stream_number(stream, length);
    page_stream_bytes(stream, text, length);
}

int
page_stream_end(struct page_stream *stream)
{
    FILE *file = stream->file;
    pack(stream, Z_FINISH);
    put_packed(stream, stream->left, true);
    close_element(stream);
    deflateEnd(&stream->deflater);
    free(stream);
    if (ferror(file) == 0)
        return 0;
    if (errno == 0)
        errno = EIO;
    return -1;
}

int
page_stream_element(FILE *file, const char *id, const void *bytes,
                    size_t length)
{
    struct page_stream *stream = page_stream_begin(file, id);
    if (stream == NULL)
        return -1;
    page_stream_bytes(stream, bytes, length);
    return page_stream_end(stream);
}
