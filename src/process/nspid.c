/* SPDX-License-Identifier: MIT */
/*
 * nspid.c -- see nspid.h. The line "NSpid:" of a thread's status has its number
 * in every namespace that it is in, from that of /proc to its own (proc(5),
 * Linux 4.1). It is read once for each thread; two sparse arrays remember it,
 * and are there only if the numbers differ.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digits.h"
#include "base/sys.h"
#include "base/text.h"
#include "threads.h"
#include "nspid.h"

static uint32_t *tid_of_listed, *listed_of_tid; /* NULL: they are the same */

uint32_t
nspid_namespace(void)
{
    struct stat namespace;
    return sys_stat("/proc/self/ns/pid", &namespace) == 0
               ? (uint32_t) namespace.st_ino
               : 0;
}

/* The first and the last number of the line "NSpid:" in the file PATH. */
static bool
read_numbers(const char *path, uint32_t *first, uint32_t *last)
{
    static const char key[] = "\nNSpid:";
    char status[4096];
    if (sys_read_file(path, status, sizeof(status)) <= 0)
        return false;
    const char *at = strstr(status, key);
    if (at == NULL)
        return false;
    *first = *last = 0;
    for (at += strlen(key); *at == '\t'; *first = *first ? *first : *last) {
        at++;
        *last = (uint32_t)digits_take(&at);
    }
    return *first != 0 && *first < THREADS_TIDS && *last < THREADS_TIDS;
}

int
nspid_begin(void)
{
    size_t size = THREADS_TIDS * sizeof(*tid_of_listed);
    uint32_t listed, own;
    sys_release(tid_of_listed, size);
    sys_release(listed_of_tid, size);
    tid_of_listed = listed_of_tid = NULL;
    if (!read_numbers("/proc/thread-self/status", &listed, &own) ||
        listed == own)
        return 0;
    tid_of_listed = sys_reserve(size);
    listed_of_tid = sys_reserve(size);
    return tid_of_listed != NULL && listed_of_tid != NULL ? 0 : -1;
}

pid_t
nspid_tid(pid_t listed)
{
    uint32_t first, last;
    char path[64];
    struct text text;
    if (tid_of_listed == NULL || tid_of_listed[listed] != 0)
        return tid_of_listed == NULL ? listed : (pid_t)tid_of_listed[listed];
    text_begin(&text, path, sizeof(path));
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)listed);
    text_add(&text, "/status");
    if (!read_numbers(path, &first, &last))
        return 0;
    tid_of_listed[listed] = last;
    listed_of_tid[last] = (uint32_t)listed;
    return (pid_t)last;
}

pid_t
nspid_listed(pid_t tid)
{
    return listed_of_tid == NULL ? tid : (pid_t)listed_of_tid[tid];
}

void
nspid_forget(pid_t tid)
{
    if (tid_of_listed == NULL)
        return;
    tid_of_listed[listed_of_tid[tid]] = 0;
    listed_of_tid[tid] = 0;
}
