/* SPDX-License-Identifier: MIT */
/* pages.c -- the page cache of the learner; see pages.h. It runs on the sampler
 * thread. */
#include <string.h>

#include "base/sys.h"
#include "pages.h"
#include "base/poison.h"

struct pages *pages_learner;

void
pages_begin(struct pages *pages)
{
    static uint64_t last_stamp;
    memset(pages->tags, 0, sizeof(pages->tags));
    pages->stamp = ++last_stamp;
    pages->last_span = 0;
}

/* Read page NUMBER into entry I, over the page that it holds. */
static bool
fill_entry(struct pages *pages, unsigned i, uint64_t number)
{
    pages->tags[i] = 0;
    pages->last_span = 0;
    if (!sys_copy_memory(pages->bytes[i], number * PAGES_SIZE, PAGES_SIZE))
        return false;
    pages->tags[i] = number + 1;
    return true;
}

/* The cached bytes of page NUMBER, or NULL if it cannot be read. */
static const uint8_t *
find_page(struct pages *pages, uint64_t number)
{
    unsigned i = (unsigned)(number % PAGES_COUNT);
    if (pages->tags[i] != number + 1 && !fill_entry(pages, i, number))
        return NULL;
    pages->last = number * PAGES_SIZE;
    pages->last_span = PAGES_SIZE - sizeof(uint64_t) + 1;
    pages->last_bytes = pages->bytes[i];
    return pages->bytes[i];
}

bool
pages_read(struct pages *pages, uint64_t address, void *to, size_t length)
{
    uint8_t *out = to;
    while (length != 0) {
        const uint8_t *page = find_page(pages, address / PAGES_SIZE);
        size_t at = address % PAGES_SIZE, part = PAGES_SIZE - at;
        if (page == NULL)
            return false;
        if (part > length)
            part = length;
        memcpy(out, page + at, part);
        out += part;
        address += part;
        length -= part;
    }
    return true;
}
