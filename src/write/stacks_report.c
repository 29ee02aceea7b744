/* SPDX-License-Identifier: MIT */
/*
 * stacks_report.c -- see stacks_report.h. The descriptor is the program's: it
 * may be a terminal that is stopped, a pipe that nobody reads, or set not to
 * block, which must not be changed.
 */
#include "stacks_report.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/stacks.h"

#include "stacks_text.h"

/* For debuginfod servers, and for a reader of the text that does not read. */
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

/* A handler, so that the alarm interrupts instead of killing. */
static void
do_nothing(int signo)
{
    (void)signo;
}

/* write(2), which an alarm ends if FD blocks in the middle of it. Who started
 * us may have set an alarm of his own. */
static ssize_t
write_some(int fd, const char *text, size_t length)
{
    const struct sigaction interrupt = {.sa_handler = do_nothing};
    struct sigaction old;
    unsigned before;
    ssize_t written;
    int problem;

    sigaction(SIGALRM, &interrupt, &old);
    before = alarm(READER_SECONDS);
    written = write(fd, text, length);
    problem = errno;
    alarm(0);
    sigaction(SIGALRM, &old, NULL);
    alarm(before);
    errno = problem;
    return written;
}

/* The time begins anew with all that is taken. */
static int
write_all(int fd, const char *text, size_t length)
{
    uint64_t limit = (uint64_t)READER_SECONDS * NS_PER_SECOND;
    uint64_t until = clock_now() + limit;

    while (length > 0) {
        ssize_t written;
        if (wait_for(fd, until) < 0)
            return -1;
        written = write_some(fd, text, length);
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

/* The text; NULL with errno set. The caller frees it. */
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
print(int fd, struct stacks *stacks, char *error, size_t size)
{
    size_t length;
    char *text = make_text(stacks, &length);
    int result = -1;

    if (text == NULL)
        snprintf(error, size, "%s", strerror(errno));
    else if (write_all(fd, text, length) < 0)
        snprintf(error, size, "cannot write the stacks of all threads: %s",
                 strerror(errno));
    else
        result = 0;
    free(text);
    return result;
}

/* SIGPIPE would end us before we can say what failed. */
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
            result = print(fd, stacks, error, size);
        else
            snprintf(error, size,
                     "%s has the stacks of another request (%u, not %u)", path,
                     stacks->nonce, nonce);
    }
    stacks_close(stacks);
    return result;
}
