/* SPDX-License-Identifier: MIT */
/*
 * report.c -- the work of libsprof-report.so: spool to profile to outputs. It
 * prints nothing; report->error describes every failure. The calling thread has
 * the C locale meanwhile, so that numbers have no decimal comma.
 *
 * Stacks go to a descriptor of the program. It may be a stopped terminal, or a
 * pipe that no process reads. It may be non-blocking, which must not be
 * changed. The text is made first and then written in as few calls as the
 * descriptor allows. So the program's own output stands before it or after it.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/stacks.h"
#include "model/folding.h"
#include "model/profile.h"
#include "read/join.h"
#include "read/load.h"
#include "show/stacks_text.h"
#include "output_file.h"
#include "report.h"

/* Seconds to wait for debuginfod servers. A program that was sent a signal has
 * 8 s to end. Servers may take 2 s more than they are given. */
enum { SERVER_SECONDS = 3 };

/* Seconds to wait for a reader of the stacks that does not read. */
enum { READER_SECONDS = 5 };

/* Add a sentence to the errors; all stand in one line. */
static void
add_error(struct sprof_report *report, const char *sentence)
{
    size_t length = strlen(report->error);
    snprintf(report->error + length, sizeof(report->error) - length, "%s%s",
             length > 0 ? "; " : "", sentence);
}

/* Whether unneeded names may be left out. They may not if an output is a spool:
 * it replaces the spool from which other outputs could be made later. */
static bool
may_spare(const struct sprof_report *report)
{
    for (size_t i = 0; i < report->output_count; i++)
        if (format_of(report->outputs[i]) == FORMAT_SPOOL)
            return false;
    return true;
}

static struct symbolizer_options
symbols_of(const struct sprof_report *report)
{
    return (struct symbolizer_options){.inlines = report->inlines != 0,
                                       .server_seconds = SERVER_SECONDS};
}

/* Read the spool into a new profile; NULL on failure. */
static struct profile *
load_spool(struct sprof_report *report)
{
    const struct symbolizer_options options = symbols_of(report);
    struct profile *profile = profile_new(&options);
    char error[sizeof(report->error)] = "";
    if (profile == NULL) {
        add_error(report, strerror(errno));
        return NULL;
    }
    profile->spares_names = may_spare(report);
    profile->keeps_events = load_is_recorder(report->spool);
    for (size_t i = 0; i < report->output_count; i++)
        if (format_needs_events(format_of(report->outputs[i])))
            profile->keeps_events = true;
    load_file(profile, report->spool, error, sizeof(error));
    if (error[0] != '\0')
        add_error(report, error);
    if (join_shorten(profile) != 0)
        add_error(report, strerror(ENOMEM));
    folding_apply(profile);
    return profile;
}

static void
write_outputs(struct sprof_report *report, struct profile *profile)
{
    for (size_t i = 0; i < report->output_count; i++) {
        char error[sizeof(report->error)] = "";
        if (output_file_write(report->outputs[i], profile, error,
                              sizeof(error)) != 0)
            add_error(report, error);
    }
}

static void
make_outputs(struct sprof_report *report)
{
    struct profile *profile = load_spool(report);
    if (profile == NULL)
        return;
    report->samples = profile->totals[VALUE_SAMPLES];
    report->threads = profile_busy_threads(profile);
    if (report->samples > 0)
        write_outputs(report, profile);
    profile_free(profile);
}

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
print_stacks(struct sprof_report *report, int fd, struct stacks *stacks)
{
    size_t length;
    char *text = make_text(stacks, &length);
    int result = -1;
    if (text == NULL)
        add_error(report, strerror(errno));
    else if (write_all(fd, text, length) != 0)
        snprintf(report->error, sizeof(report->error),
                 "cannot write the stacks of all threads: %s", strerror(errno));
    else
        result = 0;
    free(text);
    return result;
}

/* SIGPIPE is ignored: it would end the process before it can say what failed.
 */
static int
write_stacks(struct sprof_report *report, int fd, uint32_t nonce)
{
    const struct symbolizer_options options = symbols_of(report);
    struct stacks *stacks = stacks_open(report->spool, &options, report->error,
                                        sizeof(report->error));
    int result = -1;
    if (stacks == NULL)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    if (stacks_read(stacks, report->error, sizeof(report->error)) == 0) {
        if (stacks->nonce == nonce)
            result = print_stacks(report, fd, stacks);
        else
            snprintf(report->error, sizeof(report->error),
                     "%s has the stacks of another request (%u, not %u)",
                     report->spool, stacks->nonce, nonce);
    }
    stacks_close(stacks);
    return result;
}

/* Switch the thread to the C locale: numbers must not have a decimal comma.
 * Returns the previous locale, for end_plain. */
static locale_t
begin_plain(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
}

static void
end_plain(locale_t before)
{
    if (before == (locale_t)0)
        return;
    locale_t plain = uselocale(before);
    freelocale(plain);
}

int
sprof_report_write(struct sprof_report *report)
{
    locale_t before = begin_plain();
    report->samples = 0;
    report->threads = 0;
    report->error[0] = '\0';
    make_outputs(report);
    end_plain(before);
    return report->error[0] != '\0' ? -1 : 0;
}

/* The printed text is not kept. */
int
sprof_report_stacks(struct sprof_report *report, int fd, uint32_t nonce)
{
    locale_t before = begin_plain();
    report->error[0] = '\0';
    int result = write_stacks(report, fd, nonce);
    end_plain(before);
    return result;
}
