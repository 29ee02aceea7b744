/* SPDX-License-Identifier: MIT */
/* heap_view.c -- see heap_view.h. It runs in any thread, also in handlers. */
#include "base/sys.h"
#include "heap_view.h"
#include "base/poison.h"

void
heap_view_begin(struct heap_view *view, uint64_t low, uint64_t high,
                uint8_t *window, uint32_t fills)
{
    view->low = low;
    view->high = high;
    view->block = 0;
    view->start = view->end = 0;
    view->window = window;
    view->fills = fills;
}

/* Whether LENGTH bytes at ADDRESS lie from START to END - 1. */
static bool
lies_in(uint64_t start, uint64_t end, uint64_t address, size_t length)
{
    return address >= start && address < end && end - address >= length;
}

bool
heap_view_copy(struct heap_view *view, uint64_t address, void *to,
               size_t length)
{
    if (lies_in(view->low, view->high, address, length)) {
        __builtin_memcpy(to, (const void *)address, length);
        return true;
    }
    if (view->fills == 0)
        return false;
    view->fills--;
    return sys_read_memory(to, address, length) == (long)length;
}

/* Fill the window with what ends behind the LENGTH bytes at ADDRESS. It begins
 * in the same block, or else with these bytes. */
static bool
fill(struct heap_view *view, uint64_t address, size_t length)
{
    uint64_t end = address + length, start = address;
    if (end < address || length > HEAP_VIEW_WINDOW || view->fills == 0)
        return false;
    if (view->block != 0 && address > view->block) {
        start = end - HEAP_VIEW_WINDOW;
        if (start < view->block || start > end)
            start = view->block;
        if (end - start > HEAP_VIEW_WINDOW)
            start = address;
    }
    view->fills--;
    view->end = view->start;
    long got = sys_read_memory(view->window, start, end - start);
    if (got != (long)(end - start))
        return false;
    view->start = start;
    view->end = end;
    return true;
}

bool
heap_view_fetch(struct heap_view *view, uint64_t address, size_t length)
{
    return lies_in(view->start, view->end, address, length) ||
           fill(view, address, length);
}

bool
heap_view_read(struct heap_view *view, uint64_t address, void *to,
               size_t length)
{
    if (lies_in(view->low, view->high, address, length)) {
        __builtin_memcpy(to, (const void *)address, length);
        return true;
    }
    if (!lies_in(view->start, view->end, address, length) &&
        !fill(view, address, length))
        return false;
    __builtin_memcpy(to, view->window + (address - view->start), length);
    return true;
}
