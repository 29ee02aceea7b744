/* SPDX-License-Identifier: MIT */
/*
 * view.h -- the memory that a walk may read, without ever faulting. What lies
 * in [low, high) is read directly: the caller knows that it is the thread's own
 * stack, of which all that is in use stays mapped during the walk. But the
 * program may have made a page inaccessible that it does not use, in a large
 * array, or between two stacks that it cut from one piece. Tables of frames
 * never lead there; a walk that has to guess may, so after each leap of its the
 * kernel is asked. All else (alternate stacks, coroutines, a thread that may
 * leave) is copied by a system call into the window.
 *
 * No page is read but those that the walk needs: another may be one that the
 * program has never touched, and that one of its threads has to supply
 * (userfaultfd(2)), this very one perhaps, or one that does so no more. What is
 * only guessed must be in memory already.
 */
#ifndef CAPTURE_VIEW_H
#define CAPTURE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#define VIEW_WINDOW 4096

/* How far from one word the next may be read directly: by a walk that knows,
 * and by one that guesses. */
#define VIEW_ANYWHERE (1ull << 62)
#define VIEW_NEAR 4096u

struct view {
    uint64_t low, high;
    uint64_t last;                     /* address that was read, or would be */
    uint64_t leap;                     /* VIEW_ANYWHERE or VIEW_NEAR */
    uint64_t window_start, window_end; /* addresses that the window holds */
    uint8_t *window;
    uint32_t fills; /* times that it may still be filled */
    bool is_copy;   /* the window is all there is: nothing else is read */
};

/* Make VIEW read LOW to HIGH directly (equal: nothing) and all else through
 * WINDOW, which has VIEW_WINDOW bytes. The first read is at FIRST or a frame
 * above it. Context: any thread, in handler. */
void view_begin(struct view *view, uint64_t low, uint64_t high, uint64_t first,
                uint8_t *window);

/* Make VIEW read everything through WINDOW, which is filled no more than FILLS
 * times: what a walk may cost. Context: sampler. */
void view_begin_bounded(struct view *view, uint8_t *window, uint32_t fills);

/* From now on, what VIEW is asked for is a guess. */
static inline void
view_guess(struct view *view)
{
    view->leap = VIEW_NEAR;
}

/* Make VIEW read LENGTH bytes that were copied from START on, and nothing else.
 * Context: sampler. */
void view_begin_copy(struct view *view, uint64_t start, uint32_t length,
                     uint8_t *copy);

/* Fill the window from ADDRESS on. False if 8 bytes cannot be read there. */
bool view_fill(struct view *view, uint64_t address);

/* The word at ADDRESS in *VALUE. False if it cannot be read. Context: any
 * thread, in handler. Locks: none. */
static inline bool
view_read(struct view *view, uint64_t address, uint64_t *value)
{
    if (address >= view->low && address < view->high &&
        view->high - address >= sizeof(*value) &&
        address - view->last + view->leap < 2 * view->leap) {
        view->last = address;
        *value = *(const uint64_t *)address;
        return true;
    }
    if (address < view->window_start || address + 8 > view->window_end ||
        address + 8 < address)
        if (!view_fill(view, address))
            return false;
    __builtin_memcpy(value, view->window + (address - view->window_start), 8);
    return true;
}

#endif
