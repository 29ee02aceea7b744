/* SPDX-License-Identifier: MIT */
/* stacks_deadlock.c -- the deadlocks, the first part of stacks_text.h. A thread
 * may wait for a mutex that another thread holds, or for the end of that thread
 * (pthread_join). Both can make a circle. */
#include <string.h>

#include "model/naming.h"
#include "paint.h"
#include "thread_list.h"
#include "stacks_text.h"

/* process/look.c makes these words. */
static bool
waits_for_mutex(const struct stacks_thread *thread)
{
    return strncmp(thread->waits_on, "mutex", 5) == 0;
}

/* Print the number of threads and what they wait for. */
static void
print_title(FILE *stream, const struct stacks *stacks,
            const struct deadlock *deadlock, const struct paint *paint)
{
    const uint32_t *circle = stacks->deadlocks.threads + deadlock->first;
    bool all_mutexes = true;
    for (uint32_t i = 0; i < deadlock->count; i++)
        all_mutexes &= waits_for_mutex(&stacks->threads[circle[i]]);
    fprintf(stream, "\n%sDeadlock: ", paint->hot);
    if (deadlock->count == 1)
        fprintf(stream, "a thread waits for %s",
                all_mutexes ? "a mutex that it has itself" : "itself");
    else
        fprintf(stream, "%u threads wait for each other%s", deadlock->count,
                all_mutexes ? "'s mutexes" : "");
    fprintf(stream, "%s\n", paint->end);
}

/* Whether FRAME is of a library that asks for locks on behalf of its caller. */
static bool
is_library(const struct profile *profile, uint32_t node,
           const struct symbol_frame *frame)
{
    static const char *const modules[] = {"libc.so",  "libc-",     "libpthread",
                                          "ld-linux", "libstdc++", "libc++",
                                          "[vdso]"};
    static const char *const functions[] = {"std::", "__gthread", "pthread_",
                                            "__pthread_", "__lll_"};
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strncmp(module, modules[i], strlen(modules[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strncmp(frame->function, functions[i], strlen(functions[i])) == 0)
            return true;
    return false;
}

/* Find the frame that asked for the lock that the thread with this LEAF waits
 * for. It is the innermost frame outside the C and C++ libraries. Sets *NODE to
 * its node and *I to its number there. Returns false if there is none. Frames
 * are missing behind a marker, and the frame that asked may be one of
 * them. */
static bool
find_lock(struct profile *profile, uint32_t leaf, uint32_t *node, unsigned *i)
{
    for (*node = leaf; *node != 0; *node = profile->nodes[*node].parent) {
        if (profile_is_marker(profile, *node))
            return false;
        const struct symbol *symbol = naming_symbol(profile, *node);
        for (*i = 0; *i < symbol->count; (*i)++)
            if (!is_library(profile, *node, &symbol->frames[*i]))
                return true;
    }
    return false;
}

/* Print a thread of the circle and the frame in which it waits. */
static void
print_member(FILE *stream, const struct stacks *stacks, uint32_t number,
             const struct stacks_text_options *options)
{
    const struct stacks_thread *thread = &stacks->threads[number];
    const struct stacks_thread *owner = &stacks->threads[thread->owner_at];
    fputs("  ", stream);
    thread_list_name(stream, thread);
    fputs(" waits for ", stream);
    if (thread->waits_on[0] != '\0')
        fprintf(stream, "the %s", thread->waits_on);
    else
        thread_list_name(stream, owner);
    fputc('\n', stream);
    uint32_t node;
    unsigned i;
    if (!find_lock(stacks->profile, thread->node, &node, &i))
        return;
    fputs("      in ", stream);
    stacks_place_print(stream, stacks->profile, node, i,
                       options->columns > 9 ? options->columns - 9 : 0);
    fputc('\n', stream);
}

/* Print the threads that wait for the circle and cannot go on either. */
static int
print_outside(FILE *stream, const struct stacks *stacks,
              const struct deadlock *deadlock, unsigned columns)
{
    const uint32_t *outside =
        stacks->deadlocks.threads + deadlock->first_outside;
    const char *target = deadlock->count == 1 ? "it" : "them";
    if (deadlock->outside == 0)
        return 0;
    fprintf(stream, "  %u more wait%s for %s, or for others that do:\n",
            deadlock->outside, deadlock->outside == 1 ? "s" : "", target);
    return thread_list_print(stream, stacks->threads, outside,
                             deadlock->outside, "", 6,
                             columns > 0 ? columns : STACKS_TEXT_COLUMNS);
}

/* Whether the filter keeps a thread of the circle. */
static bool
is_kept(const struct stacks *stacks, const struct deadlock *deadlock)
{
    for (uint32_t i = 0; i < deadlock->count; i++)
        if (stacks->threads[stacks->deadlocks.threads[deadlock->first + i]]
                .is_kept)
            return true;
    return false;
}

int
stacks_deadlock_write(FILE *stream, struct stacks *stacks,
                      const struct stacks_text_options *options)
{
    int result = 0;
    for (uint32_t i = 0; i < stacks->deadlocks.count && result == 0; i++) {
        const struct deadlock *deadlock = &stacks->deadlocks.all[i];
        if (!is_kept(stacks, deadlock))
            continue;
        print_title(stream, stacks, deadlock, options->paint);
        for (uint32_t j = 0; j < deadlock->count; j++)
            print_member(stream, stacks,
                         stacks->deadlocks.threads[deadlock->first + j],
                         options);
        result = print_outside(stream, stacks, deadlock, options->columns);
    }
    return result;
}
