/* SPDX-License-Identifier: MIT */
/*
 * remote.c -- see remote.h. A real-time signal ends a program that does not
 * handle it. Therefore two checks precede each signal. The process must be the
 * one that wrote the CONTROL record, because its pid may have been reused. It
 * must also have a handler for the signal (SigCgt in /proc/PID/status). A pidfd
 * is opened before the process is looked at, so the pid cannot pass to another
 * process in between.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "store/reader.h"
#include "store/record.h"
#include "remote.h"

/* The first and the longest pause between two looks at the spool, in ms; each
 * pause is twice the last. */
enum { FIRST_PAUSE = 1, LAST_PAUSE = 50 };

/* Limit of the searches for the CONTROL record, and the pause between two in
 * ms. */
enum { CONTROL_ATTEMPTS = 30, CONTROL_PAUSE = 10 };

/* A request whose answer is awaited. */
struct exchange {
    struct remote *remote;
    uint32_t nonce;
    int problem; /* error number in the answer */
    char *text;  /* text of the answer */
};

/* Write "process 4711 (app) " and then the formatted text to remote->error.
 * Returns -1. */
__attribute__((format(printf, 2, 3))) static int
set_error(struct remote *remote, const char *format, ...)
{
    size_t size = sizeof(remote->error);
    int length = snprintf(remote->error, size, "process %ld (%s) ",
                          (long)remote->process.pid, remote->process.name);
    if (length < 0 || (size_t)length >= size)
        return -1;
    va_list values;
    va_start(values, format);
    vsnprintf(remote->error + length, size - (size_t)length, format, values);
    va_end(values);
    text_hide_controls(remote->error);
    return -1;
}

/* Take the records of READER up to its end. *CONTROL becomes the offset of the
 * last CONTROL record, if one is among them. An answer to EXCHANGE (which may
 * be NULL) is kept. Returns 1 if the answer came, 0 if not, -1 if memory is
 * short. */
static int
take_records(struct reader *reader, uint64_t *control,
             struct exchange *exchange)
{
    enum record_kind kind;
    const void *record;
    while ((record = reader_next(reader, &kind)) != NULL) {
        const struct record_answer *answer = record;
        if (kind == RECORD_CONTROL)
            *control =
                reader_offset(reader) -
                record_size_of(((const struct record_control *)record)->head);
        if (kind != RECORD_ANSWER || exchange == NULL ||
            answer->nonce != exchange->nonce)
            continue;
        exchange->problem = (int)answer->error;
        exchange->text = strdup(record_answer_text(answer));
        return exchange->text != NULL ? 1 : -1;
    }
    return 0;
}

static int
take_present(struct remote *remote, struct exchange *exchange)
{
    return take_records(remote->reader, &remote->control, exchange);
}

/* Store in FILE which file PATH is. This is asked before the spool is opened,
 * so that a rotation in between is noticed later. */
static int
identify_file(const char *path, struct remote_file *file)
{
    struct stat now;
    if (stat(path, &now) != 0)
        return -1;
    *file = (struct remote_file){.device = now.st_dev, .inode = now.st_ino};
    return 0;
}

bool
remote_has_rotated(const struct remote *remote)
{
    struct remote_file now;
    return identify_file(remote->path, &now) == 0 &&
           (now.device != remote->file.device ||
            now.inode != remote->file.inode);
}

/* The recorder has rotated twice since the last look. Take the records of the
 * spool between the one that was read and NEXT. */
static int
take_missed(const struct remote *remote, const struct reader *next,
            struct exchange *exchange)
{
    const struct spool_header *present = reader_header(remote->reader);
    uint64_t unused = 0;
    struct reader *past = reader_open_past(remote->path, reader_header(next));
    int came = 0;
    if (past != NULL && reader_header(past)->begin > present->begin)
        came = take_records(past, &unused, exchange);
    reader_end(past);
    return came;
}

/* Take the new records, in whatever file they are. Returns as take_records. If
 * the answer is not in the last file, remote_has_rotated says whether a newer
 * one exists. */
static int
take_news(struct remote *remote, struct exchange *exchange)
{
    struct remote_file file;
    int came = take_present(remote, exchange);
    if (came != 0 || !remote_has_rotated(remote) ||
        identify_file(remote->path, &file) != 0)
        return came;
    came = take_present(remote, exchange);
    char unused[PATH_MAX + 256];
    struct reader *next =
        came == 0 ? reader_open(remote->path, unused, sizeof(unused)) : NULL;
    if (next == NULL)
        return came;
    came = take_missed(remote, next, exchange);
    if (came != 0) {
        reader_end(next);
        return came;
    }
    reader_end(remote->reader);
    remote->reader = next;
    remote->control = 0;
    remote->rotations++;
    remote->file = file;
    return take_present(remote, exchange);
}

/* The present content of the CONTROL record; its signal is 0 without one. */
static struct record_control
read_control(struct remote *remote)
{
    uint64_t offset = reader_offset(remote->reader);
    struct record_control control = {.signal = 0};
    if (remote->control == 0)
        return control;
    reader_go(remote->reader, remote->control);
    enum record_kind kind;
    const void *record = reader_next(remote->reader, &kind);
    if (record != NULL && kind == RECORD_CONTROL)
        control = *(const struct record_control *)record;
    reader_go(remote->reader, offset);
    return control;
}

/* Read the spool up to its end, until a CONTROL record was found. A process
 * that has just started may write that record a moment later, so it is looked
 * for again. */
static void
find_control(struct remote *remote)
{
    for (int i = 0; i <= CONTROL_ATTEMPTS && remote->control == 0; i++) {
        poll(NULL, 0, i > 0 ? CONTROL_PAUSE : 0);
        take_present(remote, NULL);
    }
}

/* The spool is read to its end once; later looks read only new records. */
int
remote_open(struct remote *remote, pid_t pid)
{
    size_t size = sizeof(remote->error);
    *remote = (struct remote){.pidfd = -1};
    if (pid > 0)
        remote->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process_look(&remote->process, pid, remote->error, size) != 0 ||
        process_find_spool(pid, remote->path, sizeof(remote->path),
                           remote->error, size) != 0)
        return -1;
    if (!process_is_alive(&remote->process))
        return set_error(remote, "has ended");
    (void)identify_file(remote->path, &remote->file);
    remote->reader = reader_open(remote->path, remote->error, size);
    if (remote->reader == NULL)
        return -1;
    find_control(remote);
    if (remote->control == 0)
        return set_error(remote,
                         "cannot be asked: the libsprof.so in it is of an "
                         "older version than this command");
    return 0;
}

/* Check all conditions for sending the request, most probable obstacle first.
 * The handler is checked last, as close to the sending as possible. *SIGNAL
 * becomes the signal that carries the request. Returns 0, or -1 with a
 * sentence.
 */
static int
check_request(struct remote *remote, unsigned *signal)
{
    const struct record_control control = read_control(remote);
    struct process now;
    if (process_look(&now, remote->process.pid, remote->error,
                     sizeof(remote->error)) != 0 ||
        now.start != remote->process.start ||
        !process_is_alive(&remote->process))
        return set_error(remote, "has ended");
    remote->process = now;
    if (control.signal == 0)
        return set_error(remote,
                         "takes no requests: SPROF_DUMP_SIGNAL is 0, or the "
                         "program uses that signal itself");
    if (now.state == 'T')
        return set_error(
            remote,
            "is stopped and cannot answer; `kill -CONT %ld` lets it go "
            "on",
            (long)now.pid);
    if (now.state == 't')
        return set_error(remote, "is stopped by a debugger and cannot answer");
    if (control.signal > 64 || (now.caught >> (control.signal - 1) & 1) == 0)
        return set_error(remote,
                         "no longer handles signal %u, which would end it",
                         control.signal);
    *signal = control.signal;
    return 0;
}

/* Do what sigqueue(3) does, through the pidfd if it is open. Returns 0, or -1
 * with errno set. */
static int
queue_signal(const struct remote *remote, unsigned signal, uint64_t value)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = (int)signal;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)value;
    if (remote->pidfd >= 0 &&
        syscall(SYS_pidfd_send_signal, remote->pidfd, signal, &info, 0) == 0)
        return 0;
    if (remote->pidfd >= 0 && errno != ENOSYS)
        return -1;
    return (int)syscall(SYS_rt_sigqueueinfo, remote->process.pid, signal,
                        &info);
}

/* The nonce distinguishes our answer from answers to other processes, which may
 * ask at the same time. It need not be secret. */
static int
send_request(struct exchange *exchange, enum request request)
{
    struct remote *remote = exchange->remote;
    unsigned signal = 0;
    if (check_request(remote, &signal) != 0)
        return -1;
    if (getrandom(&exchange->nonce, sizeof(exchange->nonce), GRND_NONBLOCK) < 0)
        exchange->nonce = (uint32_t)clock_now() ^ (uint32_t)getpid();
    if (queue_signal(remote, signal, request_value(request, exchange->nonce)) ==
        0)
        return 0;
    if (errno == EPERM)
        return set_error(remote,
                         "may not be sent signals: try as its user, or as "
                         "root");
    return set_error(remote,
                     errno == ESRCH ? "has ended"
                                    : "cannot be sent signal %u: %s",
                     signal, strerror(errno));
}

/* Wait MS milliseconds, or less if the process ends. Returns whether it has
 * ended. */
static bool
ends_within(const struct remote *remote, int ms)
{
    struct pollfd event = {.fd = remote->pidfd, .events = POLLIN};
    if (remote->pidfd >= 0)
        return poll(&event, 1, ms) > 0;
    poll(NULL, 0, ms);
    return !process_is_alive(&remote->process);
}

/* Write why no answer came within SECONDS. Returns -1. */
static int
explain_silence(struct remote *remote, unsigned seconds)
{
    struct process now;
    const char *why = "it gets no CPU, or is frozen";
    if (process_look(&now, remote->process.pid, remote->error,
                     sizeof(remote->error)) != 0)
        return -1;
    if (now.state == 'T' || now.state == 't')
        why = "it is stopped";
    else if (read_control(remote).state == CONTROL_OVER)
        why = "its profiling is over, because the spool is full";
    return set_error(remote, "has not answered within %u s: %s", seconds, why);
}

/* Wait up to SECONDS for the answer. The end of the process is checked before
 * the last look at the spool, because it may answer right before it ends.
 * Returns 0, or -1 with a sentence. */
static int
wait_for_answer(struct exchange *exchange, unsigned seconds)
{
    struct remote *remote = exchange->remote;
    uint64_t until = clock_now() + (uint64_t)seconds * NS_PER_SECOND;
    int ms = FIRST_PAUSE;
    bool has_ended = false;
    for (;;) {
        int came = take_news(remote, exchange);
        if (came > 0)
            return 0;
        if (came < 0)
            return set_error(remote, "has answered, but: %s", strerror(ENOMEM));
        if (has_ended)
            return set_error(remote, "ended before it answered");
        if (reader_problem(remote->reader) != NULL) {
            snprintf(remote->error, sizeof(remote->error), "%s",
                     reader_problem(remote->reader));
            return -1;
        }
        if (clock_now() > until)
            return explain_silence(remote, seconds);
        has_ended = ends_within(remote, ms);
        ms = ms * 2 < LAST_PAUSE ? ms * 2 : LAST_PAUSE;
    }
}

char *
remote_ask(struct remote *remote, enum request request, unsigned seconds)
{
    struct exchange exchange = {.remote = remote};
    /* The spool is read to its end first, so an old answer is not taken for the
     * new one. */
    take_news(remote, NULL);
    if (send_request(&exchange, request) != 0 ||
        wait_for_answer(&exchange, seconds) != 0)
        return NULL;
    if (exchange.problem == 0)
        return exchange.text;
    set_error(remote, "answers: %s",
              exchange.text[0] != '\0' ? exchange.text
                                       : strerror(exchange.problem));
    free(exchange.text);
    return NULL;
}

void
remote_close(struct remote *remote)
{
    if (remote->pidfd >= 0)
        close(remote->pidfd);
    reader_end(remote->reader);
    remote->pidfd = -1;
    remote->reader = NULL;
}
