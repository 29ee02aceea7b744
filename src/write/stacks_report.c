/* SPDX-License-Identifier: MIT */
/*
 * stacks_report.c -- see stacks_report.h. The descriptor belongs to the
 * program. It may be a stopped terminal, or a pipe that no process reads. It
 * may be non-blocking, which must not be changed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/stacks.h"
#include "show/stacks_text.h"
#include "stacks_report.h"

/* Seconds to wait for debuginfod servers, and for a reader of the text that
 * does not read. */
enum { SERVER_SECONDS = 3, READER_SECONDS = 5 };

/* Wait until FD takes more, at the latest until UNTIL. Returns 0, or -1 with
 * errno set. */
static int
wait_for(int fd, uint64_t until)
{
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    uint64_t now = clock_now();
    int ready = 0;
    if (now < until)
        ready = poll(&event, 1, (int)((until - now) / 1000000 + 1));
    if (ready == 0)
        errno = ETIMEDOUT;
    return ready > 0 || (ready < 0 && errno == EINTR) ? 0 : -1;
}

/* With this handler the alarm interrupts write(2) instead of killing the
 * process. */
static void
do_nothing(int signo)
{
    (void)signo;
}

/* write(2), interrupted by an alarm if FD blocks in the middle of it. The
 * process may have inherited an alarm, which is set again. */
static ssize_t
write_some(int fd, const char *text, size_t length)
{
    const struct sigaction interrupt = {.sa_handler = do_nothing};
    struct sigaction old;
    sigaction(SIGALRM, &interrupt, &old);
    unsigned before = alarm(READER_SECONDS);
    ssize_t written = write(fd, text, length);
    int problem = errno;
    alarm(0);
    sigaction(SIGALRM, &old, NULL);
    alarm(before);
    errno = problem;
    return written;
}

/* Write all of TEXT. The time limit begins anew after each write that takes
 * something. Returns 0, or -1 with errno set. */
static int
write_all(int fd, const char *text, size_t length)
{
    uint64_t limit = (uint64_t)READER_SECONDS * NS_PER_SECOND;
    uint64_t until = clock_now() + limit;
    while (length > 0) {
        if (wait_for(fd, until) != 0)
            return -1;
        ssize_t written = write_some(fd, text, length);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        if (written <= 0)
            continue;
        text += written;
        length -= (size_t)written;
        until = clock_now() + limit;
    }
    return 0;
}

/* The text, which the caller frees; NULL with errno set on failure. */
static char *
make_text(struct stacks *stacks, size_t *length)
{
    const struct stacks_text_options options = {.columns = 0};
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (stream == NULL)
        return NULL;
    if (stacks_text_write(stream, stacks, &options) == 0 && fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* Make the text and write it. */
static int
print_stacks(int fd, struct stacks *stacks, char *error, size_t size)
{
    size_t length;
    char *text = make_text(stacks, &length);
    int result = -1;
    if (text == NULL)
        snprintf(error, size, "%s", strerror(errno));
    else if (write_all(fd, text, length) != 0)
        snprintf(error, size, "cannot write the stacks of all threads: %s",
                 strerror(errno));
    else
        result = 0;
    free(text);
    return result;
}

/* SIGPIPE is ignored: it would end the process before it can say what failed.
 */
int
stacks_report_write(int fd, const char *path, uint32_t nonce, int inlines,
                    char *error, size_t size)
{
    const struct symbolizer_options options = {.inlines = inlines != 0,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    struct stacks *stacks = stacks_open(path, &options, error, size);
    int result = -1;
    if (stacks == NULL)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    if (stacks_read(stacks, error, size) == 0) {
        if (stacks->nonce == nonce)
            result = print_stacks(fd, stacks, error, size);
        else
            snprintf(error, size,
                     "%s has the stacks of another request (%u, not %u)", path,
                     stacks->nonce, nonce);
    }
    stacks_close(stacks);
    return result;
}
