/* SPDX-License-Identifier: MIT */
/*
 * output.c -- see output.h. libsprof-report.so writes the profile. It is in the
 * directory of this library. The sampler thread runs it after its last sample
 * (sampler_run). Without a sampler thread, the thread that ends the
 * process runs it. The ending thread waits meanwhile, perhaps in a signal
 * handler. So output_convert_spool neither allocates nor locks. The sampler has
 * no stderr, so the ending thread prints the messages.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/options.h"
#include "base/text.h"
#include "process/modules.h"
#include "write/report.h"
#include "claim.h"
#include "crowd.h"
#include "spawn.h"
#include "output.h"

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

/* Add PATH to TEXT, quoted as one word of a shell command. */
static void
add_word(struct text *text, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%=";
    bool is_plain = path[strspn(path, plain)] == '\0';
    text_add(text, is_plain ? "" : "'");
    for (; *path != '\0'; path++)
        if (*path == '\'')
            text_add(text, "'\\''");
        else
            text_add_bytes(text, path, 1);
    text_add(text, is_plain ? "" : "'");
}

int
output_keep_spool(const struct config_files *files,
                  struct output_result *result, const char *what,
                  const char *why)
{
    struct text text;
    text_begin(&text, result->complaint, sizeof(result->complaint));
    text_add(&text, what);
    text_add(&text, why);
    text_add(&text, "; the samples are kept; to make it: ");
    for (unsigned i = 0; i < files->count; i++) {
        text_add(&text, i == 0 ? "sprofile convert " : " && sprofile convert ");
        add_word(&text, files->spool);
        text_add(&text, " ");
        add_word(&text, files->outputs[i]);
    }
    if (!text.cut)
        return -1;
    /* A truncated command is useless. Name only the spool. */
    text_begin(&text, result->complaint, sizeof(result->complaint));
    text_add(&text, what);
    text_add(&text, why);
    text_add(&text, "; the samples are kept in ");
    text_add(&text, files->spool);
    return -1;
}

/* Report that the spool is lost. The sampler could not put it back when it
 * closed the spool. */
static int
tell_lost(struct output_result *result)
{
    struct text text;
    text_begin(&text, result->complaint, sizeof(result->complaint));
    text_add(&text, "the spool was removed or moved while it was written, and "
                    "could not be put back: no profile is written");
    return -1;
}

/* Report that libsprof-report.so could not be run, or had too little time
 * (ETIME). */
static int
fail_to_run(const struct config *config, const struct config_files *files,
            struct output_result *result, int error)
{
    static char what[PATH_MAX + 32];
    struct text text;
    text_begin(&text, what, sizeof(what));
    result->is_late = error == ETIME;
    if (error != ETIME) {
        text_add(&text, "cannot run ");
        text_add(&text, report_path);
        text_add(&text, ": ");
        return output_keep_spool(files, result, what, note_errno(error));
    }
    text_add(&text, "the end took longer than SPROF_EXIT_MS=");
    text_add_number(&text, config->options.exit_ms.number);
    return output_keep_spool(files, result, what, "");
}

/* When a place is free, run ARGUMENTS until CLOCK_MONOTONIC UNTIL at most.
 * Returns 0, or errno. */
static int
run(const char *const arguments[], uint64_t until, char *answer, size_t size)
{
    int error = ETIME;
    bool has_place = crowd_enter_until(CROWD_WRITING, until);
    uint64_t now = clock_now();
    if (has_place && now < until)
        error =
            spawn_run(arguments, until - now, answer, size) == 0 ? 0 : errno;
    crowd_leave(CROWD_WRITING);
    return error;
}

/* Whether a wanted profile has the spool's own name. Such a profile has
 * replaced the spool. */
static bool
is_replaced(const struct config_files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (strcmp(files->outputs[i], files->spool) == 0)
            return true;
    return false;
}

void
output_arguments(const struct config *config, const struct config_files *files,
                 const char *nonce, const char *arguments[OUTPUT_ARGUMENTS])
{
    memset(arguments, 0, OUTPUT_ARGUMENTS * sizeof(arguments[0]));
    *arguments++ = report_path;
    *arguments++ = SPROF_REPORT_ABI;
    if (nonce != NULL)
        *arguments++ = SPROF_REPORT_STACKS;
    *arguments++ = config->options.inlines.number ? "1" : "0";
    *arguments++ = files->spool;
    for (unsigned i = 0; nonce == NULL && i < files->count; i++)
        *arguments++ = files->outputs[i];
    *arguments = nonce;
}

bool
output_is_ok(char *answer)
{
    answer[strcspn(answer, "\n")] = '\0';
    return strcmp(answer, SPROF_REPORT_OK) == 0;
}

int
output_convert_spool(const struct config *config,
                     const struct config_files *files, uint64_t until,
                     struct output_result *result)
{
    static char answer[OUTPUT_ANSWER];
    result->ns = 0;
    result->is_late = false;
    if (claim_is_other(files->spool, files->pid, files->start))
        return tell_lost(result);
    uint64_t start = clock_now();
    const char *arguments[OUTPUT_ARGUMENTS];
    output_arguments(config, files, NULL, arguments);
    int error = run(arguments, until, answer, sizeof(answer));
    result->ns = clock_now() - start;
    if (error != 0)
        return fail_to_run(config, files, result, error);
    if (!output_is_ok(answer))
        return output_keep_spool(files, result, answer,
                                 answer[0] == '\0' ? REPORT_NAME " broke off"
                                                   : "");
    if (config->options.keep_spool.number == 0)
        (void)config_remove_spools(files, !is_replaced(files));
    return 0;
}

/* Whether the command that records has other mounts than this process: there a
 * path may lead to another file. */
static bool
has_other_mounts(const struct config_files *files)
{
    char link[PATH_MAX], theirs[64], ours[64];
    struct text text;
    text_begin(&text, link, sizeof(link));
    text_add_bytes(&text, files->spool,
                   (size_t)(strrchr(files->spool, '/') + 1 - files->spool));
    text_add(&text, RECORDING_MOUNTS);
    ssize_t length = readlink(link, theirs, sizeof(theirs));
    ssize_t own = readlink("/proc/self/ns/mnt", ours, sizeof(ours));
    return length > 0 && own > 0 &&
           (length != own || memcmp(theirs, ours, (size_t)own) != 0);
}

void
output_name_spool(const struct config *config, const struct config_files *files,
                  uint64_t until)
{
    static char answer[OUTPUT_ANSWER];
    if (claim_is_other(files->spool, files->pid, files->start) ||
        (!modules_have_left() && !has_other_mounts(files)))
        return;
    const char *arguments[OUTPUT_ARGUMENTS];
    output_arguments(config, files, NULL, arguments);
    arguments[4] = files->spool;
    arguments[5] = NULL;
    (void)run(arguments, until, answer, sizeof(answer));
}
