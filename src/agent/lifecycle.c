/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c -- start, fork, exec, end; see lifecycle.h. The constructor and
 * the destructor of the library are here. The state is one word that moves
 * forward only: OFF, RUNNING, ENDING, ENDED; a forked child begins anew.
 *
 * The hard thing is that the end may come from any thread, from several at once
 * and from processes that merely share our memory: the pid is compared first.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/handler.h"
#include "config.h"
#include "journal.h"
#include "lifecycle.h"
#include "mask.h"
#include "output.h"
#include "real.h"
#include "sampler.h"
#include "spawn.h"
#include "thread_life.h"
#include "trigger.h"

/* Who comes while another thread writes the profile waits so long for it. */
#define END_WAIT_NS 60000000000u

/* As many questions as deserve a line if nobody answered one. */
#define MANY_ASKED 100u

enum phase { PHASE_OFF, PHASE_RUNNING, PHASE_ENDING, PHASE_ENDED };

static _Atomic uint32_t phase;
static pid_t process;
static struct config config;
static struct config_files files;

static bool
is_own_process(void)
{
    return sys_getpid() == process;
}

bool
lifecycle_is_running(void)
{
    return atomic_load(&phase) == PHASE_RUNNING && is_own_process();
}

bool
lifecycle_is_on(void)
{
    return atomic_load_explicit(&phase, memory_order_relaxed) != PHASE_OFF;
}

static void
describe_process(struct record_process *record, uint64_t period)
{
    static const enum trigger triggers[] = {
        [OPTION_TRIGGER_AUTO] = TRIGGER_NONE,
        [OPTION_TRIGGER_PERF] = TRIGGER_PERF,
        [OPTION_TRIGGER_TIMER] = TRIGGER_TIMER,
        [OPTION_TRIGGER_ASK] = TRIGGER_ASK};
    *record =
        (struct record_process){.period = period,
                                .pid = (uint32_t)process,
                                .ppid = (uint32_t)getppid(),
                                .mode = (uint32_t)config.options.mode.number,
                                .trigger =
                                    triggers[config.options.trigger.number]};
}

/* Name the files and make the spool: under the plain names, or with the pid in
 * them if a living process has those. */
static int
open_journal(uint64_t now, uint64_t period)
{
    char error[512];
    for (int shared = 0; shared <= 1; shared++) {
        if (config_name_files(&config, process, shared, &files, error,
                              sizeof(error)) != 0) {
            note(NOTE_ERROR, error, "; not profiling", NULL);
            return -1;
        }
        struct journal_options journal = {.path = files.spool,
                                          .max_size =
                                              config.options.max_size.number,
                                          .start = now,
                                          .exe = config.exe,
                                          .command = config.command};
        describe_process(&journal.process, period);
        if (journal_begin(&journal) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    note(NOTE_ERROR, "SPROF_OUTPUT: cannot create ", files.spool, ": ",
         note_errno(errno), "; not profiling", NULL);
    return -1;
}

static void
describe_sampler(struct sampler_options *sampler, uint64_t now, uint64_t period,
                 bool is_child)
{
    const struct options *o = &config.options;
    *sampler = (struct sampler_options){
        .signo = (int)o->signal.number,
        .pid = process,
        .max_depth = (uint32_t)o->max_depth.number,
        .trigger = (enum option_trigger)o->trigger.number,
        .period = period,
        .delay = o->delay.number,
        .duration = o->duration.number,
        .start = now,
        .budget = o->budget.number,
        .cpu_only = o->mode.number == OPTION_MODE_CPU,
        .registered_only = o->threads.number == OPTION_THREADS_REGISTERED,
        .is_child = is_child};
}

/* The trigger that was asked for does not work here. */
static void
say_no_trigger(int error)
{
    static const char *const words[] = {"auto", "perf", "timer", "ask"};
    const char *why =
        error == EOPNOTSUPP ? "it needs Linux 6.1" : note_errno(error);
    note(NOTE_ERROR, "SPROF_TRIGGER=", words[config.options.trigger.number],
         ": does not work here (", why,
         "); expected auto or another trigger; not profiling", NULL);
}

/* Begin to sample this process, the first time or after a fork. */
static void
start(bool is_child)
{
    struct sampler_options sampler;
    uint64_t now = clock_now();
    uint64_t period = NS_PER_SECOND / config.options.frequency.number;
    process = sys_getpid();
    if (open_journal(now, period) != 0)
        return;
    describe_sampler(&sampler, now, period, is_child);
    atomic_store(&phase, PHASE_RUNNING);
    if (sampler_start(&sampler) != 0) {
        atomic_store(&phase, PHASE_OFF);
        note(NOTE_ERROR, "cannot start the sampler thread: ", note_errno(errno),
             "; not profiling", NULL);
        unlink(files.spool);
        return;
    }
    int error = sampler_release();
    handler_know_thread(true);
    mask_begin();
    if (error != 0) {
        /* The handlers stay, so the phase is not OFF again. */
        atomic_store(&phase, PHASE_ENDED);
        say_no_trigger(-error);
        unlink(files.spool);
    }
}

/* "0.2 %": how much PART is of WHOLE. */
static void
add_percent(struct text *text, uint64_t part, uint64_t whole)
{
    text_add_tenths(text, part * 100, whole != 0 ? whole : 1);
    text_add(text, " %");
}

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

/* The closing line, on a terminal or at SPROF_LOG=info. */
static void
say_closing_line(const char *path, const struct sampler_result *result,
                 const struct output_result *output)
{
    char line[1024];
    struct text text;
    if (!note_is_on(NOTE_INFO) && !note_is_terminal())
        return;
    text_begin(&text, line, sizeof(line));
    text_add(&text, "wrote ");
    text_add(&text, path);
    text_add(&text, ": ");
    text_add_grouped(&text, result->taken);
    text_add(&text, " samples of ");
    text_add_grouped(&text, result->threads);
    text_add(&text, result->threads == 1 ? " thread in " : " threads in ");
    text_add_tenths(&text, result->elapsed, NS_PER_SECOND);
    text_add(&text, " s, ");
    add_losses(&text, result);
    text_add(&text, ", sampler ");
    add_percent(&text, result->cpu, result->elapsed);
    text_add(&text, " CPU");
    if (note_is_on(NOTE_INFO)) {
        text_add(&text, ", writing took ");
        text_add_number(&text, output->ns / 1000000);
        text_add(&text, " ms");
    }
    note(NOTE_ERROR, line, NULL);
}

/* Nobody answered, though many were asked: that is worth a line. */
static void
say_nothing_taken(const struct sampler_result *result)
{
    char line[256];
    struct text text;
    unlink(files.spool);
    if (result->asked < MANY_ASKED && !note_is_on(NOTE_INFO))
        return;
    text_begin(&text, line, sizeof(line));
    text_add(&text, "took no sample, so no profile is written: ");
    text_add_grouped(&text, result->asked);
    text_add(&text, " asked, ");
    add_losses(&text, result);
    note(NOTE_ERROR, line, NULL);
}

/* The spool ended before the process: a full disk, or its cap. The sampler has
 * no stderr of its own to say so. */
static void
say_early_end(int error)
{
    const char *why =
        error == EFBIG ? "reached SPROF_MAX_SIZE" : note_errno(error);
    note(NOTE_ERROR, files.spool, ": ", why,
         "; sampling ended early, what was sampled is kept", NULL);
}

/* Stop sampling and write the profile; for an exec under the name of an earlier
 * image. */
static void
end(enum end_reason reason)
{
    struct sampler_result result;
    struct output_result output = {0};
    if (sampler_stop(reason, &result) != 0) {
        note(NOTE_ERROR, "the sampler thread did not stop in time; see ",
             files.spool, NULL);
        return;
    }
    if (result.error != 0)
        say_early_end(result.error);
    if (result.is_blind)
        note(NOTE_INFO,
             "the kernel does not tell where threads wait "
             "(/proc/self/task/TID/syscall): their waits have no stacks",
             NULL);
    if (result.taken == 0) {
        say_nothing_taken(&result);
        return;
    }
    if (reason == END_EXEC)
        config_rename_for_exec(&files);
    if (config.options.symbolize.number == OPTION_SYMBOLIZE_OFF)
        say_closing_line(files.spool, &result, &output);
    else if (output_write(&config, &files, &output) == 0)
        say_closing_line(files.outputs[0], &result, &output);
}

void
lifecycle_end(enum end_reason reason)
{
    uint32_t running = PHASE_RUNNING;
    if (!is_own_process())
        return;
    if (atomic_compare_exchange_strong(&phase, &running, PHASE_ENDING)) {
        end(reason);
        atomic_store(&phase, PHASE_ENDED);
        sys_futex_wake(&phase, 1 << 30);
        return;
    }
    uint64_t until = clock_now() + END_WAIT_NS;
    while (atomic_load(&phase) == PHASE_ENDING && clock_now() < until)
        sys_futex_wait(&phase, PHASE_ENDING, until);
}

void
lifecycle_after_failed_exec(void)
{
    int saved = errno;
    uint32_t ended = PHASE_ENDED;
    if (is_own_process() &&
        atomic_compare_exchange_strong(&phase, &ended, PHASE_OFF))
        start(false);
    errno = saved;
}

static void
before_fork(void)
{
    if (!lifecycle_is_running())
        return;
    trigger_before_fork();
    sampler_pause();
}

static void
after_fork_in_parent(void)
{
    if (!lifecycle_is_running())
        return;
    sampler_resume();
    trigger_after_fork();
}

static void
after_fork_in_child(void)
{
    if (atomic_load(&phase) == PHASE_OFF)
        return;
    bool was_running = atomic_load(&phase) == PHASE_RUNNING;
    atomic_store(&phase, PHASE_OFF);
    sampler_forget();
    if (was_running && config.options.fork.number == OPTION_FORK_FOLLOW)
        start(true);
}

__attribute__((constructor)) static void
begin(void)
{
    char error[512];
    int saved = errno;
    /* A set-user-ID program is not ours to look into (ld.so(8)). */
    if (getauxval(AT_SECURE) != 0)
        return;
    note_begin();
    int result = config_read(&config, environ, error, sizeof(error));
    note_set_level((enum note_level)config.options.log.number);
    if (result < 0)
        note(NOTE_ERROR, error, "; not profiling", NULL);
    if (result == 0) {
        real_begin();
        clock_use(real_libc_clock());
        thread_life_begin();
        output_begin();
        spawn_begin(environ);
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        start(false);
    }
    errno = saved;
}

__attribute__((destructor)) static void
finish(void)
{
    int saved = errno;
    lifecycle_end(END_EXIT);
    errno = saved;
}
