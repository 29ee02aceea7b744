/* SPDX-License-Identifier: MIT */
/*
 * spools.c -- see spools.h. A spool has its counters near its beginning, and
 * they are stored in place (layout.h): a look costs the same however long the
 * spool is. Whether its process lives is asked before the look, so that what is
 * seen of one that does not is final.
 */
#include "spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/recording.h"
#include "store/reader.h"

/* So many records are looked through for the counters. */
enum { RECORDS = 16 };

/* Of a superuser's program, processes change their user, and those that they
 * start then make spools, too. None can read or remove another user's. */
static int
let_others_in(const struct spools *spools)
{
    int error;

    if (geteuid() != 0 || chmod(spools->directory, S_ISVTX | 0733) == 0)
        return 0;
    error = errno;
    rmdir(spools->directory);
    errno = error;
    return -1;
}

int
spools_begin(struct spools *spools, const char *out)
{
    const char *slash = strrchr(out, '/');
    int length = slash != NULL ? (int)(slash - out) + 1 : 0;
    char name[PATH_MAX];

    *spools = (struct spools){.count = 0};
    /* A full path: what the processes get must hold wherever they go. */
    if (snprintf(name, sizeof name, "%.*s.", length, out) >= PATH_MAX - 32 ||
        realpath(name, spools->directory) == NULL)
        return -1;
    length = (int)strlen(spools->directory);
    if (length > PATH_MAX - 64) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(spools->directory + length, "/" RECORDING_DIRECTORY "XXXXXX");
    return mkdtemp(spools->directory) != NULL && let_others_in(spools) == 0
               ? 0
               : -1;
}

/* Whether the file at PATH was made, and nothing was written to it. */
static bool
has_no_header(const char *path)
{
    char magic[8] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, magic, sizeof magic) : -1;

    if (fd >= 0)
        close(fd);
    return got == 0 || (got > 0 && memcmp(magic, "\0\0\0\0\0\0\0", 8) == 0);
}

/* What the counters in READER say. */
static void
take_counts(struct spool *spool, struct reader *reader)
{
    const struct record_counts *counts = NULL;
    enum record_kind kind = RECORD_FILLER;
    const void *record;

    for (int i = 0; i < RECORDS && counts == NULL; i++) {
        record = reader_next(reader, &kind);
        spool->is_empty =
            i == 0 && record == NULL && reader_problem(reader) == NULL;
        if (record == NULL)
            return;
        if (kind == RECORD_COUNTS)
            counts = record;
    }
    if (counts == NULL)
        return;
    spool->samples = counts->taken + counts->kept + counts->peeked;
    spool->lost = 0;
    for (unsigned i = 0; i < counts->loss_count; i++)
        spool->lost += record_lost(counts, i);
}

static bool
lives(const struct spool *spool)
{
    return kill((pid_t)spool->pid, 0) == 0 || errno == EPERM;
}

/* Bring SPOOL up to date. */
static void
look(struct spool *spool)
{
    char unused[512];
    bool is_last = spool->pid != 0 && !lives(spool);
    struct reader *reader = reader_open(spool->path, unused, sizeof unused);

    spool->is_empty = reader == NULL && has_no_header(spool->path);
    if (reader == NULL)
        return;
    spool->pid = reader_header(reader)->pid;
    spool->start = reader_header(reader)->start_realtime;
    take_counts(spool, reader);
    spool->is_over = is_last;
    reader_end(reader);
}

static struct spool *
find(const struct spools *spools, const char *name)
{
    for (size_t i = spools->count; i > 0; i--)
        if (strcmp(strrchr(spools->all[i - 1].path, '/') + 1, name) == 0)
            return &spools->all[i - 1];
    return NULL;
}

/* Note the file NAME, which was not there before. */
static int
add(struct spools *spools, const char *name)
{
    struct spool *more =
        realloc(spools->all, (spools->count + 1) * sizeof *more);
    char *path;

    if (more == NULL)
        return -1;
    spools->all = more;
    if (asprintf(&path, "%s/%s", spools->directory, name) < 0)
        return -1;
    more[spools->count++] = (struct spool){.path = path};
    return 0;
}

/* For qsort. */
static int
compare_starts(const void *a, const void *b)
{
    const struct spool *one = a, *two = b;

    if (one->start != two->start)
        return one->start < two->start ? -1 : 1;
    return strcmp(one->path, two->path);
}

int
spools_look(struct spools *spools)
{
    DIR *directory = opendir(spools->directory);
    const struct dirent *entry;
    int result = 0;

    if (directory == NULL)
        return -1;
    while (result == 0 && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' && find(spools, entry->d_name) == NULL)
            result = add(spools, entry->d_name);
    closedir(directory);
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_over)
            look(&spools->all[i]);
    if (spools->count > 0)
        qsort(spools->all, spools->count, sizeof *spools->all, compare_starts);
    return result;
}

unsigned
spools_living(const struct spools *spools)
{
    unsigned living = 0;

    for (size_t i = 0; i < spools->count; i++) {
        const struct spool *spool = &spools->all[i];
        /* A flight recorder has two, which are neighbours. */
        bool is_second = i > 0 && spool[-1].pid == spool->pid &&
                         spool[-1].start == spool->start;
        living += !is_second && spool->pid != 0 && lives(spool);
    }
    return living;
}

/* Forget all spools; the files stay. */
static void
forget(struct spools *spools)
{
    for (size_t i = 0; i < spools->count; i++)
        free(spools->all[i].path);
    free(spools->all);
    spools->all = NULL;
    spools->count = 0;
}

/* Processes know their spools by path: under another name of the directory none
 * of them is renamed or removed while it is read. */
int
spools_detach(struct spools *spools)
{
    char away[PATH_MAX + 8];

    snprintf(away, sizeof away, "%s.over", spools->directory);
    if (strlen(away) < PATH_MAX && rename(spools->directory, away) == 0)
        strcpy(spools->directory, away);
    forget(spools);
    return spools_look(spools);
}

bool
spools_are_empty(const struct spools *spools)
{
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_empty)
            return false;
    return true;
}

/* Remove the directory with all that is in it. */
static void
remove_all(const struct spools *spools)
{
    DIR *directory = opendir(spools->directory);
    const struct dirent *entry;

    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(spools->directory);
}

void
spools_end(struct spools *spools, bool keep)
{
    if (!keep)
        remove_all(spools);
    forget(spools);
}
