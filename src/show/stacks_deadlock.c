/* SPDX-License-Identifier: MIT */
/* stacks_deadlock.c -- see stacks_deadlock.h. A thread may wait for a mutex
 * that another thread holds, or for the end of that thread (pthread_join). Both
 * can make a circle. */
#include <string.h>

#include "paint.h"
#include "stacks_place.h"
#include "thread_list.h"
#include "stacks_deadlock.h"

/* Columns to which lists of threads are broken without a terminal. */
enum { PLAIN_COLUMNS = 100 };

/* process/wait_words.c makes these words. */
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
    if (!stacks_place_of_lock(stacks->profile, thread->node, &node, &i))
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
    const char *whom = deadlock->count == 1 ? "it" : "them";
    if (deadlock->outside == 0)
        return 0;
    fprintf(stream, "  %u more wait%s for %s, or for others that do:\n",
            deadlock->outside, deadlock->outside == 1 ? "s" : "", whom);
    return thread_list_print(stream, stacks->threads, outside,
                             deadlock->outside, "", 6,
                             columns > 0 ? columns : PLAIN_COLUMNS);
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
