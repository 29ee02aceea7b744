/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c -- start, fork, exec, end; see lifecycle.h. The constructor and
 * the destructor of the library are here. The phase (base/phase.h) moves
 * forward only: OFF, RUNNING, ENDING, ENDED; a forked child begins anew. What
 * runs at the end may run in a signal handler that interrupted malloc: it
 * neither allocates nor locks, and leaves all work to the sampler thread.
 *
 * The hard thing is that the end may come from any thread, from several at once
 * and from processes that merely share our memory: the pid is compared first.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/words.h"
#include "journal/journal.h"
#include "libc/real.h"
#include "sampling/fork_time.h"
#include "sampling/go_program.h"
#include "sampling/sampler_thread.h"
#include "sampling/single_thread.h"
#include "sampling/thread_ends.h"
#include "sampling/trigger/trigger.h"
#include "signals/mask.h"
#include "signals/signals.h"
#include "begin_anew.h"
#include "brief.h"
#include "config.h"
#include "crowd.h"
#include "doze.h"
#include "ending.h"
#include "ending_signals.h"
#include "guardian.h"
#include "left.h"
#include "mute_signals.h"
#include "output.h"
#include "requests.h"
#include "sampler.h"
#include "setup.h"
#include "spawn.h"
#include "loaded.h"
#include "lifecycle.h"

/* Time in ns in which a second signal counts as the same. Ctrl-C and a process
 * that passes it on come in the same moment. A later signal means that the user
 * does not want to wait. */
#define PATIENCE_NS 1000000000u

/* Time in ns in which the sampler's thread, whose work is done, has to leave.
 */
#define GONE_NS PATIENCE_NS

/* wait(2): the status is above the signal. */
#define SIGNAL_OF_CODE 0x7fu
#define STATUS_OF_CODE 8

/* Of the C library (Itanium C++ ABI, section 3.3.6): atexit(3) for a module. */
int __cxa_atexit(void (*function)(void *), void *argument, void *module);

static volatile bool steps_aside;
static struct config config;
static struct settings settings;   /* of the present profile, or of the next */
static struct config_files *files; /* reserved at the start */

/* Nesting of the thread's forks that hooks wait for: a handler may fork on
 * top. */
static __thread uint32_t hooked_forks;

/* Printed here, because no other place reports that our own memory is short. */
static void
give_up(void)
{
    phase_set(PHASE_OFF);
    note(setup_failure_level(errno),
         "cannot start the sampler thread: ", note_errno(errno),
         "; not profiling", NULL);
}

/* Why no spool exists; "" if all is well. The sampler, which has no standard
 * error, writes it, and the end prints it. */
static OF_PROFILE char complaint[512];

/* Make the spool, on the sampler's thread. An earlier image may have reported a
 * part of the first thread's CPU time. */
static int
open_journal(bool has_own_files)
{
    settings.has_own_files = has_own_files;
    if (settings_keeps_all(&settings)) {
        uint64_t told = brief_take(files, settings.pid);
        if (told > settings.base && told <= settings.clock)
            settings.base = told;
    }
    if (setup_journal(&config, &settings, files, complaint,
                      sizeof(complaint)) != 0)
        return -1;
    journal_signal(signals_number(SIGNALS_CONTROL));
    return 0;
}

/* Whether the main thread has ended, and its exit code then, as wait(2) shows
 * it: "exit_code" of proc_pid_stat(5). */
static bool
has_main_ended(uint32_t *code)
{
    char line[1024];
    if (proc_read(0, PROC_PROCESS, "/stat", line, sizeof(line)) <= 0 ||
        *proc_stat_field(line, 3) != 'Z')
        return false;
    *code = (uint32_t)proc_number(proc_stat_field(line, 52));
    return true;
}

/* The sampler's thread is the last one. The main thread ended by its own system
 * call (exit(2)), or a filter of seccomp(2) killed it; with a guardian the
 * sampler is not the last. Write the profile and end the process with the
 * status that it would have without us; since Linux 5.17 that is the last
 * thread's. */
static void
stand_in(bool is_single_thread)
{
    uint32_t code = 0;
    if (guardian_is_there() || !has_main_ended(&code))
        return;
    if (!is_single_thread)
        code = 0;
    lifecycle_end(END_EXIT);
    if ((code & SIGNAL_OF_CODE) != 0)
        ending_signals_die((int)(code & SIGNAL_OF_CODE));
    arch_syscall(SYS_exit, code >> STATUS_OF_CODE, 0, 0, 0, 0, 0);
}

/* Prepare all that the sampler needs, except the spool. Returns 0, or -1 after
 * a message if there will be no profile. */
static int
prepare_sampler(bool is_child)
{
    static const struct sampler_calls calls = {.open = open_journal,
                                               .on_alone = stand_in};
    phase_begin();
    setup_settings(&config, phase_process(), is_child, &settings);
    if (setup_names(&config, phase_process(), files) != 0 ||
        (!is_child && setup_trigger(&config) != 0))
        return -1;
    phase_set(PHASE_RUNNING);
    if (sampler_prepare(&settings, &calls) == 0)
        return 0;
    give_up();
    return -1;
}

static struct ending
ending_for(enum end_reason reason, int signo)
{
    return (struct ending){.reason = reason,
                           .signo = signo,
                           .ender = sys_gettid(),
                           .is_image = reason == END_EXEC || steps_aside,
                           .config = &config,
                           .settings = &settings,
                           .files = files,
                           .complaint = complaint};
}

/* The thread that ends the profile, 0: none yet; when it began; and the signal
 * that it got meanwhile. The end may come from any thread, and from several at
 * once: the first thread does it, and the others wait. */
static OF_PROCESS _Atomic uint32_t ender;
static OF_PROCESS _Atomic uint64_t ending_since; /* CLOCK_MONOTONIC ns */
static OF_PROCESS _Atomic int deferred;

/* End the profile if it is on and no other thread ends it. Meanwhile no handler
 * of the program runs on this thread. Returns whether this thread ended it. */
static bool
try_to_end(enum end_reason reason, int signo)
{
    uint32_t none = 0;
    uint64_t old = 0;
    /* Signals are blocked first: exit in a handler on top of us would wait for
     * us. */
    mute_signals_handlers(true, (int)config.options.signal.number, &old);
    bool is_ender =
        phase_now() == PHASE_RUNNING &&
        atomic_compare_exchange_strong(&ender, &none, (uint32_t)sys_gettid());
    if (is_ender && phase_move(PHASE_RUNNING, PHASE_ENDING)) {
        atomic_store(&ending_since, clock_now());
        const struct ending ending = ending_for(reason, signo);
        ending_run(&ending);
        phase_set(PHASE_ENDED);
    }
    if (is_ender) {
        atomic_store(&ender, 0);
        sys_futex_wake(&ender, 1 << 30);
    }
    sys_mask(SIG_SETMASK, old, NULL);
    return is_ender;
}

/* Wait until the thread that ends the profile has done so. The wait has a
 * deadline. */
static void
wait_for_ender(void)
{
    uint32_t tid;
    uint64_t until =
        clock_now() + options_exit_ns(&config.options) + ENDING_MORE_NS;
    while ((tid = atomic_load(&ender)) != 0 && clock_now() < until)
        sys_futex_wait(&ender, tid, until);
}

/* If another thread ends the profile, wait for it. Without a profile to write,
 * that thread would already have ended the process. So the caller's next action
 * is delayed until then. */
static void
stay_behind(void)
{
    static _Atomic uint32_t never;
    pid_t tid = (pid_t)atomic_load(&ender);
    if (tid == 0 || tid == sys_gettid())
        return;
    uint64_t late = clock_now() - atomic_load(&ending_since);
    if (late > options_exit_ns(&config.options))
        late = options_exit_ns(&config.options);
    wait_for_ender();
    uint64_t until = clock_now() + late;
    while (clock_now() < until)
        sys_futex_wait(&never, 0, until);
}

/* As lifecycle_end, for SIGNO, which is about to end the process by its default
 * action. All other threads stand still meanwhile, and writing may not take
 * long. If this is called again after a moment, the writing is stopped, and the
 * spool stays. Returns false if the signal interrupted the thread that ends the
 * process, which will let the signal act. */
static bool
end_for_signal(int signo)
{
    if (!phase_is_own() || try_to_end(END_SIGNAL, signo))
        return true;
    pid_t tid = (pid_t)atomic_load(&ender);
    if (tid != 0 && clock_now() - atomic_load(&ending_since) > PATIENCE_NS) {
        spawn_kill();
        return true;
    }
    if (tid == sys_gettid()) {
        atomic_store(&deferred, signo);
        return false;
    }
    wait_for_ender();
    return true;
}

/* Prepare this process to be sampled, the first time or after a fork. */
static int
prepare(bool is_child)
{
    uint64_t old = 0;
    mute_signals_handlers(false, 0, &old);
    int result = prepare_sampler(is_child);
    sys_mask(SIG_SETMASK, old, NULL);
    if (result != 0)
        return -1;
    begin_anew_signals(&settings, end_for_signal);
    return 0;
}

/* Make the sampler's thread. No signal is handled meanwhile: one that ends the
 * process would wait, on top of us, for ever. */
static void
launch(void)
{
    uint64_t old = 0;
    mute_signals_handlers(false, 0, &old);
    bool has_begun = sampler_launch() == 0;
    int error = errno;
    sys_mask(SIG_SETMASK, old, NULL);
    if (has_begun)
        return;
    mask_end();
    errno = error;
    give_up();
}

/* If the last sampler's thread did not end in time, it still uses the state
 * that a profile renews (base/state.h). Then there is no profile. In a handler
 * on top of a fork the thread is made after the fork has returned. */
static void
start(void)
{
    if (!sampler_thread_wait_gone(GONE_NS))
        mask_end();
    else if (prepare(false) == 0 && hooked_forks == 0)
        launch();
}

/* The last function that exit(3) calls, on any thread: a thread that returns
 * from main must not overtake the one that exits. */
static void
stay_behind_at_exit(void *unused)
{
    (void)unused;
    if (atomic_load(&ender) != 0 && phase_is_own())
        stay_behind();
}

void
lifecycle_end(enum end_reason reason)
{
    /* Then it ends for good. */
    if (reason != END_EXEC && phase_now() == PHASE_ASIDE && phase_is_own() &&
        phase_move(PHASE_ASIDE, PHASE_ENDED) && reason != END_STOP) {
        const struct ending ending = ending_for(reason, 0);
        ending_briefly(&ending);
    }
    /* No system call is made: a filter of the program may be in force. */
    if (phase_now() == PHASE_OFF ||
        (phase_now() == PHASE_ENDED && atomic_load(&ender) == 0) ||
        !phase_is_own())
        return;
    /* If sampling has not begun, nothing is left to do: the exec ends this
     * image, or fails. */
    if (reason == END_EXEC && doze_hold()) {
        crowd_leave(CROWD_WAITING);
        return;
    }
    if (!try_to_end(reason, 0)) {
        /* A handler on top of the thread that ends the profile goes on, because
         * it would wait for its own thread. The spool stays. */
        stay_behind();
        return;
    }
    int signo = atomic_exchange(&deferred, 0);
    if (signo != 0)
        ending_signals_die(signo);
}

static void
end_here(void *reason)
{
    lifecycle_end(*(const enum end_reason *)reason);
}

void
lifecycle_end_apart(enum end_reason reason)
{
    uint64_t unused;
    /* The rest takes neither room nor system calls. */
    if (!phase_is_running()) {
        lifecycle_end(reason);
        return;
    }
    /* No code of the program follows, so the mask is not restored. */
    if (reason == END_QUICK)
        mute_signals_handlers(true, (int)config.options.signal.number, &unused);
    ending_signals_run_apart(end_here, &reason);
}

void
lifecycle_before_start(void)
{
    mask_before_exec();
    if (!mute_signals_are_ignored())
        return;
    if (!phase_is_own()) {
        mute_signals_end_in_child();
        return;
    }
    mask_after_failed_exec();
    stay_behind();
    mask_before_exec();
}

bool
lifecycle_is_early(void)
{
    return phase_is_running() && doze_is_on();
}

static void
go_on_from_now(void)
{
    settings.since = settings.since != 0 ? clock_now() : 0;
    settings.clock = settings.base = clock_own();
}

/* End the present profile; the next one goes on where it ends. */
static void
end_for_a_while(void)
{
    steps_aside = true;
    lifecycle_end(END_STOP);
    steps_aside = false;
    go_on_from_now();
}

bool
lifecycle_stand_aside(void)
{
    int saved = words_errno();
    if (!phase_is_running())
        return false;
    bool is_aside = sampler_cancel(true);
    if (is_aside) {
        (void)phase_move(PHASE_RUNNING, PHASE_ASIDE);
    } else {
        end_for_a_while();
        is_aside = phase_move(PHASE_ENDED, PHASE_ASIDE);
    }
    (void)sampler_thread_wait_gone(GONE_NS);
    words_set_errno(saved);
    return is_aside;
}

void
lifecycle_come_back(void)
{
    int saved = words_errno();
    if (phase_is_own() && phase_move(PHASE_ASIDE, PHASE_OFF))
        start();
    words_set_errno(saved);
}

void
lifecycle_hurry(void)
{
    int saved = words_errno();
    if (phase_now() == PHASE_ASIDE)
        lifecycle_come_back();
    if (phase_is_running())
        doze_hurry(DOZE_ATTACH_NS);
    words_set_errno(saved);
}

void
lifecycle_after_failed_exec(void)
{
    int saved = words_errno();
    if (phase_is_own() && doze_is_on())
        doze_release();
    else if (phase_is_own() && phase_move(PHASE_ENDED, PHASE_OFF)) {
        go_on_from_now();
        start();
    }
    words_set_errno(saved);
}

static void
before_fork(void)
{
    if (phase_may_ask()) {
        left_before_fork();
        crowd_before_fork();
    }
    if (!phase_is_running())
        return;
    if (!doze_is_on())
        trigger_before_fork();
    sampler_pause();
    fork_time_begin();
}

static void
after_fork_in_parent(void)
{
    fork_time_end();
    if (!phase_is_running())
        return;
    sampler_resume();
    if (!doze_is_on())
        trigger_after_fork();
    fork_time_take();
}

/* libc allocates to make a thread. The program's allocator may be locked until
 * its own fork handlers have run, which come after ours. So the hook on fork
 * makes the thread after the fork has returned. */
static void
after_fork_in_child(void)
{
    int saved = errno;
    enum phase before = phase_now();
    bool was_running = before == PHASE_RUNNING || before == PHASE_ASIDE;
    begin_anew_in_child();
    if (before == PHASE_OFF)
        return;
    phase_set(PHASE_OFF);
    if (!was_running || !setup_follows_fork(&config))
        mask_end();
    else if (prepare(true) == 0 && hooked_forks == 0)
        launch();
    errno = saved;
}

pid_t
lifecycle_fork(pid_t (*fork_by)(void *), void *argument, const struct regs *at)
{
    hooked_forks++;
    const struct regs *outer = fork_time_enter(at);
    pid_t result = fork_by(argument);
    int saved = errno;
    fork_time_leave(outer);
    if (--hooked_forks == 0 && phase_is_running() &&
        !sampler_thread_is_launched())
        launch();
    errno = saved;
    return result;
}

/* Whether the process may be sampled: no filter that it was started with would
 * kill it for that. */
static bool
may_begin(void)
{
    const char *call = setup_forbidden_call();
    if (call == NULL)
        return true;
    words_ask_no_more();
    phase_ask_no_more();
    note(NOTE_ERROR, "a filter of system calls (seccomp) kills for ", call,
         ", which is needed; not profiling", NULL);
    return false;
}

/* The C library passes main's arguments to the constructors of all modules
 * (glibc, elf/dl-init.c). The real functions of the hooks are looked up even if
 * nothing is profiled: later, a signal handler may call a hook, or a thread
 * without thread-local storage, where dlsym would fail. */
__attribute__((constructor)) static void
begin(int count, char **arguments, char **environment)
{
    char error[512];
    int saved = errno;
    real_begin();
    /* A set-user-ID program must not be profiled (ld.so(8)). */
    if (getauxval(AT_SECURE) != 0)
        return;
    note_begin();
    words_begin();
    int result = config_read(&config, count, arguments, environment, error,
                             sizeof(error));
    note_set_level((enum note_level)config.options.log.number);
    config_tell_misspelt(__environ);
    if (result < 0)
        config_refuse(error, __environ);
    /* A filter of system calls may kill for this. */
    if (result == 0 && !setup_has_filter())
        config_choose_directory(&config, environment);
    if (result == 0 && (files = setup_reserve(&config)) != NULL &&
        may_begin()) {
        single_thread_begin();
        go_program_begin();
        loaded_begin();
        clock_use(real_libc.clock);
        thread_ends_begin(guardian_start);
        output_begin();
        requests_use(&config, files);
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
    /* Registered for no module: functions of our own module would end with this
     * one. */
    if (phase_is_running())
        (void)__cxa_atexit(stay_behind_at_exit, NULL, NULL);
    lifecycle_end(END_EXIT);
    errno = saved;
}
