/* SPDX-License-Identifier: MIT */
/*
 * exit_line.c -- see exit_line.h. May run in a signal handler: no stdio, no
 * allocation, and little stack.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loss.h"
#include "base/note.h"
#include "base/text.h"
#include "exit_line.h"

/* Number of questions that deserves a line if no thread answered any of them.
 */
#define MANY_ASKED 100u

/* "0.2 %": how much PART is of WHOLE. */
static void
add_percent(struct text *text, uint64_t part, uint64_t whole)
{
    text_add_tenths(text, part * 100, whole != 0 ? whole : 1);
    text_add(text, " %");
}

/* "12 lost (exited)", "12 lost (9 exited, 3 silent)" or "0 lost": a number that
 * is all of them is not told twice. */
static void
add_losses(struct text *text, const struct sampler_result *result)
{
    text_add_grouped(text, result->lost);
    text_add(text, " lost");
    const char *before = " (";
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        if (result->lost_by[i] != 0) {
            text_add(text, before);
            if (result->lost_by[i] != result->lost) {
                text_add_grouped(text, result->lost_by[i]);
                text_add(text, " ");
            }
            text_add(text, loss_word(i));
            before = ", ";
        }
    if (before[0] == ',')
        text_add(text, ")");
}

/* ", 987 a CPU second of 1,000 asked": samples of running threads alone. */
static void
add_rate(struct text *text, const struct sampler_result *result)
{
    if (result->rate.cpu < NS_PER_SECOND / result->wanted)
        return;
    text_add(text, ", ");
    rate_tell(text, &result->rate, result->wanted, result->ran, result->lost,
              0);
}

void
exit_line_no_trigger(uint64_t wanted, int error)
{
    static const char *const words[] = {"auto", "perf", "timer", "ask"};
    const char *why = error == EOPNOTSUPP ? "it needs Linux 6.1"
                      : error == EDEADLK  ? "it needs Linux 6.15, or 6.12.24, "
                                            "6.13.12 or 6.14.3"
                      : error == EBUSY ? "Go's runtime has SIGTRAP for itself"
                                       : note_errno(error);
    note(NOTE_ERROR, "SPROF_TRIGGER=", words[wanted], ": does not work here (",
         why, "); expected auto or another trigger; not profiling", NULL);
}

/* If the whole directory of a spool is gone, the user does not miss the spool.
 * The command that gathers the spools of many processes has ended before this
 * one. */
static void
say_removed(const char *spool)
{
    char directory[PATH_MAX];
    struct text text;
    text_begin(&text, directory, sizeof(directory));
    text_add_bytes(&text, spool, (size_t)(strrchr(spool, '/') - spool));
    enum note_level level =
        access(directory, F_OK) == 0 ? NOTE_ERROR : NOTE_INFO;
    note(level,
         "the spool was removed or moved while it was written, and could not "
         "be put back: no profile is written",
         NULL);
}

/* A full disk, the spool's cap, or the program's limit as it was at that
 * moment. The sampler has no stderr of its own to say so. */
static void
say_early_end(const char *spool, int error)
{
    if (error == ESTALE) {
        say_removed(spool);
        return;
    }
    const char *why = error == EOVERFLOW ? "reached SPROF_MAX_SIZE"
                      : error == EFBIG   ? "reached RLIMIT_FSIZE"
                                         : note_errno(error);
    note(NOTE_ERROR, spool, ": ", why,
         "; sampling ended early, what was sampled is kept", NULL);
}

static void
say_cut(const char *spool, uint64_t samples)
{
    char line[PATH_MAX + 128];
    struct text text;
    text_begin(&text, line, sizeof(line));
    text_add(&text, spool);
    text_add(&text, ": it was shortened while it was written: ");
    text_add_grouped(&text, samples);
    text_add(&text, " samples of before are lost");
    note(NOTE_ERROR, line, NULL);
}

void
exit_line_flaws(const struct config_files *files,
                const struct sampler_result *result)
{
    if (result->error != 0)
        say_early_end(files->spool, result->error);
    if (result->cut != 0)
        say_cut(files->spool, result->cut);
    if (result->recorder_error != 0)
        note(NOTE_ERROR, files->past,
             ": cannot be made: ", note_errno(result->recorder_error),
             "; the past was kept in ", files->spool, ", as far as it has room",
             NULL);
    if (result->is_blind)
        note(NOTE_INFO,
             "the kernel does not tell where threads wait "
             "(/proc/self/task/TID/syscall): their waits have no stacks",
             NULL);
    if (result->is_displaced)
        note(NOTE_INFO,
             "the program replaced our signal handler by a raw system call; "
             "another signal was used from then on",
             NULL);
    if (result->is_traced)
        note(NOTE_INFO,
             "a process that is no debugger of those that are known traced the "
             "program, and would have been stopped by our signals: threads "
             "that ran meanwhile have no samples (SPROF_TRIGGER=timer takes "
             "them all the same)",
             NULL);
}

void
exit_line_wrote(const char *path, const struct sampler_result *result,
                uint64_t writing)
{
    char line[1024];
    struct text text;
    if (!note_is_on(NOTE_INFO) && !note_is_terminal())
        return;
    text_begin(&text, line, sizeof(line));
    text_add(&text, "wrote ");
    text_add(&text, path);
    text_add(&text, ": ");
    if (result->keep != 0 && result->keep < result->elapsed) {
        text_add(&text, "the last ");
        text_add_tenths(&text, result->keep, NS_PER_SECOND);
        text_add(&text, " s of ");
    }
    text_add_grouped(&text, result->taken);
    text_add(&text, result->taken == 1 ? " sample of " : " samples of ");
    text_add_grouped(&text, result->threads);
    text_add(&text, result->threads == 1 ? " thread in " : " threads in ");
    text_add_tenths(&text, result->elapsed, NS_PER_SECOND);
    text_add(&text, " s, ");
    add_losses(&text, result);
    text_add(&text, ", sampler ");
    add_percent(&text, result->cpu, result->elapsed);
    text_add(&text, " CPU");
    add_rate(&text, result);
    if (note_is_on(NOTE_INFO)) {
        text_add(&text, ", writing took ");
        text_add_number(&text, writing / 1000000);
        text_add(&text, " ms");
    }
    note(NOTE_ERROR, line, NULL);
}

void
exit_line_kept(const char *spool, const struct sampler_result *result)
{
    /* A process that has changed its user may have no way to look. */
    if (access(spool, F_OK) != 0 && errno == ENOENT)
        say_removed(spool);
    else if (note_is_on(NOTE_INFO))
        exit_line_wrote(spool, result, 0);
}

void
exit_line_unwanted(void)
{
    note(NOTE_INFO,
         "SPROF_KEEP: the program ended by itself, so no profile is written",
         NULL);
}

/* A program that ends at once was asked a few times at most, which is not worth
 * a line. */
void
exit_line_nothing(const struct sampler_result *result)
{
    char line[256];
    struct text text;
    if (result->asked < MANY_ASKED && !note_is_on(NOTE_INFO))
        return;
    text_begin(&text, line, sizeof(line));
    text_add(&text, "took no sample, so no profile is written: ");
    text_add_grouped(&text, result->asked);
    text_add(&text, " asked, ");
    add_losses(&text, result);
    note(NOTE_ERROR, line, NULL);
}
