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
}

/* Read page NUMBER into entry I, over the page that it holds. */
static bool
fill_entry(struct pages *pages, unsigned i, uint64_t number)
{
    pages->tags[i] = 0;
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

const uint8_t *
pages_bytes(struct pages *pages, uint64_t address, size_t length)
{
    size_t at = address % PAGES_SIZE;
    if (length <= PAGES_SIZE - at) {
        const uint8_t *page = find_page(pages, address / PAGES_SIZE);
        return page != NULL ? page + at : NULL;
    }
    return length <= sizeof(pages->fde) &&
                   pages_read(pages, address, pages->fde, length)
               ? pages->fde
               : NULL;
}
