/* SPDX-License-Identifier: MIT */
/* ending.c -- see ending.h. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/options.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/suspend.h"
#include "brief.h"
#include "claim.h"
#include "closing.h"
#include "ending.h"
#include "errand.h"
#include "freeze.h"
#include "hush.h"
#include "left.h"
#include "output.h"
#include "sampler.h"

/* A process that was killed has little time (`docker stop` gives 10 s). */
#define WRITE_KILLED_NS 8000000000u

/* Who waits for the thread that writes gives up so long after that. */
#define MARGIN_NS 5000000000u

/* What the sampler thread is to write at the end. */
static struct {
    const struct ending *ending;
    struct sampler_result result;
    struct output_result output;
    bool is_written;
    struct output_result left; /* of the first child's profile that failed */
    unsigned left_failed;
} job;

/* What a flight recorder has is wanted by somebody who asks while it flies, and
 * when it crashes. */
static bool
is_wanted(void)
{
    return job.ending->config->options.keep.number == 0 ||
           job.ending->signo != 0;
}

static bool
is_spool_wanted(void)
{
    return is_wanted() || config_keeps_spool(job.ending->config);
}

/* Whether children have left their spools to this process. */
static bool
has_left(void)
{
    return !job.ending->is_image &&
           job.ending->config->options.keep.number == 0 &&
           !config_keeps_spool(job.ending->config) && left_is_wanted();
}

/* What this process has. */
static void
write_own(uint64_t limit)
{
    if (job.ending->signo != 0)
        freeze_others(job.ending->ender, false);
    /* There is no spool of ours. */
    if (job.ending->complaint[0] != '\0')
        return;
    bool is_empty =
        job.result.taken == 0 && !brief_is_wanted(job.ending->config);
    if (is_empty || !is_spool_wanted()) {
        config_remove_spools(job.ending->files, true);
        return;
    }
    if (job.ending->is_image &&
        !claim_is_other(job.ending->files->spool, job.ending->files->pid,
                        job.ending->files->start))
        config_rename_for_exec(job.ending->files);
    if (job.ending->reason == END_EXEC && brief_is_wanted(job.ending->config))
        brief_leave(job.ending->files, sys_getpid(),
                    clock_thread(job.ending->ender));
    if (job.ending->config->options.symbolize.number == OPTION_SYMBOLIZE_OFF) {
        config_take_plain_name(job.ending->files);
        return;
    }
    if (!is_wanted())
        return;
    if (job.ending->signo == 0)
        freeze_others(job.ending->ender, true);
    job.is_written = output_write(job.ending->config, job.ending->files, limit,
                                  &job.output) == 0;
}

/* The job. Runs on the sampler thread, or where there is none on the one that
 * ends the process. */
static void
write_files(void *unused)
{
    (void)unused;
    uint64_t limit = job.ending->signo != 0 ? WRITE_KILLED_NS : ENDING_WRITE_NS;
    uint64_t until = clock_now() + limit;
    write_own(limit);
    uint64_t now = clock_now();
    if (has_left())
        job.left_failed = left_write(job.ending->config, job.ending->files,
                                     now < until ? until - now : 0, &job.left);
}

static void
say_left(void)
{
    char more[64] = "";
    struct text text;
    if (job.left_failed == 0)
        return;
    text_begin(&text, more, sizeof(more));
    if (job.left_failed > 1) {
        text_add(&text, "; and so for ");
        text_add_number(&text, job.left_failed - 1);
        text_add(&text, " more processes");
    }
    note(NOTE_ERROR, job.left.complaint, more, NULL);
}

/* Say what came of it. */
static void
say_end(void)
{
    closing_flaws(job.ending->files, &job.result);
    if (job.ending->files->is_beside && job.result.taken != 0 &&
        config_keeps_spool(job.ending->config))
        note(NOTE_ERROR, "the spool is ", job.ending->files->spool,
             ": its plain name is that of a profile, which stays", NULL);
    if (job.ending->complaint[0] != '\0')
        note(NOTE_ERROR, job.ending->complaint, "; not profiling", NULL);
    else if (job.result.is_short_of_memory)
        note(NOTE_ERROR, "cannot start the sampler: ", note_errno(ENOMEM),
             "; not profiling", NULL);
    else if (job.result.trigger_error != 0)
        closing_no_trigger(job.ending->config->options.trigger.number,
                           -job.result.trigger_error);
    else if (job.result.taken == 0)
        closing_nothing(&job.result);
    else if (!is_spool_wanted())
        closing_unwanted();
    else if (job.ending->config->options.symbolize.number ==
                 OPTION_SYMBOLIZE_OFF ||
             !is_wanted())
        closing_kept(job.ending->files->spool, &job.result);
    else if (job.is_written)
        closing_wrote(job.ending->files->outputs[0], &job.result,
                      job.output.ns);
    else if (!left_to_parent())
        note(NOTE_ERROR, job.output.complaint, NULL);
    say_left();
}

void
ending_briefly(const struct ending *ending)
{
    const struct brief brief = {.reason = ending->reason,
                                .since = ending->since,
                                .base = ending->base};
    if (brief_is_wanted(ending->config))
        brief_write(ending->config, ending->files, &brief);
}

void
ending_run(const struct ending *ending)
{
    enum end_reason reason = ending->reason;
    bool is_over = reason == END_EXIT || reason == END_QUICK;
    memset(&job, 0, sizeof(job));
    job.ending = ending;
    if (has_left())
        sampler_hurry();
    if (sampler_cancel(reason == END_STOP)) {
        if (reason != END_STOP)
            ending_briefly(ending);
        closing_nothing(&job.result);
        return;
    }
    if (is_over)
        hush_begin();
    if (sampler_stop(reason, &job.result) != 0)
        note(NOTE_ERROR, "the sampler thread did not stop; see ",
             job.ending->files->spool, NULL);
    else if (errand_run(write_files, NULL, ENDING_WRITE_NS + MARGIN_NS))
        say_end();
    else
        note(NOTE_ERROR, "the profile was not written in time; see ",
             job.ending->files->spool, NULL);
    if (reason == END_EXIT)
        hush_end();
    /* Who was killed has no more to do. */
    if (ending->signo == 0)
        suspend_thaw();
}
