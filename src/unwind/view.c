/* SPDX-License-Identifier: MIT */
/* view.c -- fills a view's window; see view.h. It runs in any thread, also in
 * handlers. */
#include "base/hot.h"
#include "base/sys.h"
#include "view.h"
#include "base/poison.h"

/* In a walk that guesses, a word within this distance of the last one, in
 * bytes, may be read directly. */
#define NEAR 4096u

HOT void
view_begin(struct view *view, uint64_t low, uint64_t high, uint64_t first,
           uint8_t *window)
{
    view->low = low;
    view->high = high;
    view->last = first;
    view->sure =
        high < low || high - low < sizeof(uint64_t) ? 0 : high - low - 7;
    view->is_guess = false;
    view->window_start = view->window_end = 0;
    view->window = window;
    view->fills = UINT32_MAX;
    view->is_copy = false;
}

void
view_begin_bounded(struct view *view, uint8_t *window, uint32_t fills)
{
    view_begin(view, 0, 0, 0, window);
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

/* Fill the window so that it holds ADDRESS. Returns false if 8 bytes cannot be
 * read there. */
static bool
fill(struct view *view, uint64_t address)
{
    if (view->is_copy || view->fills == 0)
        return false;
    view->fills--;
    view->window_end = view->window_start;
    if (view->is_guess && sys_present(address, 8) < 8)
        return false;
    /* Frames are read upwards. So the window begins a little before ADDRESS and
     * reaches to the end of the page. But a word may begin on one page and end
     * on the next. */
    uint64_t page = address & ~4095ull, end = page + 4096;
    uint64_t start = address - page > 128 ? (address - 128) & ~7ull : page;
    if (end - address < 8)
        end = address + 8;
    if (end < start)
        return false;
    long got = sys_read_memory(view->window, start, end - start);
    view->window_start = start;
    view->window_end = got > 0 ? start + (uint64_t)got : start;
    if (view->window_end <= address || view->window_end - address < 8)
        return false;
    view->last = address;
    return true;
}

HOT bool
view_read_doubtful(struct view *view, uint64_t address, uint64_t *value)
{
    if (view->is_guess && address >= view->low && address < view->high &&
        view->high - address >= sizeof(*value) &&
        address - view->last + NEAR < 2 * NEAR) {
        view->last = address;
        *value = *(const uint64_t *)address;
        return true;
    }
    if (address < view->window_start || address + 8 > view->window_end ||
        address + 8 < address)
        if (!fill(view, address))
            return false;
    __builtin_memcpy(value, view->window + (address - view->window_start), 8);
    return true;
}
