/* SPDX-License-Identifier: MIT */
/*
 * page_stream.h -- packs numbers and bytes for a page (docs/page-data.md).
 * Numbers are varints. All bytes are deflated, and stand as base64 in script
 * elements that no browser runs. So no byte of a name is markup. After
 * PAGE_STREAM_ELEMENT characters another element continues the first: a browser
 * then unpacks piece by piece. Memory is that of zlib and two small buffers.
 */
#ifndef WRITE_PAGE_STREAM_H
#define WRITE_PAGE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Limit of the characters of base64 in an element, a multiple of four. */
#define PAGE_STREAM_ELEMENT (4u << 20)

struct page_stream;

/* Begin the element called ID ("sprof-head") on FILE. The elements that
 * continue it are called ID-1, ID-2... Returns NULL with errno set if memory is
 * short. */
struct page_stream *page_stream_begin(FILE *file, const char *id);

/* Add NUMBER as a varint: seven bits a byte, the lowest first. The top bit of a
 * byte says that another byte follows. */
void page_stream_number(struct page_stream *stream, uint64_t number);

/* Add NUMBER less BEFORE, modulo 2^64, as a varint. Its lowest bit is the sign:
 * 0, -1, 1, -2 become 0, 1, 2, 3. */
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
