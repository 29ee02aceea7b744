/* SPDX-License-Identifier: MIT */
/*
 * beside.c -- see beside.h. The state of a push is in a directory beside the
 * spools. It is removed, unless requests wait in it that no server took.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "beside.h"

/* WORDS_MOST: words of all options of a push. */
enum { WORDS_MOST = 128 };

static const char blanks[] = " \t\n";

/* Cut the first word off *TEXT. Blanks between quotes are part of it. Returns
 * the word, which is moved in place, or NULL at the end. */
static char *
next_word(char **text)
{
    char *from = *text + strspn(*text, blanks), *word = from, *to = from;
    char quote = '\0';
    if (*from == '\0')
        return NULL;
    for (; *from != '\0' && (quote != '\0' || strchr(blanks, *from) == NULL);
         from++) {
        if (quote == '\0' ? *from == '\'' || *from == '"' : *from == quote)
            quote = quote == '\0' ? *from : '\0';
        else
            *to++ = *from;
    }
    *text = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return word;
}

/* Start HELPER. Returns an exit status. */
static int
start(struct helper *helper, const char *const *arguments)
{
    int status = helper_start(helper, arguments);
    return status >= 0 ? status : command_complain("%s", strerror(errno));
}

static int
start_server(struct beside *beside, const char *directory)
{
    const char *arguments[] = {"sprofile", "serve",         "--only", directory,
                               "--listen", beside->address, NULL};
    if (beside->address == NULL)
        arguments[4] = NULL;
    return start(&beside->server, arguments);
}

/* A URL alone is that of a collector. */
static int
start_pusher(struct beside *beside, const char *directory)
{
    const char *arguments[WORDS_MOST + 1] = {"sprofile", "push",
                                             "--only",   directory,
                                             "--state",  beside->state,
                                             NULL};
    char *options = strdup(beside->push), *rest = options, *word;
    unsigned count = 6;
    if (options == NULL)
        return command_complain("%s", strerror(errno));
    if (options[strspn(options, blanks)] != '-')
        arguments[count++] = "--otlp";
    while (count < WORDS_MOST && (word = next_word(&rest)) != NULL)
        arguments[count++] = word;
    arguments[count] = NULL;
    int status = start(&beside->pusher, arguments);
    free(options);
    return status;
}

int
beside_begin(struct beside *beside, const char *directory, bool is_quiet)
{
    int status = STATUS_DONE;
    snprintf(beside->state, sizeof(beside->state), "%s.push", directory);
    if (beside->is_serving)
        status = start_server(beside, directory);
    if (status == STATUS_DONE && beside->push != NULL)
        status = start_pusher(beside, directory);
    if (status != STATUS_DONE)
        beside_end(beside);
    if (status == STATUS_DONE && beside->is_serving && !is_quiet)
        fprintf(stderr, "sprof: serving %s\n", beside->server.line);
    return status;
}

/* Remove the directory of the state, if no request waits in it. Returns how
 * many do. */
static unsigned
remove_state(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    unsigned waiting = 0;
    if (directory == NULL)
        return 0;
    /* Requests have names that begin with a number of 16 digits. */
    while ((entry = readdir(directory)) != NULL)
        waiting += strspn(entry->d_name, "0123456789abcdef") == 16;
    rewinddir(directory);
    while (waiting == 0 && (entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    if (waiting == 0)
        rmdir(path);
    return waiting;
}

void
beside_end(struct beside *beside)
{
    helper_end(&beside->pusher);
    helper_end(&beside->server);
    unsigned waiting = beside->push != NULL ? remove_state(beside->state) : 0;
    if (waiting > 0)
        command_complain("%u request%s could not be sent; `sprofile push "
                         "--state %s` with the same options sends them",
                         waiting, waiting == 1 ? "" : "s", beside->state);
}
