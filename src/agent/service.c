/* SPDX-License-Identifier: MIT */
/*
 * service.c -- see service.h. One process at a time is run beside the program.
 * A request that needs one waits in the queue until it is over. The requests
 * behind it wait as well. So all are done in the order in which they came.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/note.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/text.h"
#include "journal/journal.h"
#include "process/threads.h"
#include "sampling/all_stacks.h"
#include "sampling/session.h"
#include "output.h"
#include "requests.h"
#include "spawn.h"
#include "service.h"

/* Limits for a process beside the program, in ns: it may have to read names
 * from large files. */
#define PRINT_NS 60000000000u
#define WRITE_NS 120000000000u

/* The same at the end of the process. */
#define LAST_NS 10000000000u

static const struct config *config;
static const struct config_files *files;

/* The process that runs beside the program. */
static OF_PROFILE struct {
    bool is_there;
    struct requests_item request;
    struct spawned spawned;
    char answer[OUTPUT_ANSWER];
} job;
static struct config_files *dump; /* of WRITE; reserved by the first */

/* Nonce of dumps without a number. */
static OF_PROFILE uint32_t last_nonce;

void
service_use(const struct config *given, const struct config_files *given_files)
{
    config = given;
    files = given_files;
}

bool
service_is_busy(void)
{
    return job.is_there;
}

/* The names of the files that were written, one a line. */
static void
say_files(const struct requests_item *request)
{
    static char names[CONFIG_OUTPUTS * 1024];
    struct text text;
    text_begin(&text, names, sizeof(names));
    for (unsigned i = 0; i < dump->count; i++) {
        text_add(&text, i > 0 ? "\n" : "");
        text_add(&text, dump->outputs[i]);
    }
    requests_answer(request, 0, names);
}

/*
 * pidfd_getfd(2), Linux 5.6, gives the open file itself. Before that, or where
 * it is forbidden, the link in /proc does. But it opens the file anew, with an
 * offset of its own: then only to append to it.
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
    /* Any thread but ours will do. The main thread may have ended. */
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
 * A copy, above the standard ones, of the program's descriptor FD, for the
 * sampler, which has its own table; the caller closes it. Unless it IS_MEANT,
 * only of one that is for messages: a terminal, a pipe, a socket, a device, or
 * a file that is open for writing alone or for appending. A program may have
 * closed its standard error, and opened its data there. Returns -1 if there is
 * none.
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

/* Say on the program's standard error that a bare request failed: its sender
 * has no other answer, and the sampler has no standard error. A pipe that is
 * full is not waited for; one that can be written to has room for a line
 * (pipe(7)). */
static void
complain(const char *why)
{
    char line[1200];
    struct text text;
    int fd = open_of_program(STDERR_FILENO, false);
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    text_begin(&text, line, sizeof(line) - 1);
    text_add(&text, "sprof: the stacks cannot be printed: ");
    text_add(&text, why);
    line[text.length] = '\n';
    if (fd >= 0 && note_is_on(NOTE_ERROR) && poll(&event, 1, 0) == 1)
        (void)!write(fd, line, text.length + 1);
    if (fd >= 0)
        sys_close(fd);
}

/* The process has ended, or could not be run (ERROR). */
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
    if (!is_ok && request->request == REQUEST_PRINT && request->call == NULL)
        complain(error != 0 ? note_errno(error) : job.answer);
}

/* Begin what libsprof-report.so is to do for REQUEST, beside the program;
 * service_heed sees when it is over. NS after that it is killed. */
static void
run_job(const struct requests_item *request, const char *const arguments[],
        int message, uint64_t ns)
{
    job.request = *request;
    job.is_there = true;
    if (spawn_start(&job.spawned, arguments, message, ns, job.answer,
                    sizeof(job.answer)) != 0)
        end_job(errno);
}

/* The stacks, on the program's descriptor. */
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
            complain(error == ENOSPC ? "the spool is full" : note_errno(error));
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

/* A dump reads the spool while it grows, so what is known goes there first. */
static void
write_profile(const struct requests_item *request)
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
    if (config_name_dump(files, dump) != 0) {
        requests_answer(request, EEXIST, "there are too many dumps");
        return;
    }
    output_arguments(config, dump, NULL, arguments);
    run_job(request, arguments, -1, WRITE_NS);
}

/* The command that asked reads them in the spool; a call has them in its own
 * memory, too, as addresses. */
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
        write_profile(request);
        break;
    default:
        requests_answer(request, ENOSYS, "this version does not know that");
    }
}

void
service_heed(void)
{
    struct requests_item request;
    requests_unblock_threads();
    if (job.is_there && spawn_is_over(&job.spawned, false))
        end_job(job.spawned.error);
    while (!job.is_there && requests_next(&request))
        do_request(&request);
}

void
service_end(void)
{
    uint64_t until = clock_now() + LAST_NS;
    while ((job.is_there || requests_is_wanted()) && !clock_expires(until)) {
        if (job.is_there && spawn_is_over(&job.spawned, true))
            end_job(job.spawned.error);
        service_heed();
    }
    if (job.is_there)
        spawn_kill();
}
