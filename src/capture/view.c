/* SPDX-License-Identifier: MIT */
/* view.c -- fills a view's window; see view.h. Any thread, in handler. */
#include "base/arch.h"
#include "base/sys.h"
#include "view.h"
#include "poison.h"

void
view_begin(struct view *view, uint64_t low, uint64_t high, uint64_t first,
           uint8_t *window)
{
    view->low = low;
    view->high = high;
    view->last = first;
    view->leap = VIEW_ANYWHERE;
    view->window_start = view->window_end = 0;
    view->window = window;
    view->size = VIEW_WINDOW;
    view->fills = UINT32_MAX;
    view->is_copy = false;
}

void
view_begin_bounded(struct view *view, uint8_t *window, uint32_t size,
                   uint32_t fills)
{
    view_begin(view, 0, 0, 0, window);
    view->size = size;
    view->fills = fills;
}

void
view_begin_copy(struct view *view, uint64_t start, uint32_t length,
                uint8_t *copy)
{
    view_begin(view, 0, 0, 0, copy);
    view->window_start = start;
    view->window_end = start + length;
    view->is_copy = true;
}

uint64_t
view_reach(uint64_t start, uint64_t size)
{
    uint64_t end = arch_thread_pointer();
    return start < end && end - start < size ? end - start : size;
}

bool
view_fill(struct view *view, uint64_t address)
{
    if (view->is_copy || view->fills == 0)
        return false;
    view->fills--;
    /* Frames are read upwards, a little before what comes next. */
    uint64_t start = address > 128 ? (address - 128) & ~7ull : 0;
    if ((start ^ address) >> 12 != 0)
        start = address;
    uint64_t reach = view_reach(start, view->size);
    if (start + reach < address + 8) {
        start = address;
        reach = view_reach(start, view->size);
    }
    long got = sys_read_memory(view->window, start, reach);
    view->window_start = start;
    view->window_end = got > 0 ? start + (uint64_t)got : start;
    if (view->window_end <= address || view->window_end - address < 8)
        return false;
    view->last = address;
    return true;
}
