/* SPDX-License-Identifier: MIT */
/*
 * output.c -- runs libsprof-report.so, which stands beside this library, so
 * that it writes the profile; see output.h. Runs once, on the thread that ends
 * the process, after sampling has stopped.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/text.h"
#include "write/report.h"
#include "output.h"
#include "spawn.h"

#define REPORT_NAME "libsprof-report.so"

static char report_path[PATH_MAX];

void
output_begin(void)
{
    Dl_info self;
    struct text text;
    char resolved[PATH_MAX];
    text_begin(&text, report_path, sizeof(report_path));
    if (dladdr((void *)&output_begin, &self) == 0 || self.dli_fname == NULL)
        return;
    const char *path = realpath(self.dli_fname, resolved);
    if (path == NULL)
        return;
    const char *slash = strrchr(path, '/');
    text_add_bytes(&text, path, (size_t)(slash + 1 - path));
    text_add(&text, REPORT_NAME);
}

static int
keep_spool(const struct config_files *files, const char *what, const char *why)
{
    note(NOTE_ERROR, what, why, "; the samples are kept in ", files->spool,
         " (sprofile report reads them)", NULL);
    return -1;
}

int
output_write(const struct config *config, const struct config_files *files,
             struct output_result *result)
{
    uint64_t start = clock_now();
    const char *arguments[CONFIG_OUTPUTS + 5] = {report_path, SPROF_REPORT_ABI,
                                                 config->options.inlines.number
                                                     ? "1"
                                                     : "0",
                                                 files->spool};
    char answer[1024];
    for (unsigned i = 0; i < files->count; i++)
        arguments[4 + i] = files->outputs[i];
    if (spawn_run(report_path, arguments, answer, sizeof(answer)) != 0) {
        char what[PATH_MAX + 32];
        struct text text;
        text_begin(&text, what, sizeof(what));
        text_add(&text, "cannot run ");
        text_add(&text, report_path);
        text_add(&text, ": ");
        return keep_spool(files, what, note_errno(errno));
    }
    result->ns = clock_now() - start;
    answer[strcspn(answer, "\n")] = '\0';
    if (strcmp(answer, SPROF_REPORT_OK) != 0)
        return keep_spool(files, answer,
                          answer[0] == '\0' ? REPORT_NAME " broke off" : "");
    if (config->options.keep_spool.number == 0)
        unlink(files->spool);
    return 0;
}
