/* SPDX-License-Identifier: MIT */
/* setup.c -- see setup.h. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/note.h"
#include "target/modules.h"
#include "go_program.h"
#include "journal.h"
#include "setup.h"

/* What we reserve, some 85 MiB, is a small part of this. */
#define ROOM (1u << 30)

/* So many names are tried for the files of a process. */
#define ATTEMPTS 10000u

/* ns between two samples. */
static uint64_t
period_of(const struct config *config)
{
    return NS_PER_SECOND / config->options.frequency.number;
}

static void
set_process(const struct config *config, pid_t pid,
            struct record_process *record)
{
    static const enum trigger triggers[] = {
        [OPTION_TRIGGER_AUTO] = TRIGGER_NONE,
        [OPTION_TRIGGER_PERF] = TRIGGER_PERF,
        [OPTION_TRIGGER_TIMER] = TRIGGER_TIMER,
        [OPTION_TRIGGER_ASK] = TRIGGER_ASK};
    *record =
        (struct record_process){.period = period_of(config),
                                .pid = (uint32_t)pid,
                                .ppid = (uint32_t)getppid(),
                                .mode = (uint32_t)config->options.mode.number,
                                .trigger =
                                    triggers[config->options.trigger.number]};
}

/* Make the spool that FILES names. Returns 0, or -1 with errno. */
static int
begin_journal(const struct config *config, pid_t pid, uint64_t now,
              const struct config_files *files)
{
    struct journal_options journal = {.path = files->spool,
                                      .max_size =
                                          config->options.max_size.number,
                                      .start = now,
                                      .keep = config->options.keep.number,
                                      .past = files->past,
                                      .next = files->next,
                                      .exe = config->exe,
                                      .command = config->command};
    set_process(config, pid, &journal.process);
    return journal_begin(&journal);
}

int
setup_journal(const struct config *config, pid_t pid, uint64_t now,
              struct config_files *files)
{
    char error[512];
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        int named = config_name_files(config, pid, attempt, files, error,
                                      sizeof(error));
        if (named < 0) {
            if (error[0] != '\0')
                note(NOTE_ERROR, error, "; not profiling", NULL);
            return -1;
        }
        errno = EEXIST;
        if (named == 0 && begin_journal(config, pid, now, files) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    note(NOTE_ERROR, "SPROF_OUTPUT: cannot create ", files->spool, ": ",
         note_errno(errno), "; not profiling", NULL);
    return -1;
}

/* What the sampler asks by. */
static int
choose_signal(const struct config *config)
{
    int signo = (int)config->options.signal.number;
    return signo == SIGPROF && go_program_is_this() ? GO_PROGRAM_FREE_SIGNAL
                                                    : signo;
}

void
setup_sampler(const struct config *config, pid_t pid, uint64_t now,
              bool is_child, struct sampler_options *sampler)
{
    const struct options *o = &config->options;
    *sampler = (struct sampler_options){
        .signo = choose_signal(config),
        .control_signal = (int)o->dump_signal.number,
        .pid = pid,
        .max_depth = (uint32_t)o->max_depth.number,
        .trigger = (enum option_trigger)o->trigger.number,
        .period = period_of(config),
        .delay = o->delay.number,
        .duration = o->duration.number,
        .start = now,
        .keep = o->keep.number,
        .budget = o->budget.number,
        .cpu_only = o->mode.number == OPTION_MODE_CPU,
        .registered_only = o->threads.number == OPTION_THREADS_REGISTERED,
        .is_child = is_child,
        .waits = o->start.number == 0};
}

/* Whether the program's limit on its address space leaves room for our tables,
 * which it would miss. */
bool
setup_has_room(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    static const char *const names[] = {"RLIMIT_AS", "RLIMIT_DATA"};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) != 0 ||
            limit.rlim_cur >= ROOM)
            continue;
        note(NOTE_ERROR, names[i],
             " is below 1 GiB: the program needs it for itself; not profiling",
             NULL);
        return false;
    }
    return true;
}

/* qemu-user 7.2 ends a child of fork that makes a thread, if its parent has had
 * two. */
bool
setup_follows_fork(const struct config *config)
{
    return config->options.fork.number == OPTION_FORK_FOLLOW &&
           !modules_are_emulated();
}

enum note_level
setup_failure_level(void)
{
    return arch_syscall(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0) ==
                   SCHED_DEADLINE
               ? NOTE_INFO
               : NOTE_ERROR;
}
