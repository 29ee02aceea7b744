/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c -- start, fork, exec, end; see lifecycle.h. The constructor and
 * the destructor of the library are here. The state is one word that moves
 * forward only: OFF, RUNNING, ENDING, ENDED; a forked child begins anew. What
 * runs at the end may run in a signal handler that interrupted malloc: it
 * neither allocates nor locks, and leaves all work to the sampler thread.
 *
 * The hard thing is that the end may come from any thread, from several at once
 * and from processes that merely share our memory: the pid is compared first.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/words.h"
#include "capture/handler.h"
#include "capture/signals.h"
#include "capture/suspend.h"
#include "closing.h"
#include "config.h"
#include "errand.h"
#include "fatal.h"
#include "freeze.h"
#include "go_program.h"
#include "hush.h"
#include "lifecycle.h"
#include "mask.h"
#include "misspelt.h"
#include "output.h"
#include "real.h"
#include "sampler.h"
#include "service.h"
#include "setup.h"
#include "single_thread.h"
#include "spawn.h"
#include "thread_life.h"
#include "trigger.h"

/* Writing may take so long: a symbolizer that hangs must not keep a process for
 * ever, and one that was killed has little time (`docker stop` gives 10 s). */
#define WRITE_NS 120000000000u
#define WRITE_KILLED_NS 8000000000u

/* Who waits for the thread that writes gives up so long after that. */
#define MARGIN_NS 5000000000u

/* Ctrl-C and whoever passes it on come in the same moment; what comes later is
 * somebody who does not want to wait. */
#define PATIENCE_NS 1000000000u

/* Of the C library (Itanium C++ ABI, section 3.3.6): atexit(3) for a module. */
int __cxa_atexit(void (*function)(void *), void *argument, void *module);

enum phase { PHASE_OFF, PHASE_RUNNING, PHASE_ENDING, PHASE_ENDED };

static _Atomic uint32_t phase;
static pid_t process;

/* The thread that ends the process, 0 while there is none; since when; and the
 * signal that came to it meanwhile. */
static _Atomic uint32_t ender;
static _Atomic uint64_t end_began;
static _Atomic int end_signal;

/* What the sampler thread is to write at the end. */
static struct {
    enum end_reason reason;
    int signo; /* that kills the process, or 0 */
    struct sampler_result result;
    struct output_result output;
    bool is_written;
} job;
static struct config config;
static struct config_files *files; /* reserved at the start */

/* The thread's forks that a hook waits for: a handler may fork on top. */
static __thread uint32_t hooked_forks;

bool
lifecycle_is_own(void)
{
    return sys_getpid() == process;
}

bool
lifecycle_is_running(void)
{
    return atomic_load(&phase) == PHASE_RUNNING && lifecycle_is_own();
}

bool
lifecycle_is_on(void)
{
    return atomic_load_explicit(&phase, memory_order_relaxed) != PHASE_OFF;
}

/* Of our own memory, nobody says that it is short. */
static void
give_up(void)
{
    atomic_store(&phase, PHASE_OFF);
    note(setup_failure_level(),
         "cannot start the sampler thread: ", note_errno(errno),
         "; not profiling", NULL);
    config_remove_spools(files, true);
}

/* Make the spool, and ready all that the sampler needs. Returns 0, or -1 if
 * there is no profile, having said why. */
static int
prepare_sampler(bool is_child)
{
    struct sampler_options sampler;
    uint64_t now = clock_now();
    process = sys_getpid();
    if (setup_journal(&config, process, now, files) != 0)
        return -1;
    setup_sampler(&config, process, now, is_child, &sampler);
    service_use(&config, files);
    atomic_store(&phase, PHASE_RUNNING);
    if (sampler_prepare(&sampler) == 0)
        return 0;
    give_up();
    return -1;
}

/* Block what would run a handler of the program on top of us, but for errors of
 * our own; with MAY_END, ours may come that end the process. *OLD is the mask
 * before. */
static void
block_handlers(bool may_end, sigset_t *old)
{
    static const int open[] = {SIGTRAP, SIGSEGV, SIGBUS,
                               SIGFPE,  SIGILL,  SIGNALS_SETXID};
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    uint64_t blocked = ~0ull;
    /* In words, because sigdelset does not know those of libc. */
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        blocked &= ~signals_bit(open[i]);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        if (may_end && fatal_is_installed(fatal[i]))
            blocked &= ~signals_bit(fatal[i]);
    if (may_end && config.options.signal.number != 0)
        blocked &= ~signals_bit((int)config.options.signal.number);
    arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&blocked, (long)old,
                 sizeof(blocked), 0, 0);
}

/* Ready this process to be sampled, the first time or after a fork. */
static int
prepare(bool is_child)
{
    sigset_t old;
    block_handlers(false, &old);
    int result = prepare_sampler(is_child);
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, NSIG / 8, 0,
                 0);
    if (result != 0)
        return -1;
    handler_know_thread(true);
    mask_begin();
    fatal_begin((int)config.options.signal.number,
                config.options.dump_on.number);
    return 0;
}

/* Begin to sample it. No signal is handled before the sampler has begun: one
 * that ends the process would wait, on top of us, for what cannot come. */
static void
launch(void)
{
    sigset_t old;
    block_handlers(false, &old);
    bool has_begun = sampler_launch() == 0;
    int error = has_begun ? sampler_release() : errno;
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, NSIG / 8, 0,
                 0);
    if (!has_begun) {
        fatal_end();
        mask_end();
        errno = error;
        give_up();
    } else if (error != 0) {
        /* The handlers stay, so the phase is not OFF again. */
        atomic_store(&phase, PHASE_ENDED);
        closing_no_trigger(config.options.trigger.number, -error);
        config_remove_spools(files, true);
    } else {
        /* The sampler has borrowed more. */
        mask_begin();
    }
}

static void
start(void)
{
    if (prepare(false) == 0)
        launch();
}

/* What a flight recorder has is wanted by somebody who asks while it flies, and
 * when it crashes. */
static bool
is_wanted(void)
{
    return config.options.keep.number == 0 || job.signo != 0;
}

static bool
is_spool_wanted(void)
{
    return is_wanted() || config.options.keep_spool.number != 0 ||
           config.options.symbolize.number == OPTION_SYMBOLIZE_OFF;
}

/* The job. Runs on the sampler thread, or where there is none on the one that
 * ends the process. */
static void
write_files(void *unused)
{
    (void)unused;
    if (job.signo != 0)
        freeze_others((pid_t)atomic_load(&ender), false);
    if (job.result.taken == 0 || !is_spool_wanted()) {
        config_remove_spools(files, true);
        return;
    }
    if (job.reason == END_EXEC)
        config_rename_for_exec(files);
    if (config.options.symbolize.number == OPTION_SYMBOLIZE_OFF || !is_wanted())
        return;
    if (job.signo == 0)
        freeze_others((pid_t)atomic_load(&ender), true);
    uint64_t limit = job.signo != 0 ? WRITE_KILLED_NS : WRITE_NS;
    job.is_written = output_write(&config, files, limit, &job.output) == 0;
}

/* Say what came of it. */
static void
say_end(void)
{
    closing_flaws(files, &job.result);
    if (job.result.trigger_error != 0)
        closing_no_trigger(config.options.trigger.number,
                           -job.result.trigger_error);
    else if (job.result.taken == 0)
        closing_nothing(&job.result);
    else if (!is_spool_wanted())
        closing_unwanted();
    else if (config.options.symbolize.number == OPTION_SYMBOLIZE_OFF ||
             !is_wanted())
        closing_kept(files->spool, &job.result);
    else if (job.is_written)
        closing_wrote(files->outputs[0], &job.result, job.output.ns);
    else
        note(NOTE_ERROR, job.output.complaint, NULL);
}

/* Stop sampling and write the profile. */
static void
end(enum end_reason reason, int signo)
{
    bool is_over = reason == END_EXIT || reason == END_QUICK;
    memset(&job, 0, sizeof(job));
    job.reason = reason;
    job.signo = signo;
    if (is_over)
        hush_begin();
    if (sampler_stop(reason, &job.result) != 0)
        note(NOTE_ERROR, "the sampler thread did not stop; see ", files->spool,
             NULL);
    else if (errand_run(write_files, NULL, WRITE_NS + MARGIN_NS))
        say_end();
    else
        note(NOTE_ERROR, "the profile was not written in time; see ",
             files->spool, NULL);
    if (reason == END_EXIT)
        hush_end();
    /* Who was killed has no more to do. */
    if (signo == 0)
        suspend_thaw();
}

/* End the profile if no other thread does. Returns whether this one did. */
static bool
try_to_end(enum end_reason reason, int signo)
{
    uint32_t nobody = 0, running = PHASE_RUNNING;
    sigset_t old;
    /* Blocked first: exit in a handler on top of us would wait for us. */
    block_handlers(true, &old);
    bool is_ender =
        atomic_load(&phase) == PHASE_RUNNING &&
        atomic_compare_exchange_strong(&ender, &nobody, (uint32_t)sys_gettid());
    if (is_ender &&
        atomic_compare_exchange_strong(&phase, &running, PHASE_ENDING)) {
        atomic_store(&end_began, clock_now());
        end(reason, signo);
        atomic_store(&phase, PHASE_ENDED);
    }
    if (is_ender) {
        atomic_store(&ender, 0);
        sys_futex_wake(&ender, 1 << 30);
    }
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, NSIG / 8, 0,
                 0);
    return is_ender;
}

/* Wait until the thread that ends the process has done so, but not for ever. In
 * a handler. */
static void
wait_for_end(void)
{
    uint32_t who;
    uint64_t until = clock_now() + WRITE_NS + 2 * MARGIN_NS;
    while ((who = atomic_load(&ender)) != 0 && clock_now() < until)
        sys_futex_wait(&ender, who, until);
}

/* Another thread ends the process, and would have done so by now but for what
 * it has to write. What this one was about to do comes as much later. */
static void
stay_behind(void)
{
    static _Atomic uint32_t never;
    uint64_t late = clock_now() - atomic_load(&end_began);
    if (late > WRITE_NS)
        late = WRITE_NS;
    wait_for_end();
    uint64_t until = clock_now() + late;
    while (clock_now() < until)
        sys_futex_wait(&never, 0, until);
}

/* The last of what exit(3) calls, on whatever thread: one that returns from
 * main must not overtake the one that exits. */
static void
stay_behind_at_exit(void *unused)
{
    (void)unused;
    uint32_t who = atomic_load(&ender);
    if (who != 0 && who != (uint32_t)sys_gettid() && lifecycle_is_own())
        stay_behind();
}

void
lifecycle_end(enum end_reason reason)
{
    /* Without a system call: a filter of the program may be in force. */
    if (atomic_load(&phase) == PHASE_OFF ||
        (atomic_load(&phase) == PHASE_ENDED && atomic_load(&ender) == 0) ||
        !lifecycle_is_own())
        return;
    if (!try_to_end(reason, 0)) {
        /* A handler on top of the thread that ends the profile goes on: it
         * would wait for itself. The spool is left. */
        uint32_t who = atomic_load(&ender);
        if (who != 0 && who != (uint32_t)sys_gettid())
            stay_behind();
        return;
    }
    int signo = atomic_exchange(&end_signal, 0);
    if (signo != 0)
        fatal_die(signo);
}

bool
lifecycle_end_for_signal(int signo)
{
    if (!lifecycle_is_own() || try_to_end(END_SIGNAL, signo))
        return true;
    uint32_t who = atomic_load(&ender);
    if (who != 0 && clock_now() - atomic_load(&end_began) > PATIENCE_NS) {
        spawn_kill();
        return true;
    }
    if (who == (uint32_t)sys_gettid()) {
        atomic_store(&end_signal, signo);
        return false;
    }
    wait_for_end();
    return true;
}

void
lifecycle_after_failed_exec(void)
{
    int saved = words_errno();
    uint32_t ended = PHASE_ENDED;
    if (lifecycle_is_own() &&
        atomic_compare_exchange_strong(&phase, &ended, PHASE_OFF))
        start();
    words_set_errno(saved);
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

/* To make a thread, libc allocates; and the program's allocator may be locked
 * until handlers of its own have run, which come after ours. So behind a hook
 * on the fork the thread is made when that has returned. */
static void
after_fork_in_child(void)
{
    int saved = errno;
    if (atomic_load(&phase) == PHASE_OFF)
        return;
    bool was_running = atomic_load(&phase) == PHASE_RUNNING;
    atomic_store(&ender, 0);
    atomic_store(&end_signal, 0);
    atomic_store(&phase, PHASE_OFF);
    sampler_forget();
    single_thread_after_fork();
    if (!was_running || !setup_follows_fork(&config))
        mask_end();
    else if (prepare(true) == 0 && hooked_forks == 0)
        launch();
    errno = saved;
}

pid_t
lifecycle_fork(pid_t (*fork_by)(void *), void *argument)
{
    hooked_forks++;
    pid_t result = fork_by(argument);
    int saved = errno;
    if (--hooked_forks == 0 && lifecycle_is_running() && !sampler_is_launched())
        launch();
    errno = saved;
    return result;
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
    words_begin();
    int result = config_read(&config, __environ, error, sizeof(error));
    note_set_level((enum note_level)config.options.log.number);
    misspelt_tell(__environ);
    if (result < 0)
        note(NOTE_ERROR, error, "; not profiling", NULL);
    if (result == 0 && (files = setup_reserve()) != NULL) {
        real_begin();
        single_thread_begin();
        go_program_begin();
        clock_use(real_libc_clock());
        thread_life_begin();
        output_begin();
        spawn_begin(__environ);
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        start();
    }
    errno = saved;
}

__attribute__((destructor)) static void
finish(void)
{
    int saved = errno;
    /* For no module: those of ours end with this very function. */
    if (lifecycle_is_running() && lifecycle_is_own())
        (void)__cxa_atexit(stay_behind_at_exit, NULL, NULL);
    lifecycle_end(END_EXIT);
    errno = saved;
}
