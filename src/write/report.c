/* SPDX-License-Identifier: MIT */
/*
 * report.c -- what libsprof-report.so does: spool to profile to outputs. It
 * prints nothing; whatever goes wrong is a sentence in report->error. Numbers
 * must not get a decimal comma, so the calling thread has the C locale
 * meanwhile.
 */
#include "report.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "profile/load.h"
#include "profile/profile.h"
#include "profile/sequel.h"

#include "output.h"
#include "stacks_report.h"

/* A program that was sent a signal has 8 s to end, and servers may take two
 * seconds more than they are given. */
enum { SERVER_SECONDS = 3 };

/* Add a sentence to the errors; they share one line. */
static void
add_error(struct sprof_report *report, const char *sentence)
{
    size_t length = strlen(report->error);

    snprintf(report->error + length, sizeof report->error - length, "%s%s",
             length > 0 ? "; " : "", sentence);
}

/* Whether names may be spared: not where the file that they are for takes the
 * place of the spool, from which others could be made later. */
static bool
may_spare(const struct sprof_report *report)
{
    for (size_t i = 0; i < report->output_count; i++)
        if (format_of(report->outputs[i]) == FORMAT_SPOOL)
            return false;
    return true;
}

/* Read the spool into a new profile; NULL if that is not possible. */
static struct profile *
load(struct sprof_report *report)
{
    const struct symbolizer_options options = {.inlines = report->inlines != 0,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    struct profile *profile = profile_new(&options);
    char error[sizeof report->error] = "";

    if (profile == NULL) {
        add_error(report, strerror(errno));
        return NULL;
    }
    profile->spares_names = may_spare(report);
    profile->keeps_events = load_is_recorder(report->spool);
    for (size_t i = 0; i < report->output_count; i++)
        if (output_needs_events(report->outputs[i]))
            profile->keeps_events = true;
    load_file(profile, report->spool, error, sizeof error);
    if (error[0] != '\0')
        add_error(report, error);
    if (sequel_keep(profile) < 0)
        add_error(report, strerror(ENOMEM));
    return profile;
}

static void
write_outputs(struct sprof_report *report, struct profile *profile)
{
    for (size_t i = 0; i < report->output_count; i++) {
        char error[sizeof report->error] = "";
        if (output_write(report->outputs[i], profile, error, sizeof error) < 0)
            add_error(report, error);
    }
}

static void
run(struct sprof_report *report)
{
    struct profile *profile = load(report);

    if (profile == NULL)
        return;
    report->samples = profile->totals[VALUE_SAMPLES];
    report->threads = profile_busy_threads(profile);
    if (report->samples > 0)
        write_outputs(report, profile);
    profile_free(profile);
}

/* Numbers must not get a decimal comma. Returns the locale of before, for
 * end_plain. */
static locale_t
begin_plain(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    return plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
}

static void
end_plain(locale_t before)
{
    locale_t plain;

    if (before == (locale_t)0)
        return;
    plain = uselocale(before);
    freelocale(plain);
}

int
sprof_report_write(struct sprof_report *report)
{
    locale_t before = begin_plain();

    report->samples = 0;
    report->threads = 0;
    report->error[0] = '\0';
    run(report);
    end_plain(before);
    return report->error[0] != '\0' ? -1 : 0;
}

/* Nothing is kept of what was printed. */
int
sprof_report_stacks(struct sprof_report *report, int fd, uint32_t nonce)
{
    locale_t before = begin_plain();
    int result;

    report->error[0] = '\0';
    result = stacks_report_write(fd, report->spool, nonce, report->inlines,
                                 report->error, sizeof report->error);
    end_plain(before);
    return result;
}
