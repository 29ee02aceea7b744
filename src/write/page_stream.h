/* SPDX-License-Identifier: MIT */
/*
 * page_stream.h -- packs numbers and bytes for a page: varints, deflated, in
 * base64, inside of script elements that no browser runs (docs/page-data.md).
 * So no byte of a name stands in the markup. An element is closed after
 * PAGE_STREAM_ELEMENT characters, and the next one continues it: a browser then
 * unpacks piece by piece. Memory is that of zlib and two small buffers, however
 * much is written.
 */
#ifndef WRITE_PAGE_STREAM_H
#define WRITE_PAGE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of base64 in an element, a multiple of four. */
#define PAGE_STREAM_ELEMENT (4u << 20)

struct page_stream;

/* Begin the element called ID ("sprof-head") on FILE. The elements that
 * continue it are called ID-1, ID-2... Returns NULL with errno set if memory is
 * short. */
struct page_stream *page_stream_begin(FILE *file, const char *id);

/* Add NUMBER as a varint: seven bits a byte, the lowest first; the top bit of a
 * byte says that another one follows. */
void page_stream_number(struct page_stream *stream, uint64_t number);

/* Add NUMBER less BEFORE, modulo 2^64, as a varint whose lowest bit is the
 * sign: 0, -1, 1, -2 are 0, 1, 2, 3. */
void page_stream_change(struct page_stream *stream, uint64_t number,
                        uint64_t before);

void page_stream_bytes(struct page_stream *stream, const void *bytes,
                       size_t length);

/* Add the length of a text, then its bytes. */
void page_stream_text(struct page_stream *stream, const char *text,
                      size_t length);

/* Close the element and free STREAM. Returns 0, or -1 with errno set if the
 * file has failed. */
int page_stream_end(struct page_stream *stream);

/* Write LENGTH bytes as the element ID. Returns 0, or -1 with errno set. */
int page_stream_element(FILE *file, const char *id, const void *bytes,
                        size_t length);

#endif
