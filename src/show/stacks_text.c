/* SPDX-License-Identifier: MIT */
/*
 * stacks_text.c -- see stacks_text.h. The title of a group has the details that
 * all its threads have in common: what they wait for, and their labels. If a
 * detail differs, the group is printed in parts, a line for each. If there are
 * more than PARTS_MOST parts, only the threads are listed: thousands of sockets
 * would not help the reader.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "util/number.h"
#include "truncate.h"
#include "paint.h"
#include "thread_list.h"
#include "wrap.h"
#include "stacks_text.h"

/* COLUMNS: those to which lists of threads are broken without a terminal. */
enum { PARTS_MOST = 16, COLUMNS = 100 };

struct text {
    FILE *stream;
    struct stacks *stacks;
    const struct stacks_text_options *options;
    uint32_t *numbers; /* of the threads of a part; room for all */
};

/* Names come from files that may contain anything (util/clean.h). */
static const char *
clean_name(struct profile *profile, const char *name)
{
    const char *string = profile_string(profile, name);
    return string != NULL ? string : "?";
}

/* Write to TEXT what follows the function's name. */
static void
describe_place(struct profile *profile, uint32_t node, unsigned i, char *text,
               size_t size)
{
    const struct symbol *symbol = naming_symbol(profile, node);
    const struct symbol_frame *frame = &symbol->frames[i];
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    const char *inlined = i + 1 < symbol->count ? " (inlined)" : "";
    const char *file = clean_name(profile, path_name(frame->file));
    if (file[0] != '\0' && frame->line > 0)
        snprintf(text, size, " %.200s:%u%s", file, frame->line, inlined);
    else if (file[0] != '\0')
        snprintf(text, size, " %.200s%s", file, inlined);
    else if (symbol->named && module[0] != '\0')
        snprintf(text, size, " (%.200s)%s", module, inlined);
    else
        text[0] = '\0'; /* a name like "libx.so+0x1234" has it */
}

/* Print BEFORE and frame I of NODE, "serve server.c:200", with " (inlined)" if
 * it is inlined. If the file is unknown, the module stands in its place. Only
 * the last part of a path is shown: with the function's name it is enough to
 * find the line. The function's name is shortened so that the line fits, but
 * keeps at least 10 columns. The place is never cut: it would name another
 * line. */
static void
print_frame(const struct text *text, const char *before, uint32_t node,
            unsigned i)
{
    struct profile *profile = text->stacks->profile;
    const char *function = naming_symbol(profile, node)->frames[i].function;
    unsigned taken = (unsigned)strlen(before), columns = text->options->columns;
    char place[256];
    columns = columns > taken ? columns - taken : 0;
    describe_place(profile, node, i, place, sizeof(place));
    unsigned width = truncate_width(place);
    if (columns > 0 && columns < width + 10)
        columns = width + 10;
    fputs(before, text->stream);
    truncate_name(text->stream, clean_name(profile, function),
                  columns > 0 ? columns - width : 0);
    fprintf(text->stream, "%s\n", place);
}

/* Print a list of COUNT threads, indented by INDENT, and WORDS about them. */
static int
print_threads(const struct text *text, const uint32_t *numbers, uint32_t count,
              const char *words, unsigned indent)
{
    unsigned columns = text->options->columns;
    return thread_list_print(text->stream, text->stacks->threads, numbers,
                             count, words, indent,
                             columns > 0 ? columns : COLUMNS);
}

/* process/look.c makes these words. */
static bool
waits_for_mutex(const struct stacks_thread *thread)
{
    return strncmp(thread->waits_on, "mutex", 5) == 0;
}

/* Print the number of threads and what they wait for. */
static void
print_circle_title(const struct text *text, const struct deadlock *deadlock)
{
    FILE *stream = text->stream;
    const struct stacks *stacks = text->stacks;
    const uint32_t *circle = stacks->deadlocks.threads + deadlock->first;
    bool all_mutexes = true;
    for (uint32_t i = 0; i < deadlock->count; i++)
        all_mutexes &= waits_for_mutex(&stacks->threads[circle[i]]);
    fprintf(stream, "\n%sDeadlock: ", text->options->paint->hot);
    if (deadlock->count == 1)
        fprintf(stream, "a thread waits for %s",
                all_mutexes ? "a mutex that it has itself" : "itself");
    else
        fprintf(stream, "%u threads wait for each other%s", deadlock->count,
                all_mutexes ? "'s mutexes" : "");
    fprintf(stream, "%s\n", text->options->paint->end);
}

/* Whether FRAME is of a library that takes locks on behalf of its caller. */
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

/* Find the frame that wants the lock for which THREAD waits. It is the
 * innermost frame outside the C and C++ libraries, or the innermost function of
 * an interpreter if the lock is one of the interpreter's program. Sets *NODE to
 * its node and *I to its number there. Returns false if none is found. Frames
 * are missing after a marker, and the wanted frame may be one of them. */
static bool
find_lock(struct profile *profile, const struct stacks_thread *thread,
          uint32_t *node, unsigned *i)
{
    bool is_script = strncmp(thread->waits_on, "RLock", 5) == 0;
    for (*node = thread->node; *node != 0;
         *node = profile->nodes[*node].parent) {
        if (profile_is_marker(profile, *node))
            return false;
        if (is_script && !profile_is_script(profile, *node))
            continue;
        const struct symbol *symbol = naming_symbol(profile, *node);
        for (*i = 0; *i < symbol->count; (*i)++)
            if (!is_library(profile, *node, &symbol->frames[*i]))
                return true;
    }
    return false;
}

/* Print a thread of the circle and the frame in which it waits. */
static void
print_member(const struct text *text, uint32_t number)
{
    const struct stacks *stacks = text->stacks;
    const struct stacks_thread *thread = &stacks->threads[number];
    fputs("  ", text->stream);
    thread_list_name(text->stream, thread);
    fputs(" waits for ", text->stream);
    if (thread->waits_on[0] != '\0')
        fprintf(text->stream, "the %s", thread->waits_on);
    else
        thread_list_name(text->stream, &stacks->threads[thread->owner_at]);
    fputc('\n', text->stream);
    uint32_t node;
    unsigned i;
    if (find_lock(stacks->profile, thread, &node, &i))
        print_frame(text, "      in ", node, i);
}

/* Print the threads that wait for the circle and cannot go on either. */
static int
print_outside(const struct text *text, const struct deadlock *deadlock)
{
    if (deadlock->outside == 0)
        return 0;
    fprintf(text->stream, "  %u more wait%s for %s, or for others that do:\n",
            deadlock->outside, deadlock->outside == 1 ? "s" : "",
            deadlock->count == 1 ? "it" : "them");
    return print_threads(text,
                         text->stacks->deadlocks.threads +
                             deadlock->first_outside,
                         deadlock->outside, "", 6);
}

/* Print every circle in which the filter keeps a thread, each after an empty
 * line. A thread may wait for a mutex that another thread holds, or for the end
 * of that thread (pthread_join). Both can make a circle. Returns 0, or -1 with
 * errno set if memory is short. */
static int
print_deadlocks(const struct text *text)
{
    const struct deadlocks *deadlocks = &text->stacks->deadlocks;
    int result = 0;
    for (uint32_t i = 0; i < deadlocks->count && result == 0; i++) {
        const struct deadlock *deadlock = &deadlocks->all[i];
        const uint32_t *circle = deadlocks->threads + deadlock->first;
        bool is_kept = false;
        for (uint32_t j = 0; j < deadlock->count; j++)
            is_kept |= text->stacks->threads[circle[j]].is_kept;
        if (!is_kept)
            continue;
        print_circle_title(text, deadlock);
        for (uint32_t j = 0; j < deadlock->count; j++)
            print_member(text, circle[j]);
        result = print_outside(text, deadlock);
    }
    return result;
}

/* Print TIME, in ns since the epoch: "2026-05-09 07:29:33.120 UTC". */
static void
print_time(FILE *stream, uint64_t time)
{
    time_t seconds = (time_t)(time / 1000000000u);
    struct tm broken;
    char date[64] = "";
    if (gmtime_r(&seconds, &broken) != NULL)
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &broken);
    fprintf(stream, "%s.%03u UTC", date, (unsigned)(time / 1000000u % 1000u));
}

/* Print the three lines of the head. */
static void
print_head(const struct text *text)
{
    const struct stacks *stacks = text->stacks;
    const struct profile_process *process = stacks_process(stacks);
    unsigned columns = text->options->columns;
    fprintf(text->stream, "%sStacks of %s, process %u, ",
            text->options->paint->title, path_name(process->exe), process->pid);
    print_time(text->stream, stacks->time);
    fprintf(text->stream, "%s\ncommand  ", text->options->paint->end);
    truncate_text(text->stream, process->command,
                  columns > 20 ? columns - 9 : 0);
    fputs("\nthreads  ", text->stream);
    if (stacks->kept_count < stacks->thread_count)
        fprintf(text->stream, "%u of ", stacks->kept_count);
    fprintf(text->stream, "%u in %u group%s, looked at within %.3f ms\n",
            stacks->thread_count, stacks->group_count,
            stacks->group_count == 1 ? "" : "s", (double)stacks->took / 1e6);
}

/* Details that all threads of a group may have in common. */
enum { DETAIL_WAIT = 1, DETAIL_LABELS = 2, DETAIL_ALL = 3 };

/* Print the DETAILS of THREAD: ", mutex of b (4713); user=7, request=12". */
static void
print_details(FILE *stream, const struct stacks *stacks,
              const struct stacks_thread *thread, unsigned details)
{
    unsigned count = 0;
    if ((details & DETAIL_WAIT) != 0 && thread->waits_on[0] != '\0')
        fprintf(stream, ", %s", thread->waits_on);
    if ((details & DETAIL_WAIT) != 0 && thread->owner != 0 &&
        thread->owner_at == STACKS_NONE)
        fprintf(stream, ", where no thread %u is left", thread->owner);
    const struct stacks_label *list[STACKS_LABELS_MOST];
    if ((details & DETAIL_LABELS) != 0)
        count = stacks_label_list(&stacks->labels, thread->label, list);
    for (unsigned i = 0; i < count; i++)
        fprintf(stream, "%s %s=%s", i == 0 ? ";" : ",", list[i]->key,
                list[i]->value);
}

/* Thread I of a group. */
static const struct stacks_thread *
member_of(const struct stacks *stacks, const struct stacks_group *group,
          uint32_t i)
{
    return &stacks->threads[stacks->order[group->first + i]];
}

/* The details that two threads have in common. Strings are interned, so equal
 * strings have equal addresses. */
static unsigned
common_details(const struct stacks_thread *one, const struct stacks_thread *two)
{
    unsigned details = 0;
    if (one->waits_on == two->waits_on && one->owner == two->owner)
        details |= DETAIL_WAIT;
    if (one->label == two->label)
        details |= DETAIL_LABELS;
    return details;
}

/* The details that all threads of a group have in common. */
static unsigned
group_details(const struct stacks *stacks, const struct stacks_group *group)
{
    unsigned details = DETAIL_ALL;
    for (uint32_t i = 1; i < group->count; i++)
        details &= common_details(member_of(stacks, group, 0),
                                  member_of(stacks, group, i));
    return details;
}

/* Print the CPU time of a group: ", 0.012 s of CPU time (most: 4720, 0.004 s)".
 */
static void
print_cpu(FILE *stream, const struct stacks *stacks,
          const struct stacks_group *group)
{
    const struct stacks_thread *most = NULL;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct stacks_thread *thread = member_of(stacks, group, i);
        if (thread->cpu == STACKS_NO_CPU)
            continue;
        sum_add(&sum, thread->cpu);
        if (most == NULL || thread->cpu > most->cpu)
            most = thread;
    }
    if (most == NULL)
        return;
    fprintf(stream, ", %.3f s of CPU time", number_seconds(sum));
    if (group->count > 1 && most->cpu >= 1000000)
        fprintf(stream, " (most: %u, %.3f s)", most->tid,
                number_seconds(most->cpu));
}

/* Print "waiting in accept4", "waiting for the GPU" or "running". */
static void
print_state(FILE *stream, const struct stacks_thread *thread)
{
    static const struct {
        const char *doing, *text;
    } texts[] = {
        {"waiting", "waiting"},
        {SAMPLE_STATE_GPU, "waiting for the GPU"},
        {SAMPLE_STATE_SPINS, "waiting for the GPU, spinning"},
        {"traced", "stopped by a debugger"},
        {"unknown", "in an unknown state"},
    };
    const char *before = stacks_is_waiting(thread) ? "waiting in " : "";
    const char *text = thread->doing;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (strcmp(thread->doing, texts[i].doing) == 0) {
            before = "";
            text = texts[i].text;
        }
    fprintf(stream, "%s%s%s", before, text,
            thread->state == 'D' ? " (not to be interrupted)" : "");
}

/* Print "3 threads waiting in accept4, socket:[123], 0.012 s of CPU time". */
static void
print_group_title(FILE *stream, const struct stacks *stacks,
                  const struct stacks_group *group, unsigned details)
{
    const struct stacks_thread *first = member_of(stacks, group, 0);
    fprintf(stream, "%u thread%s ", group->count, group->count == 1 ? "" : "s");
    print_state(stream, first);
    print_details(stream, stacks, first, details);
    print_cpu(stream, stacks, group);
}

/* Print WORDS in lines that fit. Without a terminal they stay one line, which
 * grep can find. */
static void
print_wrapped(const struct text *text, const char *words, unsigned indent)
{
    unsigned columns = text->options->columns;
    struct wrap wrap = {text->stream, columns > 0 ? columns : UINT_MAX, indent,
                        4, 0};
    wrap_text(&wrap, words);
}

/* The DETAILS of thread FIRST of a group, after the title of the group if
 * FIRST is TITLE. The caller frees the words; NULL if memory is short. */
#define TITLE UINT32_MAX
static char *
words_of(const struct stacks *stacks, const struct stacks_group *group,
         uint32_t first, unsigned details)
{
    char *words = NULL;
    size_t length;
    FILE *stream = open_memstream(&words, &length);
    if (stream == NULL)
        return NULL;
    if (first == TITLE)
        print_group_title(stream, stacks, group, details);
    else
        print_details(stream, stacks, member_of(stacks, group, first), details);
    if (fclose(stream) == 0)
        return words;
    free(words);
    return NULL;
}

/* Print the title of a group in lines that fit. */
static int
print_title(const struct text *text, const struct stacks_group *group,
            unsigned details)
{
    char *line = words_of(text->stacks, group, TITLE, details);
    if (line == NULL)
        return -1;
    fprintf(text->stream, "\n%s", text->options->paint->title);
    print_wrapped(text, line, 0);
    fprintf(text->stream, "%s\n", text->options->paint->end);
    free(line);
    return 0;
}

/* Print the threads of the group that have all details in common with its
 * thread FIRST, with these DETAILS. */
static int
print_part(const struct text *text, const struct stacks_group *group,
           uint32_t first, unsigned details)
{
    const struct stacks *stacks = text->stacks;
    const struct stacks_thread *like = member_of(stacks, group, first);
    uint32_t count = 0;
    char *words = words_of(stacks, group, first, details);
    if (words == NULL)
        return -1;
    for (uint32_t i = first; i < group->count; i++)
        if (common_details(member_of(stacks, group, i), like) == DETAIL_ALL)
            text->numbers[count++] = stacks->order[group->first + i];
    int result = print_threads(text, text->numbers, count,
                               words + strspn(words, ",; "), 2);
    free(words);
    return result;
}

/* Find the first thread of each part of a group, at most PARTS_MOST + 1.
 * Returns their number. */
static unsigned
find_parts(const struct stacks *stacks, const struct stacks_group *group,
           uint32_t firsts[PARTS_MOST + 1])
{
    unsigned parts = 0;
    for (uint32_t i = 0; i < group->count && parts <= PARTS_MOST; i++) {
        bool is_known = false;
        for (unsigned j = 0; j < parts && !is_known; j++)
            is_known = common_details(member_of(stacks, group, i),
                                      member_of(stacks, group, firsts[j])) ==
                       DETAIL_ALL;
        if (!is_known)
            firsts[parts++] = i;
    }
    return parts;
}

/* Print the title of a group and its threads, in as few words as possible. */
static int
print_members(const struct text *text, const struct stacks_group *group)
{
    const uint32_t *numbers = text->stacks->order + group->first;
    uint32_t firsts[PARTS_MOST + 1];
    unsigned parts = find_parts(text->stacks, group, firsts);
    unsigned details = group_details(text->stacks, group);
    int result = print_title(text, group, details);
    if (result == 0 && parts == 1)
        return print_threads(text, numbers, group->count, "", 2);
    if (result == 0 && parts > PARTS_MOST)
        return print_threads(text, numbers, group->count,
                             "each with a wait or labels of its own", 2);
    for (unsigned i = 0; i < parts && result == 0; i++)
        result = print_part(text, group, firsts[i], DETAIL_ALL & ~details);
    return result;
}

/* Print the note for missing frames: how many are left out of a stack of DEPTH,
 * or why the stack ends. SHOWN is the number of real frames in the whole
 * stack. */
static void
print_marker(const struct text *text, const struct profile_node *node,
             uint32_t depth, uint32_t shown)
{
    fprintf(text->stream, "    %s[", text->options->paint->faint);
    if ((node->flags & NODE_GUESSED) != 0)
        fputs("caller guessed", text->stream);
    else if ((node->flags & NODE_ELIDED) == 0)
        fprintf(text->stream, "truncated: %s",
                cut_text((unsigned)node->offset));
    else if (depth > shown)
        fprintf(text->stream, "%u frames are left out", depth - shown);
    else
        fputs("frames are left out", text->stream);
    fprintf(text->stream, "]%s\n", text->options->paint->end);
}

/* Innermost first. The stacks of a group read the same, so one stands for all.
 */
static void
print_frames(const struct text *text, const struct stacks_thread *thread)
{
    struct profile *profile = text->stacks->profile;
    uint32_t shown = 0;
    for (uint32_t at = thread->node; at != 0; at = profile->nodes[at].parent)
        shown += !profile_is_marker(profile, at);
    for (uint32_t at = thread->node; at != 0; at = profile->nodes[at].parent) {
        if (profile_is_marker(profile, at)) {
            print_marker(text, &profile->nodes[at], thread->depth, shown);
            continue;
        }
        const struct symbol *symbol = naming_symbol(profile, at);
        for (unsigned i = 0; i < symbol->count; i++)
            print_frame(text, "    ", at, i);
    }
}

/* Print the stack of a group, or why it has none. */
static void
print_stack(const struct text *text, const struct stacks_thread *thread)
{
    const char *cause = stack_cause_text(thread->cause);
    const char *what = thread->node == 0 ? "no stack" : "may be out of date";
    if (thread->node == 0 && thread->cause == STACK_NONE)
        cause = "it is not known why";
    if (thread->node == 0 || thread->cause != STACK_NONE) {
        char words[256];
        snprintf(words, sizeof(words), "[%s: %s]", what, cause);
        fputs(text->options->paint->warm, text->stream);
        print_wrapped(text, words, 4);
        fprintf(text->stream, "%s\n", text->options->paint->end);
    }
    print_frames(text, thread);
}

/* Print the number of groups that were not asked for, and of their threads. */
static void
print_rest(const struct text *text, uint32_t from)
{
    const struct stacks *stacks = text->stacks;
    uint32_t threads = 0;
    for (uint32_t i = from; i < stacks->group_count; i++)
        threads += stacks->groups[i].count;
    if (from < stacks->group_count)
        fprintf(text->stream,
                "\n(%u more groups of %u threads; -n 0 shows "
                "all)\n",
                stacks->group_count - from, threads);
}

/* Nothing is printed after a failure: half a list would look like a whole one.
 */
int
stacks_text_write(FILE *stream, struct stacks *stacks,
                  const struct stacks_text_options *options)
{
    struct stacks_text_options own = *options;
    struct text text = {stream, stacks, &own, NULL};
    uint32_t groups = stacks->group_count;
    if (own.paint == NULL)
        own.paint = &paint_none;
    if (own.groups > 0 && own.groups < groups)
        groups = own.groups;
    text.numbers = calloc(stacks->thread_count + 1u, sizeof(*text.numbers));
    if (text.numbers == NULL)
        return -1;
    print_head(&text);
    int result = print_deadlocks(&text);
    for (uint32_t i = 0; i < groups && result == 0; i++) {
        result = print_members(&text, &stacks->groups[i]);
        if (result == 0)
            print_stack(&text, member_of(stacks, &stacks->groups[i], 0));
    }
    if (result == 0)
        print_rest(&text, groups);
    free(text.numbers);
    return result;
}
