/* SPDX-License-Identifier: MIT */
/* ending.c -- see ending.h. Its messages may be written in a signal handler: no
 * stdio, no allocation, and little stack. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loss.h"
#include "base/note.h"
#include "base/options.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/text.h"
#include "brief.h"
#include "claim.h"
#include "crowd.h"
#include "doze.h"
#include "freeze.h"
#include "left.h"
#include "mute_signals.h"
#include "output.h"
#include "sampler.h"
#include "setup.h"
#include "ending.h"

/* Time in ns after SPROF_EXIT_MS at which the thread that ends the process
 * gives up. STOP_NS is for the sampler's last records, which a busy machine
 * delays and a disk may not take. MARGIN_NS is for a writer that the kernel
 * does not end. */
#define STOP_NS 1000000000u
#define MARGIN_NS 2000000000u

/* CPU time, in ns, from which on a process without samples is reported: the
 * sampler had no CPU. */
#define MUCH_CPU_NS 20000000u

/* Number of questions that deserves a line if no thread answered any of them.
 */
#define MANY_ASKED 100u

/* "0.2 %": PART in percent of WHOLE. */
static void
add_percent(struct text *text, uint64_t part, uint64_t whole)
{
    text_add_tenths(text, part * 100, whole != 0 ? whole : 1);
    text_add(text, " %");
}

/* "12 lost (exited)", "12 lost (9 exited, 3 silent)" or "0 lost": if one cause
 * has all, its number is not repeated. */
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

/* If the whole directory of a spool is gone, the user does not miss the spool:
 * the command that gathers spools has ended before this process. */
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

/* A full disk, the spool's cap, or the program's limit at that moment. The
 * sampler has no stderr of its own to say so. */
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

/* Say what RESULT lacks, a line for each: the spool ended before the process,
 * or the sampler could not see something. */
static void
say_flaws(const struct config_files *files, const struct sampler_result *result)
{
    if (result->error != 0)
        say_early_end(files->spool, result->error);
    if (result->cut != 0)
        say_cut(files->spool, result->cut);
    if (result->recorder_error != 0)
        note(NOTE_ERROR, files->past,
             ": cannot be made: ", note_errno(result->recorder_error),
             "; the past was kept in ", files->spool,
             ", as much as it can hold", NULL);
    if (result->is_blind)
        note(NOTE_INFO,
             "the kernel does not show where threads wait "
             "(/proc/self/task/TID/syscall): their waits have no stacks",
             NULL);
    if (result->is_displaced)
        note(NOTE_INFO,
             "the program replaced our signal handler by a raw system call; "
             "another signal was used from then on",
             NULL);
    if (result->is_traced)
        note(NOTE_INFO,
             "a process that is no known debugger traced the program, which "
             "our signals would have stopped: threads that ran meanwhile have "
             "no samples (with SPROF_TRIGGER=timer they have)",
             NULL);
}

/* Say that RESULT is in PATH and that writing it took WRITING ns. Printed on a
 * terminal or at SPROF_LOG=info. */
static void
say_written(const char *path, const struct sampler_result *result,
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
    text_add_grouped(&text, result->ran);
    text_add(&text, result->ran == 1 ? " sample of " : " samples of ");
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

/* Say that the samples are in SPOOL, if no other file was asked for. A command
 * that gathers the spools of many processes prints its own line. Printed at
 * SPROF_LOG=info. */
static void
say_kept(const char *spool, const struct sampler_result *result)
{
    /* A process that has changed its user may not be allowed to look. */
    if (access(spool, F_OK) != 0 && errno == ENOENT)
        say_removed(spool);
    else if (note_is_on(NOTE_INFO))
        say_written(spool, result, 0);
}

/* Say that there are no samples, and so no file. Printed if many threads were
 * asked and none answered, or at SPROF_LOG=info. In a program that ends at once
 * few were asked, which is not worth a line. */
static void
say_nothing(const struct sampler_result *result)
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

/* The work of the sampler thread at the end. */
static OF_PROFILE struct {
    const struct ending *ending;
    uint64_t until; /* end of SPROF_EXIT_MS, CLOCK_MONOTONIC */
    struct sampler_result result;
    struct output_result output;
    bool is_written;
    int remove_error;          /* errno why an empty spool stays, or 0 */
    struct output_result left; /* of the first failed profile of a child */
    unsigned left_failed;
} job;

/* Requests while it runs, and crashes, need the past of a flight recorder. */
static bool
is_profile_wanted(void)
{
    return job.ending->config->options.keep.number == 0 ||
           job.ending->signo != 0;
}

static bool
is_spool_wanted(void)
{
    return is_profile_wanted() || config_keeps_spool(job.ending->config);
}

/* Whether children have left their spools to this process. */
static bool
has_left(void)
{
    return !job.ending->is_image &&
           job.ending->config->options.keep.number == 0 &&
           !config_keeps_spool(job.ending->config) && left_is_wanted();
}

/* Whether the process ends by exit(3), or as quickly by _exit(2). */
static bool
is_exit(void)
{
    return job.ending->reason == END_EXIT || job.ending->reason == END_QUICK;
}

/* Whether the profile has no sample, and not enough CPU time to be worth a
 * file. */
static bool
has_nothing(void)
{
    return job.result.taken == 0 && job.result.rate.cpu < MUCH_CPU_NS;
}

/* Write the files of this process, or remove its spool. */
static void
write_own(void)
{
    if (job.ending->signo != 0)
        freeze_others(false);
    /* Called when we have no spool. */
    if (job.ending->complaint[0] != '\0')
        return;
    bool is_empty = has_nothing() && !settings_keeps_all(job.ending->settings);
    if (is_empty || !is_spool_wanted()) {
        if (config_remove_spools(job.ending->files, true) != 0)
            job.remove_error = left_to_parent() ? 0 : errno;
        return;
    }
    if (job.ending->is_image &&
        !claim_is_other(job.ending->files->spool, job.ending->files->pid,
                        job.ending->files->start))
        config_rename_for_exec(job.ending->files);
    if (job.ending->reason == END_EXEC &&
        settings_keeps_all(job.ending->settings))
        brief_leave(job.ending->files, sys_getpid(),
                    clock_thread(job.ending->ender));
    if (job.ending->config->options.symbolize.number == OPTION_SYMBOLIZE_OFF) {
        output_name_spool(job.ending->config, job.ending->files, job.until);
        config_take_plain_name(job.ending->files);
        return;
    }
    if (!is_profile_wanted())
        return;
    if (job.ending->signo == 0)
        freeze_others(true);
    job.is_written = output_convert_spool(job.ending->config, job.ending->files,
                                          job.until, &job.output) == 0;
}

/* The job. Runs on the sampler thread, or without one on the thread that ends
 * the process. */
static void
write_files(void *unused)
{
    (void)unused;
    write_own();
    if (has_left())
        job.left_failed = left_write(job.ending->config, job.ending->files,
                                     job.until, &job.left);
}

/* Print COMPLAINT, which holds for MORE processes, too. */
static void
say_for_more(const char *complaint, unsigned more)
{
    char words[64] = "";
    struct text text;
    text_begin(&text, words, sizeof(words));
    if (more > 0) {
        text_add(&text, "; and so for ");
        text_add_number(&text, more);
        text_add(&text, more > 1 ? " more processes" : " more process");
    }
    note(NOTE_ERROR, complaint, words, NULL);
}

static void
say_left(void)
{
    if (job.left_failed > 0 && (!job.left.is_late || crowd_may_complain()))
        say_for_more(job.left.complaint, job.left_failed - 1);
}

/* Whether the parent writes the profile that was not written in time. */
static bool
leave_to_parent(void)
{
    return !job.ending->is_image &&
           job.ending->config->options.keep.number == 0 &&
           !config_keeps_spool(job.ending->config) && left_leave();
}

/* Say why the profile was not written, if the parent will not write it. One
 * process of a tree says that its time was over, for those of its children,
 * too. */
static void
say_not_written(void)
{
    unsigned left = job.output.is_late ? job.left_failed : 0;
    bool is_silent =
        left_to_parent() ||
        (job.output.is_late && (leave_to_parent() || !crowd_may_complain()));
    if (is_silent)
        return;
    say_for_more(job.output.complaint, left);
    job.left_failed -= left;
}

/* Say that the process no longer waits for the end, because of WHAT. */
static void
say_given_up(const char *what)
{
    struct output_result kept;
    const struct config *config = job.ending->config;
    if (!crowd_may_complain())
        return;
    if (config->options.symbolize.number == OPTION_SYMBOLIZE_OFF) {
        note(NOTE_ERROR, what, "; see ", job.ending->files->spool, NULL);
        return;
    }
    (void)output_keep_spool(job.ending->files, &kept, what, "");
    note(NOTE_ERROR, kept.complaint, NULL);
}

/* The profile is written. Say its place if it is not the usual one.
 */
static void
say_profile(const struct config *config, const struct config_files *files)
{
    if (config->is_elsewhere)
        note(NOTE_ERROR,
             "the present directory cannot be written: the profile "
             "is ",
             files->outputs[0], NULL);
    say_written(files->outputs[0], &job.result, job.output.ns);
}

/* Report the result. */
static void
say_end(void)
{
    say_flaws(job.ending->files, &job.result);
    if (job.ending->files->beside != 0 && !has_nothing() &&
        config_keeps_spool(job.ending->config))
        note(NOTE_ERROR, "the spool is ", job.ending->files->spool,
             ": another file has its plain name, and stays", NULL);
    if (job.ending->complaint[0] != '\0')
        note(NOTE_ERROR, job.ending->complaint, "; not profiling", NULL);
    else if (job.result.is_short_of_memory)
        note(NOTE_ERROR, "cannot start the sampler: ", note_errno(ENOMEM),
             "; not profiling", NULL);
    else if (job.result.trigger_error != 0)
        setup_no_trigger(job.ending->config->options.trigger.number,
                         -job.result.trigger_error);
    else if (job.remove_error != 0)
        note(NOTE_ERROR, job.ending->files->spool,
             ": took no sample, and cannot be removed: ",
             note_errno(job.remove_error), NULL);
    else if (has_nothing())
        say_nothing(&job.result);
    else if (!is_spool_wanted())
        note(NOTE_INFO,
             "SPROF_KEEP: the program ended by itself, so no profile is "
             "written",
             NULL);
    else if (job.ending->config->options.symbolize.number ==
                 OPTION_SYMBOLIZE_OFF ||
             !is_profile_wanted())
        say_kept(job.ending->files->spool, &job.result);
    else if (job.is_written)
        say_profile(job.ending->config, job.ending->files);
    else
        say_not_written();
    say_left();
}

void
ending_briefly(const struct ending *ending)
{
    if (settings_keeps_all(ending->settings))
        brief_write(ending->config, ending->settings, ending->files,
                    ending->reason);
}

/* SPROF_EXIT_MS in ns. */
static uint64_t
time_left(void)
{
    uint64_t now = clock_now();
    return now < job.until ? job.until - now : 0;
}

void
ending_run(const struct ending *ending)
{
    enum end_reason reason = ending->reason;
    job.ending = ending;
    job.until = clock_now() + options_exit_ns(ending->settings->options);
    bool is_over = is_exit();
    freeze_begin(ending->ender, is_over && ending->signo == 0);
    doze_end_holds();
    left_close();
    if (has_left() || doze_is_late())
        doze_hurry(time_left());
    if (sampler_cancel(reason == END_STOP)) {
        if (reason != END_STOP)
            ending_briefly(ending);
        say_nothing(&job.result);
        return;
    }
    if (is_over || ending->signo != 0)
        freeze_running();
    if (is_over)
        mute_signals_begin();
    if (sampler_stop(reason, time_left() + STOP_NS, &job.result) != 0)
        say_given_up("the sampler thread did not stop");
    else if (sampler_run(write_files, NULL, time_left() + MARGIN_NS))
        say_end();
    else
        say_given_up("the profile was not written in time");
    crowd_leave(CROWD_WAITING);
    if (reason == END_EXIT)
        mute_signals_end();
    /* A process that a signal ends has nothing left to do. */
    if (ending->signo == 0)
        freeze_end(is_over);
}
