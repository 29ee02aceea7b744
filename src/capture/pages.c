/* SPDX-License-Identifier: MIT */
/* pages.c -- the page cache of the learner; see pages.h. Sampler thread. */
#include <string.h>

#include "base/sys.h"
#include "pages.h"
#include "poison.h"

/* No word lies in it: as far from every address as can be. */
#define NO_PAGE (1ull << 63)

void
pages_begin(struct pages *pages)
{
    memset(pages->tags, 0, sizeof(pages->tags));
    pages->last = NO_PAGE;
}

/* Read page NUMBER over what entry I holds. */
static bool
fill(struct pages *pages, unsigned i, uint64_t number)
{
    pages->tags[i] = 0;
    pages->last = NO_PAGE;
    if (sys_read_memory(pages->bytes[i], number * PAGES_SIZE, PAGES_SIZE) !=
        PAGES_SIZE)
        return false;
    pages->tags[i] = number + 1;
    return true;
}

/* The cached bytes of page NUMBER, or NULL if it cannot be read. */
static const uint8_t *
find_page(struct pages *pages, uint64_t number)
{
    unsigned i = (unsigned)(number % PAGES_COUNT);
    if (pages->tags[i] != number + 1 && !fill(pages, i, number))
        return NULL;
    pages->last = number * PAGES_SIZE;
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
