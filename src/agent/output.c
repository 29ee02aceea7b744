/* SPDX-License-Identifier: MIT */
/*
 * output.c -- loads libsprof-report.so, which stands beside this library, and
 * lets it write the profile; see output.h. Runs once, on the thread that ends
 * the process, after sampling has stopped. Without RTLD_DEEPBIND (sanitizers
 * abort on it) and RTLD_LOCAL, so that the program's symbols stay as they are.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/text.h"
#include "write/report.h"
#include "output.h"

#define REPORT_NAME "libsprof-report.so"

static char report_path[PATH_MAX];

void
output_begin(void)
{
    Dl_info self;
    struct text text;
    text_begin(&text, report_path, sizeof(report_path));
    if (dladdr((void *)&output_begin, &self) == 0 || self.dli_fname == NULL)
        return;
    char resolved[PATH_MAX];
    const char *path = realpath(self.dli_fname, resolved);
    if (path == NULL)
        return;
    const char *slash = strrchr(path, '/');
    text_add_bytes(&text, path, (size_t)(slash + 1 - path));
    text_add(&text, REPORT_NAME);
}

static int
keep_spool(const struct config_files *files, const char *why)
{
    note(NOTE_ERROR, why, "; the samples are kept in ", files->spool,
         " (sprofile report reads them)", NULL);
    return -1;
}

static int
run_report(const struct config *config, const struct config_files *files,
           int (*write)(struct sprof_report *))
{
    const char *outputs[CONFIG_OUTPUTS];
    for (unsigned i = 0; i < files->count; i++)
        outputs[i] = files->outputs[i];
    struct sprof_report report = {.abi = SPROF_REPORT_ABI,
                                  .inlines =
                                      (int)config->options.inlines.number,
                                  .spool = files->spool,
                                  .outputs = outputs,
                                  .output_count = files->count};
    if (write(&report) != 0)
        return keep_spool(files, report.error);
    if (config->options.keep_spool.number == 0)
        unlink(files->spool);
    return 0;
}

int
output_write(const struct config *config, const struct config_files *files,
             struct output_result *result)
{
    uint64_t start = clock_now();
    void *library = dlopen(report_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return keep_spool(files, why != NULL ? why : report_path);
    }
    int (*write)(struct sprof_report *) = dlsym(library, "sprof_report_write");
    if (write == NULL)
        return keep_spool(files, REPORT_NAME ": expected sprof_report_write");
    int status = run_report(config, files, write);
    result->ns = clock_now() - start;
    return status;
}
