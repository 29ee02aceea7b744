/* SPDX-License-Identifier: MIT */
/*
 * report.c -- what libsprof-report.so does: spool to profile to outputs. It
 * prints nothing; report->error describes every failure. The calling thread has
 * the C locale meanwhile, so that numbers have no decimal comma.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "model/profile.h"
#include "read/load.h"
#include "read/join.h"
#include "output.h"
#include "stacks_report.h"
#include "report.h"

/* Seconds to wait for debuginfod servers. A program that was sent a signal has
 * 8 s to end. Servers may take 2 s more than they are given. */
enum { SERVER_SECONDS = 3 };

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

/* Read the spool into a new profile; NULL on failure. */
static struct profile *
load_spool(struct sprof_report *report)
{
    const struct symbolizer_options options = {.inlines = report->inlines != 0,
                                               .server_seconds =
                                                   SERVER_SECONDS};
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
    return profile;
}

static void
write_outputs(struct sprof_report *report, struct profile *profile)
{
    for (size_t i = 0; i < report->output_count; i++) {
        char error[sizeof(report->error)] = "";
        if (output_write(report->outputs[i], profile, error, sizeof(error)) !=
            0)
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

/* Nothing is kept of what was printed. */
int
sprof_report_stacks(struct sprof_report *report, int fd, uint32_t nonce)
{
    locale_t before = begin_plain();
    report->error[0] = '\0';
    int result = stacks_report_write(fd, report->spool, nonce, report->inlines,
                                     report->error, sizeof(report->error));
    end_plain(before);
    return result;
}
