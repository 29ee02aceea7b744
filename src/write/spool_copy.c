/* SPDX-License-Identifier: MIT */
/*
 * spool_copy.c -- the spools of a profile in one file, with their names. It can
 * be reported where the program and its symbols are missing. If the profile has
 * exactly what some spools have, these are read again, and all their records
 * are copied. Otherwise (parts are from pprof files, or were filtered out) it
 * is made from the model (spool_remake.c). A copy is
 *
 *   header | records of process 1 | TEXT SYMBOL NAMED ... | NEXT |
 *   records of process 2 | TEXT SYMBOL NAMED ...
 *
 * Names that are in a spool are not copied but written again from the model.
 * The same is done with the kernel's CPU time of all processes (TREE), which
 * stands behind the first process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"
#include "store/record.h"
#include "spool_records.h"
#include "output_file.h"

struct spool_copy {
    struct spool_records records;
    uint32_t last_text; /* largest text id of the current process */
};

/* Write the names of all nodes of process NUMBER. Its nodes end where those of
 * the next process begin. */
static int
put_names(struct spool_copy *copy, uint32_t number)
{
    struct spool_records *records = &copy->records;
    const struct profile *profile = records->profile;
    uint32_t first = profile->processes[number].first_node;
    uint32_t end = number + 1 < profile->process_count
                       ? profile->processes[number + 1].first_node
                       : profile->node_count;
    if (spool_records_begin_names(records, copy->last_text + 1) == 0)
        for (uint32_t i = first; i < end && !records->failed; i++)
            if (!profile_is_marker(profile, i))
                spool_records_name(records, i, i - first + 1);
    return spool_records_end_names(records);
}

/* Copy the records of one process. Returns whether the record NEXT ended them;
 * *NEXT is then set. */
static bool
copy_process(struct spool_copy *copy, struct reader *reader,
             struct record_next *next)
{
    copy->last_text = 0;
    enum record_kind kind;
    const void *record;
    while ((record = reader_next(reader, &kind)) != NULL) {
        if (kind == RECORD_NEXT) {
            *next = *(const struct record_next *)record;
            return true;
        }
        if (kind == RECORD_SYMBOL || kind == RECORD_NAMED ||
            kind == RECORD_TREE)
            continue;
        if (kind == RECORD_TEXT &&
            ((const struct record_text *)record)->id > copy->last_text &&
            ((const struct record_text *)record)->id < UINT32_MAX / 2)
            copy->last_text = ((const struct record_text *)record)->id;
        spool_records_copy(&copy->records, kind, record);
    }
    return false;
}

/* Copy the spool of process *NUMBER with all its processes. *NUMBER is then the
 * first process of the next spool. Returns 0, or -1 with errno set. */
static int
copy_spool(struct spool_copy *copy, uint32_t *number)
{
    const struct profile *profile = copy->records.profile;
    const char *path = profile->processes[*number].spool;
    struct record_next next = {0};
    char error[512];
    struct reader *reader = reader_open(path, error, sizeof(error));
    bool goes_on = true;
    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    next.start_monotonic = reader_header(reader)->start_monotonic;
    next.start_realtime = reader_header(reader)->start_realtime;
    next.pid = reader_header(reader)->pid;
    next.machine = reader_header(reader)->machine;
    while (goes_on && *number < profile->process_count &&
           profile->processes[*number].spool == path) {
        if (*number > 0)
            spool_records_add(&copy->records, RECORD_NEXT, &next, sizeof(next),
                              NULL, 0);
        goes_on = copy_process(copy, reader, &next);
        if (put_names(copy, *number) != 0) {
            reader_end(reader);
            errno = ENOMEM;
            return -1;
        }
        if (*number == 0)
            spool_records_tree(&copy->records);
        ++*number;
    }
    reader_end(reader);
    return 0;
}

/* Write the header, which is that of the first process. Returns 0, or -1 with
 * errno set. */
static int
put_header(struct spool_copy *copy)
{
    const struct profile *profile = copy->records.profile;
    char error[512];
    struct reader *reader =
        reader_open(profile->processes[0].spool, error, sizeof(error));
    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    struct spool_header header = *reader_header(reader);
    reader_end(reader);
    header.header_size = sizeof(header);
    header.purpose = SPOOL_RESULT;
    header.version =
        profile->process_count > 1 ? SPOOL_VERSION_SEVERAL : SPOOL_VERSION;
    spool_records_put(&copy->records, &header, sizeof(header));
    return 0;
}

/* Whether PROFILE is exactly the contents of some spools. The spool of a flight
 * recorder does not count: if the process runs, the file has changed. */
static bool
is_whole(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].spool == NULL ||
            profile->processes[i].keep != 0)
            return false;
    return profile->process_count > 0 && profile->filter == NULL;
}

int
spool_copy_write(FILE *stream, struct profile *profile)
{
    struct spool_copy copy = {
        .records = {.stream = stream, .profile = profile}};
    if (!is_whole(profile))
        return spool_remake_write(stream, profile);
    if (put_header(&copy) != 0)
        return -1;
    for (uint32_t i = 0; i < profile->process_count;)
        if (copy_spool(&copy, &i) != 0)
            return -1;
    spool_records_whole(&copy.records);
    return ferror(stream) == 0 ? 0 : -1;
}
