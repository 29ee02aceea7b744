/* SPDX-License-Identifier: MIT */
/*
 * view.h -- the memory that a walk may read, without ever faulting.
 *
 * Memory in [low, high) is read directly: the caller knows that it is the
 * thread's own stack. The part in use stays mapped during the walk. But the
 * program may have made an unused page inaccessible. Such a page is in a large
 * array, or between two stacks that were cut from one piece. Tables of frames
 * never lead there. A walk that guesses may lead there, so the kernel is asked
 * after each leap of such a walk. All other memory (alternate stacks,
 * coroutines, a thread that may leave) is copied by a system call into the
 * window.
 *
 * Only pages that the walk needs are read. Another page may be one that the
 * program has never touched, and that one of its threads has to supply
 * (userfaultfd(2)). That may be this same thread, or one that no longer does
 * so. A page that is only guessed must be in memory already.
 */
#ifndef UNWIND_VIEW_H
#define UNWIND_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/* Size of the window, in bytes. */
#define VIEW_WINDOW 4096

struct view {
    uint64_t low, high;
    /* Number of addresses from LOW on whose word may be read directly. 0 in a
     * walk that guesses: there it depends on LAST, too. */
    uint64_t sure;
    uint64_t last;                     /* address read last, or first to be */
    uint64_t window_start, window_end; /* addresses in the window */
    uint8_t *window;
    uint32_t fills; /* fills that are left */
    bool is_guess;  /* the walk guesses */
    bool is_copy;   /* only the window is read */
};

/* Let VIEW read LOW to HIGH directly (equal: nothing), and all else through
 * WINDOW, which has VIEW_WINDOW bytes. The first read is at FIRST, or not
 * farther above it than a frame. Context: any. */
void view_begin(struct view *view, uint64_t low, uint64_t high, uint64_t first,
                uint8_t *window);

/* Let VIEW read everything through WINDOW, which is filled FILLS times at most.
 * That limits what a walk may cost. Context: sampler. */
void view_begin_bounded(struct view *view, uint8_t *window, uint32_t fills);

/* Treat every address that VIEW reads from now on as a guess. Context: any. */
static inline void
view_guess(struct view *view)
{
    view->is_guess = true;
    view->sure = 0;
}

/* Let VIEW read only the LENGTH bytes in COPY, which were copied from START.
 * Context: sampler. */
void view_begin_copy(struct view *view, uint64_t start, uint32_t length,
                     uint8_t *copy);

/* view_read of a word that is not known to be readable directly. A separate
 * function, because few words need it. Context: any. */
bool view_read_doubtful(struct view *view, uint64_t address, uint64_t *value);

/* Read the word at ADDRESS into *VALUE. Returns false if it cannot be read. It
 * takes no lock. Context: any. */
static inline bool
view_read(struct view *view, uint64_t address, uint64_t *value)
{
    if (__builtin_expect(address - view->low < view->sure, 1)) {
        view->last = address;
        *value = *(const uint64_t *)address;
        return true;
    }
    uint64_t word; /* so that VALUE may be in a register above */
    if (!view_read_doubtful(view, address, &word))
        return false;
    *value = word;
    return true;
}

#endif
