/* SPDX-License-Identifier: MIT */
/*
 * left.c -- see left.h. A parent and its children share one word of memory. The
 * word only says that a spool may exist. It says no more, because another
 * program may control the child meanwhile. The parent makes the names of the
 * child's files itself, from the template of the names and in its own
 * directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/text.h"
#include "store/layout.h"
#include "claim.h"
#include "left.h"

/* ATTEMPTS limits the number of names that are tried for one child
 * (config_name_files). */
#define ATTEMPTS 10u

/* Shared by a parent and its children. */
struct word {
    pid_t parent;
    _Atomic uint32_t state;
};

/* A child has called left_mark; the parent ends, and may have looked
 * already. */
enum { HAS_LEFT = 1, IS_CLOSED = 2 };

static struct word *of_children, *of_parent;

void
left_before_fork(void)
{
    if (of_children != NULL)
        return;
    long made = sys_map(sizeof(*of_children), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made < 0)
        return;
    of_children = (struct word *)made;
    of_children->parent = sys_getpid();
}

void
left_in_child(void)
{
    sys_release(of_parent, sizeof(*of_parent));
    of_parent = of_children;
    of_children = NULL;
}

void
left_mark(void)
{
    if (of_parent != NULL)
        atomic_fetch_or(&of_parent->state, HAS_LEFT);
}

/* EPERM means that the parent lives, and that this process may not send it a
 * signal: kill(2). */
bool
left_to_parent(void)
{
    return of_parent != NULL &&
           (atomic_load(&of_parent->state) & HAS_LEFT) != 0 &&
           getppid() == of_parent->parent && sys_geteuid() != 0 &&
           sys_kill(of_parent->parent, 0) == -EPERM;
}

bool
left_leave(void)
{
    return of_parent != NULL && getppid() == of_parent->parent &&
           (atomic_fetch_or(&of_parent->state, HAS_LEFT) & IS_CLOSED) == 0;
}

void
left_close(void)
{
    if (of_children != NULL && of_children->parent == sys_getpid())
        atomic_fetch_or(&of_children->state, IS_CLOSED);
}

bool
left_is_wanted(void)
{
    return of_children != NULL &&
           (atomic_load(&of_children->state) & HAS_LEFT) != 0 &&
           of_children->parent == sys_getpid();
}

/* Write to *CHILD the names of a child's files. The child's spool is at PATH
 * and has HEADER. Returns false if the child would not have used PATH. */
static bool
find_names(const struct config *config, const char *path,
           const struct spool_header *header, struct config_files *child)
{
    char unused[512];
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++)
        if (config_names(config, (pid_t)header->pid, attempt, child, unused,
                         sizeof(unused)) == 0 &&
            strcmp(child->spool, path) == 0) {
            child->pid = (pid_t)header->pid;
            child->start = header->start_monotonic;
            return true;
        }
    return false;
}

/* The job of left_write. */
struct left {
    const struct config *config;
    uint64_t start, until;
    struct output_result *first; /* the first that failed */
    unsigned failed;
    char path[PATH_MAX]; /* of a spool in the directory */
    struct config_files child;
    struct output_result result;
    _Alignas(8) char entries[8192];
};

/* Write the profile of the spool at LEFT->path, if a child has left that spool.
 * Remove the spool if it has no sample. */
static void
write_one(struct left *left)
{
    struct spool_header header;
    enum claim claim =
        claim_of_child(left->path, sys_getpid(), left->start, &header);
    if (claim == CLAIM_DEAD)
        (void)claim_remove(left->path);
    if (claim != CLAIM_RESULT ||
        !find_names(left->config, left->path, &header, &left->child))
        return;
    left->result.complaint[0] = '\0';
    if (output_convert_spool(left->config, &left->child, left->until,
                             &left->result) != 0 &&
        left->failed++ == 0)
        *left->first = left->result;
}

static bool
is_spool_name(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".sprof") == 0;
}

/* Look at all spools in the directory of SPOOL. */
static void
write_left_spools(struct left *left, const char *spool)
{
    struct text text;
    size_t length = (size_t)(strrchr(spool, '/') + 1 - spool);
    text_begin(&text, left->path, sizeof(left->path));
    text_add_bytes(&text, spool, length);
    long got, fd = sys_open(left->path, O_RDONLY | O_DIRECTORY);
    while (fd >= 0 && (got = sys_getdents((int)fd, left->entries,
                                          sizeof(left->entries))) > 0)
        for (long at = 0; at < got;) {
            struct dirent64 *entry =
                (struct dirent64 *)(void *)(left->entries + at);
            text_begin(&text, left->path + length, sizeof(left->path) - length);
            text_add(&text, entry->d_name);
            if (!text.cut && is_spool_name(entry->d_name))
                write_one(left);
            at += entry->d_reclen;
        }
    if (fd >= 0)
        sys_close((int)fd);
}

unsigned
left_write(const struct config *config, const struct config_files *files,
           uint64_t until, struct output_result *result)
{
    struct left *left = sys_reserve(sizeof(*left));
    if (left == NULL)
        return 0;
    left->config = config;
    left->start = files->start;
    left->until = until;
    left->first = result;
    write_left_spools(left, files->spool);
    unsigned failed = left->failed;
    sys_release(left, sizeof(*left));
    return failed;
}
