/* SPDX-License-Identifier: MIT */
/* ending.c -- see ending.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/note.h"
#include "base/options.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/ask.h"
#include "process/status.h"
#include "sampling/tracee.h"
#include "brief.h"
#include "claim.h"
#include "doze.h"
#include "exit_line.h"
#include "left.h"
#include "mute_signals.h"
#include "output.h"
#include "run_on_sampler.h"
#include "sampler.h"
#include "ending.h"

/* Time for writing in ns when a signal ends the process: it has little time
 * (`docker stop` gives 10 s). */
#define WRITE_KILLED_NS 8000000000u

/* A thread that waits for the writer gives up this long after the limit of the
 * writing, in ns. */
#define MARGIN_NS 5000000000u

/* CPU time, in ns, from which it is reported though it has no sample: the
 * sampler had no CPU. */
#define MUCH_CPU_NS 20000000u

/* The work of the sampler thread at the end. */
static OF_PROFILE struct {
    const struct ending *ending;
    struct sampler_result result;
    struct output_result output;
    bool is_written;
    int remove_error;          /* errno for which an empty spool stays, or 0 */
    struct output_result left; /* of the first child's profile that failed */
    unsigned left_failed;
} job;

/* The past of a flight recorder is wanted by a request while it runs, and when
 * the process crashes. */
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

/* Whether there is no sample, and no CPU time that deserves a profile by
 * itself. */
static bool
has_nothing(void)
{
    return job.result.taken == 0 && job.result.rate.cpu < MUCH_CPU_NS;
}

/*
 * Keep the threads of this process in our handler until ask_thaw, all but
 * ENDER and the calling thread. Without libsprof they would be gone by now.
 * ONLY_RUNNING: leave waiting threads alone, because the signal might end their
 * wait (exit(3) goes on afterwards, and may join them). No thread waits for an
 * answer.
 */
static void
freeze_others(pid_t ender, bool only_running)
{
    _Alignas(8) char buffer[512];
    pid_t own = sys_gettid();
    /* A tracer would see the signal. */
    if (tracee_is_foreign())
        return;
    long got, fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return;
    while ((got = sys_getdents((int)fd, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            struct dirent64 *entry = (struct dirent64 *)(void *)(buffer + at);
            const char *name = entry->d_name;
            pid_t tid = (pid_t)digits_take(&name);
            if (tid != 0 && tid != ender && tid != own &&
                (!only_running || status_state(tid) == 'R'))
                ask_freeze(tid);
            at += entry->d_reclen;
        }
    sys_close((int)fd);
}

/* Write the files of this process, or remove its spool. */
static void
write_own(uint64_t limit)
{
    if (job.ending->signo != 0)
        freeze_others(job.ending->ender, false);
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
        config_take_plain_name(job.ending->files);
        return;
    }
    if (!is_profile_wanted())
        return;
    if (job.ending->signo == 0)
        freeze_others(job.ending->ender, true);
    job.is_written = output_convert_spool(job.ending->config, job.ending->files,
                                          limit, &job.output) == 0;
}

/* The job. Runs on the sampler thread, or without one on the thread that ends
 * the process. */
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

/* Report the result. */
static void
say_end(void)
{
    exit_line_flaws(job.ending->files, &job.result);
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
        exit_line_no_trigger(job.ending->config->options.trigger.number,
                             -job.result.trigger_error);
    else if (job.remove_error != 0)
        note(NOTE_ERROR, job.ending->files->spool,
             ": took no sample, and cannot be removed: ",
             note_errno(job.remove_error), NULL);
    else if (has_nothing())
        exit_line_nothing(&job.result);
    else if (!is_spool_wanted())
        exit_line_unwanted();
    else if (job.ending->config->options.symbolize.number ==
                 OPTION_SYMBOLIZE_OFF ||
             !is_profile_wanted())
        exit_line_kept(job.ending->files->spool, &job.result);
    else if (job.is_written)
        exit_line_wrote(job.ending->files->outputs[0], &job.result,
                        job.output.ns);
    else if (!left_to_parent())
        note(NOTE_ERROR, job.output.complaint, NULL);
    say_left();
}

void
ending_briefly(const struct ending *ending)
{
    if (settings_keeps_all(ending->settings))
        brief_write(ending->config, ending->settings, ending->files,
                    ending->reason);
}

void
ending_run(const struct ending *ending)
{
    enum end_reason reason = ending->reason;
    bool is_over = reason == END_EXIT || reason == END_QUICK;
    job.ending = ending;
    if (has_left() || doze_is_late())
        doze_hurry();
    if (sampler_cancel(reason == END_STOP)) {
        if (reason != END_STOP)
            ending_briefly(ending);
        exit_line_nothing(&job.result);
        return;
    }
    if (is_over)
        mute_signals_begin();
    if (sampler_stop(reason, &job.result) != 0)
        note(NOTE_ERROR, "the sampler thread did not stop; see ",
             job.ending->files->spool, NULL);
    else if (run_on_sampler(write_files, NULL, ENDING_WRITE_NS + MARGIN_NS))
        say_end();
    else
        note(NOTE_ERROR, "the profile was not written in time; see ",
             job.ending->files->spool, NULL);
    if (reason == END_EXIT)
        mute_signals_end();
    /* A process that a signal ends has no more to do. */
    if (ending->signo == 0)
        ask_thaw();
}
