/* SPDX-License-Identifier: MIT */
/* setup.c -- see setup.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "journal/journal.h"
#include "process/modules.h"
#include "sampling/go_program.h"
#include "sampling/trigger/trigger.h"
#include "exit_line.h"
#include "setup.h"

/* Bytes that a limit must leave to the program when it starts. Our own tables,
 * some 104 MiB, are a quarter of it. */
#define ROOM (400u << 20)

#define PAGE_SIZE 4096u

/* How many names are tried for the files of a process. */
#define ATTEMPTS 10000u

/* It ends the child of a program with threads if that makes one itself: ours
 * would be one, in both. */
static bool has_thread_sanitizer;

void
setup_process(const struct settings *settings, struct record_process *record)
{
    static const enum trigger triggers[] = {
        [OPTION_TRIGGER_AUTO] = TRIGGER_NONE,
        [OPTION_TRIGGER_PERF] = TRIGGER_PERF,
        [OPTION_TRIGGER_TIMER] = TRIGGER_TIMER,
        [OPTION_TRIGGER_ASK] = TRIGGER_ASK};
    *record = (struct record_process){
        .period = settings->period,
        .pid = (uint32_t)settings->pid,
        .ppid = (uint32_t)getppid(),
        .mode = (uint32_t)settings->options->mode.number,
        .trigger = triggers[settings->options->trigger.number]};
}

/* Make the spool that FILES names. Returns 0, or -1 with errno. */
static int
begin_journal(const struct config *config, const struct settings *settings,
              struct config_files *files)
{
    struct journal_options journal = {
        .spool = files->spool,
        .past = files->past,
        .next = files->next,
        .name_beside = config_name_beside,
        .files = files,
        .is_kept_open = settings->has_own_files,
        .max_size = config->options.max_size.number,
        .start = settings->start,
        .keep = config->options.keep.number,
        .purpose = config_keeps_spool(config) ? SPOOL_WANTED : SPOOL_TEMPORARY,
        .exe = config->exe,
        .command = config->command};
    setup_process(settings, &journal.process);
    return journal_begin(&journal);
}

int
setup_names(const struct config *config, pid_t pid, struct config_files *files)
{
    char error[512];
    if (config_check_names(config, pid, files, error, sizeof(error)) == 0)
        return 0;
    if (error[0] != '\0')
        note(NOTE_ERROR, error, "; not profiling", NULL);
    return -1;
}

int
setup_trigger(const struct config *config)
{
    uint64_t wanted = config->options.trigger.number;
    int result = trigger_try((enum option_trigger)wanted);
    if (result == 0)
        return 0;
    exit_line_no_trigger(wanted, -result);
    return -1;
}

int
setup_journal(const struct config *config, const struct settings *settings,
              struct config_files *files, char *error, size_t size)
{
    struct text text;
    files->pid = settings->pid;
    files->start = settings->start;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        int named =
            config_name_files(config, files->pid, attempt, files, error, size);
        if (named < 0)
            return -1;
        errno = EEXIST;
        if (named == 0 && begin_journal(config, settings, files) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int problem = errno;
    text_begin(&text, error, size);
    /* The recorder may have ended since the names were checked. */
    if (problem == ENOENT && config_recording_is_over(files))
        return -1;
    text_add(&text, "SPROF_OUTPUT: cannot create ");
    text_add(&text, files->spool);
    text_add(&text, ": ");
    text_add(&text, note_errno(problem));
    return -1;
}

/* What threads are asked by. */
static int
choose_signal(const struct options *options)
{
    int signo = (int)options->signal.number;
    return signo == SIGPROF && go_program_is_this() ? GO_PROGRAM_FREE_SIGNAL
                                                    : signo;
}

/* With a spool of every process, all that it used is in one of them. */
static void
choose_origin(struct settings *settings)
{
    const struct options *o = settings->options;
    bool is_from_start = o->start.number != 0 && o->delay.number == 0 &&
                         !settings_registered_only(settings);
    settings->since = is_from_start || settings->is_child ? settings->start : 0;
    settings->clock = clock_own();
    settings->base = settings->is_child || settings_keeps_all(settings)
                         ? 0
                         : settings->clock;
}

void
setup_settings(const struct config *config, pid_t pid, bool is_child,
               struct settings *settings)
{
    bool goes_on = settings->since != 0 && !is_child;
    settings->options = &config->options;
    settings->pid = pid;
    settings->signo = choose_signal(&config->options);
    settings->period = NS_PER_SECOND / config->options.frequency.number;
    settings->start = goes_on ? settings->since : clock_now();
    settings->is_child = is_child;
    if (!goes_on)
        choose_origin(settings);
}

/* How much of the address space, or of private memory that can be written, is
 * in use, in bytes; 0 if that is not known. proc_pid_statm(5). */
static uint64_t
memory_in_use(int limit)
{
    char line[128];
    if (sys_read_file("/proc/self/statm", line, sizeof(line)) <= 0)
        return 0;
    const char *at = line;
    unsigned column = limit == RLIMIT_AS ? 0 : 5;
    for (unsigned i = 0; i < column && at != NULL; i++)
        at = (at = strchr(at, ' ')) != NULL ? at + 1 : NULL;
    return at != NULL ? digits_take(&at) * PAGE_SIZE : 0;
}

/* Whether the program's limits leave room for our tables, which it would miss.
 */
static bool
has_room(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    static const char *const names[] = {"RLIMIT_AS", "RLIMIT_DATA"};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) != 0 ||
            limit.rlim_cur == RLIM_INFINITY ||
            limit.rlim_cur >= memory_in_use(limits[i]) + ROOM)
            continue;
        note(NOTE_ERROR, names[i],
             " leaves less than 400 MiB: the program needs it for itself; "
             "not profiling",
             NULL);
        return false;
    }
    return true;
}

/* Without /proc neither threads nor their code are found. Nor is it known that
 * a main thread that has left was the last one. Only its absence costs a call.
 */
static bool
has_proc(const struct config *config)
{
    if (config->exe[0] != '\0' ||
        faccessat(AT_FDCWD, "/proc/self/maps", R_OK, 0) == 0)
        return true;
    note(NOTE_ERROR, "/proc/self/maps: ", note_errno(errno),
         "; expected /proc to be mounted (proc(5)); not profiling", NULL);
    return false;
}

struct config_files *
setup_reserve(const struct config *config)
{
    has_thread_sanitizer = dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
    return has_proc(config) && has_room()
               ? sys_reserve(sizeof(struct config_files))
               : NULL;
}

/* qemu-user 7.2 ends a child of fork that makes a thread, if its parent has had
 * two. */
bool
setup_follows_fork(const struct config *config)
{
    return config->options.fork.number == OPTION_FORK_FOLLOW &&
           !modules_state.is_emulated && !has_thread_sanitizer;
}

enum note_level
setup_failure_level(int error)
{
    bool is_choice = error == EINVAL ||
                     arch_syscall(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0) ==
                         SCHED_DEADLINE;
    return is_choice ? NOTE_INFO : NOTE_ERROR;
}
