/* SPDX-License-Identifier: MIT */
/*
 * requests.c -- see requests.h. Requests go through a ring with one entry each.
 * A thread that asks takes an entry by one exchange, fills it in and marks it.
 * The sampler takes the entries in their order. The answer goes to a place
 * outside the caller's stack. A caller that gives up leaves this place to the
 * sampler.
 *
 * One process at a time is run beside the program. A request that needs such a
 * process waits in the queue while another one runs. The requests after it wait
 * as well. So all requests are done in the order in which they came.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/note.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "journal/journal_live.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/alarms.h"
#include "sampling/all_stacks.h"
#include "sampling/sampler_thread.h"
#include "sampling/session.h"
#include "signals/cookie.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "output.h"
#include "spawn.h"
#include "requests.h"

#define RING 64u  /* most requests that wait in the queue */
#define CALLS 16u /* most calls that wait for an answer */

/* A caller's place:  FREE -> ASKED -> DONE -> FREE
 *                            ASKED -> LEFT -> FREE (the sampler) */
enum call_state { CALL_FREE, CALL_ASKED, CALL_DONE, CALL_LEFT };

struct requests_call {
    _Atomic uint32_t state; /* enum call_state; a futex */
    int error;              /* once DONE */
    struct all_stacks_memory memory;
};

struct entry {
    _Atomic bool is_written;
    struct requests_item request;
};

static OF_PROFILE struct entry ring[RING];
static OF_PROFILE _Atomic uint32_t written, taken;
static OF_PROFILE struct requests_call calls[CALLS];
static uint64_t opened; /* signals that all threads were asked to unblock */

/* Whether the sampler takes the signal, and whether a thread wants it to leave
 * the signal alone. LEAVE_NS: longest wait of that thread, in ns. */
static OF_PROFILE _Atomic uint32_t listens, must_leave;
#define LEAVE_NS 1000000000u

int
requests_begin(int signo)
{
    /* A number that was given back in an earlier life of this process is not
     * taken again. */
    if (signo != 0 && signals_number(SIGNALS_CONTROL) == 0 &&
        disposition_role(signo) == SIGNALS_NONE &&
        disposition_borrow(SIGNALS_CONTROL, signo) != 0)
        return -1;
    journal_signal(signals_number(SIGNALS_CONTROL));
    return 0;
}

void
requests_unblock_signal(void)
{
    uint64_t closed = signals_closed();
    /* If the number has become the program's, a signal that comes is sent on to
     * a thread of the program. */
    signals_blocked |= closed;
    sys_mask(SIG_UNBLOCK, closed, NULL);
    atomic_store(&must_leave, 0);
    atomic_store(&listens, 1);
}

/* A signal that the sampler receives is sent again, and arrives late. So the
 * sampler blocks the number before the program takes it. */
void
requests_block_signal(void)
{
    uint64_t until = clock_now() + LEAVE_NS;
    if (sampler_thread_is_caller() || !sampler_thread_is_there())
        return;
    atomic_store(&must_leave, 1);
    ask_ring();
    while (atomic_load(&listens) != 0 && !clock_expires(until))
        sys_futex_wait(&listens, 1, until);
}

/* Context: sampler. */
static void
stop_listening(void)
{
    sys_mask(SIG_BLOCK, UINT64_MAX, NULL);
    atomic_store(&listens, 0);
    sys_futex_wake(&listens, 1 << 30);
}

/* Put REQUEST into the ring. Returns false if the ring is full. */
static bool
put(const struct requests_item *request)
{
    uint32_t at = atomic_load(&written);
    do {
        if (at - atomic_load(&taken) >= RING)
            return false;
    } while (!atomic_compare_exchange_weak(&written, &at, at + 1));
    ring[at % RING].request = *request;
    atomic_store_explicit(&ring[at % RING].is_written, true,
                          memory_order_release);
    ask_ring();
    return true;
}

/* A child of vfork(2) shares its parent's memory. A signal to the child is no
 * request to the sampler of its parent. A request is dropped if the ring is
 * full. */
bool
requests_take(const siginfo_t *info)
{
    struct requests_item request = {.fd = -1};
    uint64_t value = 0;
    bool is_request = info->si_code == SI_USER || info->si_code == SI_QUEUE;
    if (!is_request || info->si_pid == phase_process())
        return false;
    if (info->si_code == SI_QUEUE)
        value = (uint64_t)info->si_value.sival_ptr;
    request.request = request_of(value, &request.nonce);
    if (phase_is_own())
        (void)put(&request);
    return true;
}

/* Whether the ring has an entry. */
static bool
is_asked(void)
{
    uint32_t at = atomic_load_explicit(&taken, memory_order_relaxed);
    return atomic_load_explicit(&ring[at % RING].is_written,
                                memory_order_acquire);
}

bool
requests_is_wanted(void)
{
    return is_asked() || signals_opened() != opened ||
           (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0);
}

bool
requests_next(struct requests_item *request)
{
    uint32_t at = atomic_load(&taken);
    if (!is_asked())
        return false;
    *request = ring[at % RING].request;
    atomic_store(&ring[at % RING].is_written, false);
    atomic_store(&taken, at + 1);
    return true;
}

/* Free CALL, in which no thread waits any more. */
static void
give_place(struct requests_call *call)
{
    sys_release(call->memory.bytes, call->memory.size);
    atomic_store(&call->state, CALL_FREE);
}

struct all_stacks_memory *
requests_memory(const struct requests_item *request)
{
    struct requests_call *call = request->call;
    return call != NULL && call->memory.bytes != NULL ? &call->memory : NULL;
}

void
requests_answer(const struct requests_item *request, int error,
                const char *text)
{
    uint32_t asked = CALL_ASKED;
    if (request->nonce != 0)
        journal_live_answer(request->nonce, error, text);
    if (request->call == NULL)
        return;
    request->call->error = error;
    if (atomic_compare_exchange_strong(&request->call->state, &asked,
                                       CALL_DONE))
        sys_futex_wake(&request->call->state, 1);
    else
        give_place(request->call);
}

/* The number is now the program's. Some threads block it only because the
 * library did so. Have these threads unblock it. A tracer would see the signal
 * for that, so a traced thread does it when it next sets a mask or waits.
 * Context: sampler. */
static void
unblock_threads(void)
{
    uint64_t bits = signals_opened() & ~opened;
    struct status status;
    if (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0)
        stop_listening();
    if (bits == 0)
        return;
    opened |= bits;
    signals_sync_now();
    journal_signal(signals_number(SIGNALS_CONTROL));
    threads_refresh();
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 &&
            !signals_has_opened(threads_at(i)->tid) &&
            status_read(threads_at(i)->tid, &status) == 0 &&
            (status.blocked & bits) != 0 &&
            status_tracer(threads_at(i)->tid) == 0)
            (void)cookie_order(threads_at(i)->tid, COOKIE_SETTLE);
}

/* A free place, NULL if all are taken: too many threads wait. */
static struct requests_call *
take_place(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t none = CALL_FREE;
        if (atomic_compare_exchange_strong(&calls[i].state, &none, CALL_ASKED))
            return &calls[i];
    }
    return NULL;
}

/* Wait for the answer until UNTIL. */
static int
wait_for(struct requests_call *call, struct all_stacks_memory *memory,
         uint64_t until)
{
    uint32_t asked = CALL_ASKED;
    while (atomic_load(&call->state) == CALL_ASKED && !clock_expires(until))
        sys_futex_wait(&call->state, CALL_ASKED, until);
    if (atomic_compare_exchange_strong(&call->state, &asked, CALL_LEFT))
        return ETIMEDOUT;
    int error = call->error;
    if (memory != NULL)
        *memory = call->memory;
    atomic_store(&call->state, CALL_FREE);
    return error;
}

int
requests_ask(enum request request, int fd, struct all_stacks_memory *memory,
             uint64_t ns)
{
    struct requests_item asked = {.request = request,
                                  .call = take_place(),
                                  .fd = fd};
    if (asked.call == NULL)
        return EAGAIN;
    uint64_t until = clock_now() + ns;
    asked.call->memory =
        memory != NULL ? *memory : (struct all_stacks_memory){.bytes = NULL};
    if (put(&asked))
        return wait_for(asked.call, memory, until);
    atomic_store(&asked.call->state, CALL_FREE);
    return EAGAIN;
}

/* The longest time that a process runs beside the program, in ns. It may read
 * names from large files. */
#define PRINT_NS 60000000000u
#define WRITE_NS 120000000000u

/* The longest wait for all requests when the program ends: half of the time for
 * the end. The rest is for the profile. */
#define LAST_NS (options_exit_ns(&config->options) / 2)

static const struct config *config;
static const struct config_files *files;

/* The process that runs beside the program. */
static OF_PROFILE struct {
    bool is_there;
    struct requests_item request;
    struct spawned spawned;
    char answer[OUTPUT_ANSWER];
} job;
static struct config_files *dump; /* for WRITE; reserved at the first */

/* The message for a failed alarm or bare request. */
#define NO_STACKS "the stacks cannot be printed: "
#define NO_FILE "SPROF_DUMP_WHEN: the profile cannot be written: "

/* The last nonce for a dump whose request had none. */
static OF_PROFILE uint32_t last_nonce;

void
requests_use(const struct config *given, const struct config_files *given_files)
{
    config = given;
    files = given_files;
}

bool
requests_are_busy(void)
{
    return job.is_there;
}

/* Bytes of the names of the files that were written. */
#define FILE_NAMES (CONFIG_OUTPUTS * 1024u)

/* The names of the files that were written, one a line. */
static void
say_files(const struct requests_item *request)
{
    static char *names;
    struct text text;
    if (names == NULL)
        names = sys_reserve(FILE_NAMES);
    if (names == NULL) {
        requests_answer(request, 0, "");
        return;
    }
    text_begin(&text, names, FILE_NAMES);
    for (unsigned i = 0; i < dump->count; i++) {
        text_add(&text, i > 0 ? "\n" : "");
        text_add(&text, dump->outputs[i]);
    }
    requests_answer(request, 0, names);
}

/*
 * pidfd_getfd(2), Linux 5.6, gives the open file itself. On older kernels, or
 * where that call is forbidden, open_link opens the file anew by its link in
 * /proc. Such a descriptor has an offset of its own, so it only appends.
 */
static int
copy_file(int fd)
{
    long process = arch_syscall(SYS_pidfd_open, sys_getpid(), 0, 0, 0, 0, 0);
    if (process < 0)
        return -1;
    long copy = arch_syscall(SYS_pidfd_getfd, process, fd, 0, 0, 0, 0);
    sys_close((int)process);
    return (int)copy;
}

static int
open_link(int fd)
{
    char path[PROC_PATH_SIZE], file[20];
    struct text text;
    text_begin(&text, file, sizeof(file));
    text_add(&text, "/fd/");
    text_add_number(&text, (uint64_t)fd);
    /* Any thread but the sampler has the program's descriptors. The main thread
     * may have ended. */
    return (int)sys_open(proc_path(path, 0, threads_first(), file),
                         O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

static bool
is_for_messages(int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &status) != 0)
        return false;
    return !S_ISREG(status.st_mode) || (flags & O_APPEND) != 0 ||
           (flags & O_ACCMODE) == O_WRONLY;
}

/*
 * Copy the program's descriptor FD into the sampler's table, above the standard
 * ones. The caller closes the copy. If not IS_MEANT, FD must be for messages.
 * A descriptor for messages is no regular file, or is open only for writing or
 * for appending. Another one may have data: a program can close its standard
 * error, and open its data there. Returns the copy, or -1.
 */
static int
open_of_program(int fd, bool is_meant)
{
    int copy = copy_file(fd);
    if (copy < 0)
        copy = open_link(fd);
    if (copy >= 0 && !is_meant && !is_for_messages(copy)) {
        sys_close(copy);
        return -1;
    }
    if (copy < 0 || copy > STDERR_FILENO)
        return copy;
    int higher = fcntl(copy, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    sys_close(copy);
    return higher;
}

/* Say on the program's standard error that a bare request or an alarm failed:
 * they get no other answer. WHAT is what could not be done. The sampler does
 * not wait for a full pipe. A pipe that poll(2) reports as writable has room
 * for a line (pipe(7)). */
static void
complain(const char *what, const char *why)
{
    char line[1200];
    struct text text;
    int fd = open_of_program(STDERR_FILENO, false);
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    const struct timespec no_time = {0};
    text_begin(&text, line, sizeof(line) - 1);
    text_add(&text, "sprof: ");
    text_add(&text, what);
    text_add(&text, why);
    line[text.length] = '\n';
    if (fd >= 0 && note_is_on(NOTE_ERROR) &&
        sys_call(SYS_ppoll, &event, 1, &no_time, NULL, 0) == 1)
        (void)sys_call(SYS_write, fd, line, text.length + 1);
    if (fd >= 0)
        sys_close(fd);
}

/* Answer the request of the process beside the program, which has ended, or
 * could not be run (ERROR). */
static void
end_job(int error)
{
    const struct requests_item *request = &job.request;
    job.is_there = false;
    bool is_ok = error == 0 && output_is_ok(job.answer);
    if (error != 0)
        requests_answer(request, error, "libsprof-report.so could not be run");
    else if (!is_ok)
        requests_answer(request, EIO,
                        job.answer[0] != '\0' ? job.answer
                                              : "libsprof-report.so broke off");
    else if (request->request == REQUEST_WRITE)
        say_files(request);
    else
        requests_answer(request, 0, "");
    bool has_asker = request->call != NULL || request->nonce != 0;
    if (!is_ok && !has_asker)
        complain(request->request == REQUEST_PRINT ? NO_STACKS : NO_FILE,
                 error != 0 ? note_errno(error) : job.answer);
}

/* Run libsprof-report.so for REQUEST, beside the program. requests_heed notices
 * its end. It is killed after NS. */
static void
run_job(const struct requests_item *request, const char *const arguments[],
        int message, uint64_t ns)
{
    job.request = *request;
    job.is_there = true;
    if (spawn_start(&job.spawned, false, arguments, message, ns, job.answer,
                    sizeof(job.answer)) != 0)
        end_job(errno);
}

/* Print the stacks of all threads to the program's descriptor. */
static void
print(const struct requests_item *request)
{
    char nonce[24];
    const char *arguments[OUTPUT_ARGUMENTS];
    struct text text;
    int fd = request->call != NULL ? request->fd : STDERR_FILENO;
    int message = open_of_program(fd, request->call != NULL);
    int error = message < 0 ? EBADF : all_stacks_take(++last_nonce, NULL);
    if (error != 0) {
        requests_answer(request, error, "");
        if (message >= 0 && request->call == NULL)
            complain(NO_STACKS,
                     error == ENOSPC ? "the spool is full" : note_errno(error));
        if (message >= 0)
            sys_close(message);
        return;
    }
    text_begin(&text, nonce, sizeof(nonce));
    text_add_number(&text, last_nonce);
    journal_put_back();
    output_arguments(config, files, nonce, arguments);
    run_job(request, arguments, message, PRINT_NS);
    sys_close(message);
}

/* The process that writes a dump reads the spool while it grows. So all samples
 * are written to the spool first. WORD is in the names of the files. */
static void
write_profile(const struct requests_item *request, const char *word)
{
    const char *arguments[OUTPUT_ARGUMENTS];
    if (dump == NULL)
        dump = sys_reserve(sizeof(*dump));
    if (dump == NULL) {
        requests_answer(request, ENOMEM, "memory is short");
        return;
    }
    session_flush();
    journal_put_back();
    if (config_name_dump(config, files, word, dump) != 0) {
        requests_answer(request, EEXIST, "there are too many dumps");
        return;
    }
    output_arguments(config, dump, NULL, arguments);
    run_job(request, arguments, -1, WRITE_NS);
}

/* Take the stacks of all threads. `sprofile` reads them in the spool. A call
 * from the program also gets them as addresses in its own memory. */
static void
take_stacks(const struct requests_item *request)
{
    struct all_stacks_memory *memory = requests_memory(request);
    uint32_t nonce = request->nonce != 0 ? request->nonce : ++last_nonce;
    int error = all_stacks_take(nonce, memory);
    requests_answer(request, error, error == ENOSPC ? "the spool is full" : "");
}

static void
do_request(const struct requests_item *request)
{
    enum session_by by =
        request->call != NULL ? SESSION_BY_PROGRAM : SESSION_BY_COMMAND;
    switch (request->request) {
    case REQUEST_START: {
        int error = -session_start(by);
        requests_answer(request, error,
                        error != 0 ? "the trigger does not work here" : "");
        break;
    }
    case REQUEST_STOP:
        session_stop(by);
        requests_answer(request, 0, "");
        break;
    case REQUEST_STACKS:
        take_stacks(request);
        break;
    case REQUEST_PRINT:
        print(request);
        break;
    case REQUEST_WRITE:
        write_profile(request, "dump");
        break;
    default:
        requests_answer(request, ENOSYS, "this version does not know that");
    }
}

/* CONDITION holds: write the profile, with a mark that names the condition. */
static void
write_for(const struct condition *condition)
{
    const struct requests_item request = {.request = REQUEST_WRITE, .fd = -1};
    char word[CONDITION_NAME], words[CONDITION_NAME + 32];
    struct text text;
    condition_word(condition, word, sizeof(word));
    text_begin(&text, words, sizeof(words));
    text_add(&text, "SPROF_DUMP_WHEN: ");
    text_add(&text, word);
    journal_live_mark(MARK_USER, words, clock_now());
    write_profile(&request, word);
}

void
requests_heed(void)
{
    const struct condition *alarm;
    struct requests_item request;
    unblock_threads();
    if (job.is_there && spawn_is_over(&job.spawned, false))
        end_job(job.spawned.error);
    while (!job.is_there && requests_next(&request))
        do_request(&request);
    while (!job.is_there && (alarm = alarms_next()) != NULL)
        write_for(alarm);
}

void
requests_end(void)
{
    uint64_t until = clock_now() + LAST_NS;
    while ((job.is_there || requests_is_wanted() || alarms_are_there()) &&
           !clock_expires(until)) {
        if (job.is_there && spawn_is_over(&job.spawned, true))
            end_job(job.spawned.error);
        requests_heed();
    }
    if (job.is_there)
        spawn_kill();
}
