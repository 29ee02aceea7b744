/* SPDX-License-Identifier: MIT */
/*
 * load.c -- opens a spool, adds it and says what was found. A damaged spool is
 * a normal case here: it is what a crash leaves behind.
 */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/reader.h"

#include "build.h"

/* An error text that sentences are added to. */
struct sentences {
    char *text;
    size_t size;
};

/* Add "NAME: SENTENCE", behind a semicolon if it is not the first. */
static void
say(struct sentences *error, const char *name, const char *sentence)
{
    size_t length = strlen(error->text);

    snprintf(error->text + length, error->size - length, "%s%s%s%s",
             length > 0 ? "; " : "", name, name[0] != '\0' ? ": " : "",
             sentence);
}

/* Add the records. PREFIX is what the reader's sentences lack of the name. */
static int
add(struct profile *profile, struct reader *reader, const char *name,
    const char *prefix, struct sentences *error)
{
    uint64_t records = profile->records, problems = profile->problems;
    char text[64];

    if (build_add(profile, reader) < 0) {
        say(error, name, strerror(errno));
        return -1;
    }
    if (reader_problem(reader) != NULL)
        say(error, prefix, reader_problem(reader));
    problems = profile->problems - problems;
    if (problems > 0) {
        snprintf(text, sizeof text, "%llu records make no sense and are unused",
                 (unsigned long long)problems);
        say(error, name, text);
    }
    if (profile->records > records)
        return 0;
    say(error, name, "there is no valid record in it");
    return -1;
}

/* The reader's own sentences begin with the path. */
int
load_file(struct profile *profile, const char *path, char *error, size_t size)
{
    struct sentences sentences = {error, size};
    struct reader *reader;
    int status;

    error[0] = '\0';
    reader = reader_open(path, error, size);
    if (reader == NULL)
        return -1;
    status = add(profile, reader, path, "", &sentences);
    reader_end(reader);
    return status;
}

int
load_memory(struct profile *profile, const void *bytes, size_t length,
            const char *name, char *error, size_t size)
{
    struct sentences sentences = {error, size};
    char reason[256] = "";
    struct reader *reader =
        reader_open_memory(bytes, length, reason, sizeof reason);
    int status;

    error[0] = '\0';
    if (reader == NULL) {
        say(&sentences, name, reason);
        return -1;
    }
    status = add(profile, reader, name, name, &sentences);
    reader_end(reader);
    return status;
}
