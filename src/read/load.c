/* SPDX-License-Identifier: MIT */
/*
 * load.c -- opens a spool, adds it and reports problems. A damaged spool is a
 * normal case here: a crash leaves one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/reader.h"
#include "spool.h"
#include "file_kind.h"
#include "pprof.h"
#include "join.h"
#include "load.h"

/* An error text to which sentences are appended. */
struct sentences {
    char *text;
    size_t size;
};

/* Append "NAME: SENTENCE", after a semicolon if it is not the first. */
static void
say(struct sentences *error, const char *name, const char *sentence)
{
    size_t length = strlen(error->text);
    snprintf(error->text + length, error->size - length, "%s%s%s%s",
             length > 0 ? "; " : "", name, name[0] != '\0' ? ": " : "",
             sentence);
}

/* Note that processes from FIRST on were read from the spool at PATH. Returns
 * 0, or -1 if memory is short. */
static int
note_path(struct profile *profile, uint32_t first, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = profile_block(profile, size);
    if (copy == NULL)
        return -1;
    memcpy(copy, path, size);
    for (uint32_t i = first; i < profile->process_count; i++)
        profile->processes[i].spool = copy;
    return 0;
}

/* Add the records of READER. PREFIX is NAME if the reader's sentences lack it,
 * else "". Returns as load_file. */
static int
add_spool(struct profile *profile, struct reader *reader, const char *name,
          const char *prefix, struct sentences *error)
{
    uint64_t records = profile->records, problems = profile->problems;
    if (spool_add(profile, reader) != 0) {
        say(error, name, strerror(errno));
        return -1;
    }
    if (reader_problem(reader) != NULL)
        say(error, prefix, reader_problem(reader));
    problems = profile->problems - problems;
    if (problems > 0) {
        char text[64];
        snprintf(text, sizeof(text),
                 "%llu records make no sense and are unused",
                 (unsigned long long)problems);
        say(error, name, text);
    }
    if (profile->records > records)
        return 0;
    say(error, name, "there is no valid record in it");
    return -1;
}

/* Say that the file whose first LENGTH bytes are at BYTES is no profile;
 * returns -1. */
static int
refuse(struct sentences *error, const char *name, const void *bytes,
       size_t length)
{
    char sentence[256] = "neither a pprof file nor a spool";
    char kind[200];
    file_kind(bytes, length, kind, sizeof(kind));
    if (kind[0] != '\0')
        snprintf(sentence, sizeof(sentence),
                 "neither a pprof file nor a spool (%s)", kind);
    say(error, name, sentence);
    return -1;
}

/* Report that a pprof file cannot be used, because it is WRONG. A file that is
 * compressed, or only begins like one, may be of any other kind. */
static int
refuse_pprof(struct sentences *error, const char *name, const void *bytes,
             size_t length, const char *wrong)
{
    char text[256];
    file_kind(bytes, length, text, sizeof(text));
    if (text[0] != '\0')
        return refuse(error, name, bytes, length);
    snprintf(text, sizeof(text), "not a usable pprof profile: %s",
             wrong != NULL ? wrong : strerror(ENOMEM));
    say(error, name, text);
    return -1;
}

/* Add a pprof profile, whole or not at all. Returns as load_file. */
static int
add_pprof(struct profile *profile, const void *bytes, size_t length,
          const char *name, struct sentences *error)
{
    uint64_t records = profile->records;
    const char *wrong;
    if (pprof_read(profile, bytes, length, &wrong) != 0)
        return refuse_pprof(error, name, bytes, length, wrong);
    if (profile->records > records) {
        profile->is_from_pprof = true;
        if (wrong != NULL)
            say(error, name, wrong);
        return 0;
    }
    say(error, name, "there is no sample in it");
    return -1;
}

/* Read the whole of FILE, for the caller to free; NULL with errno set. */
static char *
read_whole(FILE *file, size_t *length)
{
    size_t room = 64 * 1024;
    char *bytes = malloc(room);
    *length = 0;
    while (bytes != NULL) {
        *length += fread(bytes + *length, 1, room - *length, file);
        if (*length < room && ferror(file) == 0)
            return bytes;
        char *more = ferror(file) == 0 ? realloc(bytes, 2 * room) : NULL;
        if (more == NULL)
            free(bytes);
        bytes = more;
        room *= 2;
    }
    return NULL;
}

/* Add PATH if it is a pprof file. Returns 1 if it may be a spool, else as
 * load_file. */
static int
try_pprof(struct profile *profile, const char *path, struct sentences *error)
{
    struct stat now = {0};
    FILE *file = stat(path, &now) == 0 && S_ISREG(now.st_mode)
                     ? fopen(path, "re")
                     : NULL;
    int status = 1;
    if (file == NULL)
        return 1;
    char head[FILE_KIND_BYTES];
    size_t length = fread(head, 1, sizeof(head), file);
    if (ferror(file) == 0 && !pprof_recognize(head, length) &&
        !reader_recognize(path)) {
        status = refuse(error, path, head, length);
    } else if (pprof_recognize(head, length)) {
        rewind(file);
        char *bytes = read_whole(file, &length);
        if (bytes == NULL)
            say(error, path, strerror(errno));
        status =
            bytes == NULL ? -1 : add_pprof(profile, bytes, length, path, error);
        free(bytes);
    }
    fclose(file);
    return status;
}

/* ATTEMPTS: limit of the openings of both files of a recorder. The recorder may
 * rotate them between two looks. */
enum { ATTEMPTS = 10 };

/* Open the spool before the one at PATH with HEADER; NULL if there is no usable
 * one. *HAS_TURNED: the recorder rotated, and both are now the same spool. */
static struct reader *
open_past(const char *path, const struct spool_header *header, bool *has_turned)
{
    struct reader *reader = reader_open_past(path, header);
    *has_turned =
        reader != NULL && reader_header(reader)->begin >= header->begin;
    if (!*has_turned)
        return reader;
    reader_end(reader);
    return NULL;
}

/* Open the spool at PATH, and in *PAST the one before it. NULL, with a sentence
 * in ERROR, if the first cannot be opened. */
static struct reader *
open_both(const char *path, struct reader **past, char *error, size_t size)
{
    struct reader *reader = NULL;
    bool has_turned = true;
    for (int i = 0; has_turned && i < ATTEMPTS; i++) {
        reader_end(reader);
        reader = reader_open(path, error, size);
        if (reader == NULL)
            return NULL;
        *past = open_past(path, reader_header(reader), &has_turned);
    }
    return reader;
}

bool
load_is_recorder(const char *path)
{
    char unused[4096 + 256];
    struct reader *reader = reader_open(path, unused, sizeof(unused));
    bool is_recorder = reader != NULL && reader_header(reader)->keep != 0;
    reader_end(reader);
    return is_recorder;
}

/* Add the spool of READER (NULL: nothing), unless the profile has it, and end
 * READER. Returns 0, or -1 if nothing of it is in the profile. */
static int
add_once(struct profile *profile, struct reader *reader, const char *path,
         struct sentences *error)
{
    int status = -1;
    if (reader != NULL && join_is_there(profile, reader_header(reader)))
        status = 0;
    else if (reader != NULL)
        status = add_spool(profile, reader, path, "", error);
    reader_end(reader);
    return status;
}

/* The reader's own sentences begin with the path. */
int
load_file(struct profile *profile, const char *path, char *error, size_t size)
{
    struct sentences sentences = {error, size};
    struct reader *past = NULL;
    error[0] = '\0';
    uint32_t first = profile->process_count;
    int status = try_pprof(profile, path, &sentences);
    if (status <= 0)
        return status;
    struct reader *reader = open_both(path, &past, error, size);
    if (reader == NULL)
        return -1;
    status = add_once(profile, past, path, &sentences);
    if (add_once(profile, reader, path, &sentences) == 0)
        status = 0;
    if (status == 0 && note_path(profile, first, path) != 0)
        status = -1;
    return status;
}

int
load_memory(struct profile *profile, const void *bytes, size_t length,
            const char *name, char *error, size_t size)
{
    struct sentences sentences = {error, size};
    char reason[256] = "";
    error[0] = '\0';
    if (pprof_recognize(bytes, length))
        return add_pprof(profile, bytes, length, name, &sentences);
    if (length < sizeof(uint64_t) ||
        memcmp(bytes, SPOOL_MAGIC, sizeof(uint64_t)) != 0)
        return refuse(&sentences, name, bytes, length);
    struct reader *reader =
        reader_open_memory(bytes, length, reason, sizeof(reason));
    if (reader == NULL) {
        say(&sentences, name, reason);
        return -1;
    }
    int status = add_spool(profile, reader, name, name, &sentences);
    reader_end(reader);
    return status;
}

/* UNSEEN_LEAST: the least unseen CPU time that is reported, in ns; less would
 * be shown as 0.000 s. Less than a percent may be nothing, too: the kernel's
 * account of a process is exact to a microsecond (getrusage(2)), and the clocks
 * are read one after the other. */
enum { UNSEEN_LEAST = 1000000 };

void
load_note_tree(struct profile *profile, uint64_t tree_cpu)
{
    struct profile_cost *cost = &profile->cost;
    uint64_t told = profile->totals[VALUE_CPU];
    sum_add(&told, cost->sampler_cpu);
    if (tree_cpu > INT64_MAX || told >= tree_cpu ||
        tree_cpu - told < tree_cpu / 100 || tree_cpu - told < UNSEEN_LEAST)
        return;
    cost->tree_cpu = tree_cpu;
    cost->unseen_cpu = tree_cpu - told;
}
