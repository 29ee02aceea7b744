/* SPDX-License-Identifier: MIT */
/* scan.c -- see scan.h. It reads only what is in memory, because each address
 * is a guess. */
#include "base/arch.h"
#include "unwind/x86_64/call_site.h"
#include "scan.h"
#include "base/poison.h"

void
scan_begin(struct scan *scan, uint64_t sp)
{
    scan->at = (sp + 7) & ~7ull;
    scan->end = scan->at + SCAN_REACH;
    scan->trials = 0;
}

bool
scan_next(struct scan *scan, struct view *view, uint64_t *address)
{
    view_guess(view);
    while (scan->at < scan->end && scan->trials < SCAN_TRIALS &&
           view_read(view, scan->at, address)) {
        scan->at += 8;
        /* Most words are numbers, and no addresses of anything. */
        if (*address < 4096 || *address >> ARCH_ADDRESS_BITS != 0 ||
            call_site_before(*address, 0) == CALL_SITE_NONE)
            continue;
        scan->trials++;
        return true;
    }
    return false;
}
