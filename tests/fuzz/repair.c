/* SPDX-License-Identifier: MIT */
/* repair.c -- see repair.h. */
#include <string.h>

#include "store/layout.h"
#include "store/record.h"

#include "repair.h"

void
repair(uint8_t *data, size_t size)
{
    struct spool_header header;
    size_t offset = sizeof(header);

    if (size < sizeof(header))
        return;
    memcpy(&header, data, sizeof(header));
    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    header.version = SPOOL_VERSION;
    header.header_size = sizeof(header);
    memcpy(data, &header, sizeof(header));
    while (offset + 8 <= size) {
        uint64_t head;

        memcpy(&head, data + offset, sizeof(head));
        if (head == 0 || record_size_of(head) < 8)
            return;
        head = record_head(offset, record_kind_of(head), (uint8_t)(head >> 8),
                           record_size_of(head));
        memcpy(data + offset, &head, sizeof(head));
        offset += record_size_of(head);
    }
}
