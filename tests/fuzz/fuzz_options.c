/* SPDX-License-Identifier: MIT */
/*
 * fuzz_options.c -- any bytes as an environment: options, and the templates of
 * file names that come of them. An input holds variables, each ended by a
 * newline or NUL; names of options may be left out: "1=x" is the second row's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config.h"

#include "fuzz.h"

#define VARIABLES 64

/* In the place of the real ones: nothing is removed or renamed here. */
int __wrap_unlink(const char *path);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to,
                     unsigned flags);

int
__wrap_unlink(const char *path)
{
    (void)path;
    return 0;
}

int
__wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to,
                 unsigned flags)
{
    (void)from_fd;
    (void)from;
    (void)to_fd;
    (void)flags;
    errno = to[0] == '/' ? EEXIST : ENOENT;
    return to[0] == '/' && strlen(to) % 2 == 0 ? 0 : -1;
}

/* A copy of the variable of LENGTH bytes at TEXT, its option's name put in. */
static char *
make_variable(const char *text, size_t length)
{
    unsigned row = (unsigned)text[0] - '0';
    const char *name = "";
    char *variable = NULL;

    if (length > 1 && text[1] == '=' && row < option_row_count) {
        name = option_rows[row].variable;
        text++;
        length--;
    }
    if (asprintf(&variable, "%s%.*s", name, (int)length, text) < 0)
        abort();
    return variable;
}

static void
split(const char *text, size_t size, char **environment)
{
    unsigned count = 0;

    for (size_t at = 0, length; at < size && count < VARIABLES;
         at += length + 1) {
        for (length = 0; at + length < size && text[at + length] != '\n' &&
                         text[at + length] != '\0';)
            length++;
        if (length > 0)
            environment[count++] = make_variable(text + at, length);
    }
    environment[count] = NULL;
}

static void
check_error(const char *error, size_t size)
{
    if (error[0] == '\0' || strnlen(error, size) == size)
        abort();
}

static void
name_files(const struct config *config)
{
    static struct config_files files;
    char error[512] = "";

    for (unsigned attempt = 0; attempt <= 2; attempt++) {
        int named = config_name_files(config, 4711, attempt, &files, error,
                                      sizeof(error));
        if (named > 0)
            continue;
        if (named < 0) {
            check_error(error, sizeof(error));
            continue;
        }
        if (files.count == 0 || files.count > CONFIG_OUTPUTS ||
            files.outputs[0][0] != '/' || files.spool[0] != '/')
            abort();
        config_rename_for_exec(&files);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config;
    char *environment[VARIABLES + 1];
    char error[512] = "";
    int result;

    split((const char *)data, size, environment);
    result = config_read(&config, 0, NULL, environment, error, sizeof(error));
    if (result < 0)
        check_error(error, sizeof(error));
    if (result == 0)
        name_files(&config);
    for (unsigned i = 0; environment[i] != NULL; i++)
        free(environment[i]);
    return 0;
}
