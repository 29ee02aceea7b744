/* SPDX-License-Identifier: MIT */
/* heap_view.c -- see heap_view.h. It runs in any thread, also in handlers. */
#include "base/arch.h"
#include "base/hot.h"
#include "base/sys.h"
#include "heap_view.h"
#include "base/poison.h"

/* Limit of the blocks that are looked through for one address. */
#define BLOCKS_MOST 64u

#define PAGE 4096u

/* The end of the addresses of programs. */
#define ADDRESSES_END (1ull << ARCH_ADDRESS_BITS)

HOT void
heap_view_begin(struct heap_view *view, uint64_t low, uint64_t high,
                uint8_t *window, uint32_t fills)
{
    view->low = low;
    view->high = high;
    view->block = 0;
    view->block_start = view->block_end = 0;
    view->stack = view->objects = (struct heap_view_pages){0};
    view->start = view->end = 0;
    view->window = window;
    view->fills = fills;
    view->kept = HEAP_VIEW_NOTHING;
    view->is_careful = view->has_objects = false;
}

/* Whether LENGTH bytes at ADDRESS lie from START to END - 1. */
static bool
lies_in(uint64_t start, uint64_t end, uint64_t address, size_t length)
{
    return address >= start && address < end && end - address >= length;
}

/* Whether the kernel can read a word of the page at ADDRESS. */
static bool
prove_page(struct heap_view *view, uint64_t address)
{
    if (view->fills == 0)
        return false;
    view->fills--;
    return sys_can_load(address);
}

/* Whether the kernel has read a word of each page of the LENGTH bytes at
 * ADDRESS, or does so now. PAGES are kept; those that do not adjoin are
 * forgotten. */
static bool
is_proved(struct heap_view *view, struct heap_view_pages *pages,
          uint64_t address, size_t length)
{
    uint64_t at = address & ~(uint64_t)(PAGE - 1);
    if (length > PAGE || address >= ADDRESSES_END)
        return false;
    if (at < pages->start || at > pages->end)
        pages->start = pages->end = at;
    if (at < pages->end)
        at = pages->end;
    for (; at < address + length; at += PAGE) {
        if (!prove_page(view, at))
            return false;
        pages->end = at + PAGE;
    }
    return true;
}

/* Whether LENGTH bytes at ADDRESS are of the stack, and may be read directly.
 */
static bool
is_stack(struct heap_view *view, uint64_t address, size_t length)
{
    return lies_in(view->low, view->high, address, length) &&
           (!view->is_careful ||
            is_proved(view, &view->stack, address, length));
}

/* Whether LENGTH bytes at ADDRESS are of an object that the thread keeps. A
 * word that was read between two stores of the interpreter may lead elsewhere,
 * so the kernel reads there first. */
static bool
is_object(struct heap_view *view, uint64_t address, size_t length)
{
    return view->kept == HEAP_VIEW_BLOCKS &&
           (!view->is_careful || view->has_objects) &&
           is_proved(view, &view->objects, address, length);
}

/* Look for LENGTH bytes at ADDRESS in the blocks from BLOCK on. A block that is
 * being added may have no size yet. */
static bool
find_block(struct heap_view *view, uint64_t block, uint64_t address,
           size_t length)
{
    for (uint32_t i = 0; i < BLOCKS_MOST && block != 0; i++) {
        const uint64_t *head = (const uint64_t *)block;
        uint64_t next = head[0], size = head[1];
        if (!heap_view_is_block(size))
            return false;
        if (lies_in(block, block + size, address, length)) {
            view->block_start = block;
            view->block_end = block + size;
            return true;
        }
        block = next;
    }
    return false;
}

/* Whether LENGTH bytes at ADDRESS may be read directly. Callers lie in older
 * blocks than what they call. */
static bool
is_kept(struct heap_view *view, uint64_t address, size_t length)
{
    if (is_stack(view, address, length) ||
        lies_in(view->block_start, view->block_end, address, length))
        return true;
    if (view->kept == HEAP_VIEW_BLOCKS)
        return find_block(view,
                          view->block_start != 0 ? view->block_start
                                                 : view->block,
                          address, length);
    return view->kept == HEAP_VIEW_ALL &&
           lies_in(HEAP_VIEW_WINDOW, ADDRESSES_END, address, length);
}

HOT bool
heap_view_copy(struct heap_view *view, uint64_t address, void *to,
               size_t length)
{
    if (is_stack(view, address, length)) {
        __builtin_memcpy(to, (const void *)address, length);
        return true;
    }
    if (view->fills == 0)
        return false;
    view->fills--;
    return sys_copy_memory(to, address, length);
}

/* Fill the window with the LENGTH bytes at ADDRESS, and with those before them
 * in the same page. */
static bool
fill(struct heap_view *view, uint64_t address, size_t length)
{
    uint64_t start = address & ~(uint64_t)(PAGE - 1), end = address + length;
    if (view->kept != HEAP_VIEW_NOTHING)
        start = address;
    if (end < address || length > HEAP_VIEW_WINDOW || view->fills == 0)
        return false;
    if (end - start > HEAP_VIEW_WINDOW)
        start = end - HEAP_VIEW_WINDOW;
    view->fills--;
    view->end = view->start;
    long got = sys_read_memory(view->window, start, end - start);
    if (got != (long)(end - start))
        return false;
    view->start = start;
    view->end = end;
    return true;
}

HOT const uint8_t *
heap_view_at(struct heap_view *view, uint64_t address, size_t length)
{
    if (is_kept(view, address, length) || is_object(view, address, length))
        return (const uint8_t *)address;
    if (!lies_in(view->start, view->end, address, length) &&
        !fill(view, address, length))
        return NULL;
    return view->window + (address - view->start);
}

const uint8_t *
heap_view_stack(struct heap_view *view, uint64_t address, size_t length)
{
    return is_stack(view, address, length) ? (const uint8_t *)address : NULL;
}
