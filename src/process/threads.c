/* SPDX-License-Identifier: MIT */
/*
 * threads.c -- the table of threads; see threads.h. Indexes are found by tid in
 * one sparse array that covers all possible tids: 16 MiB of addresses, of which
 * one page is touched for 1,024 neighbouring tids. A search or a hash would
 * cost time at every tick, and in handlers.
 */
#include <dirent.h>
#include <linux/errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/digits.h"
#include "base/sys.h"
#include "status.h"
#include "task_file.h"
#include "threads.h"
#include "base/poison.h"

#define NO_INDEX 0u /* the array of tids holds index + 1 */

/* The reserved memory stays for ever: after a fork the child uses it, too. */
static struct thread *threads;
static _Atomic uint32_t *index_of_tid;
static uint32_t limit, listed, last_serial;
static uint32_t first_free; /* no free entry lies below */
static pid_t process, own_tid;
static threads_listener *listen;
static _Atomic uint32_t touched;
static _Atomic pid_t ignored_tid;
static uint32_t refreshed;
static long links; /* of the directory, before it was last read */

int
threads_begin(pid_t pid, pid_t own, threads_listener *listener,
              bool has_own_files)
{
    if (threads == NULL) {
        threads = sys_reserve(THREADS_MAX * sizeof(*threads));
        index_of_tid = sys_reserve(THREADS_TIDS * sizeof(*index_of_tid));
    }
    if (threads == NULL || index_of_tid == NULL)
        return -1;
    /* Cleared one by one: clearing the whole array would touch all of it. */
    for (uint32_t i = 0; i < limit; i++)
        if (threads[i].tid != 0) {
            index_of_tid[threads[i].tid] = NO_INDEX;
            threads[i].tid = 0;
        }
    if (listener != NULL && task_file_begin(has_own_files) != 0)
        return -1;
    limit = listed = last_serial = first_free = 0;
    links = 0;
    process = pid;
    own_tid = own;
    listen = listener;
    threads_touch();
    return 0;
}

void
threads_ignore(pid_t tid)
{
    atomic_store(&ignored_tid, tid);
}

void
threads_touch(void)
{
    atomic_fetch_add_explicit(&touched, 1, memory_order_relaxed);
}

bool
threads_are_stale(void)
{
    return atomic_load_explicit(&touched, memory_order_relaxed) != refreshed;
}

bool
threads_count_differs(void)
{
    long fd = task_file_open_list();
    if (fd < 0)
        return false;
    long now = sys_count_links((int)fd);
    task_file_close_list(fd);
    return now >= 0 && now != links;
}

const _Atomic uint32_t *
threads_indexes(void)
{
    return index_of_tid;
}

uint32_t
threads_count(void)
{
    return listed;
}

uint32_t
threads_limit(void)
{
    return limit;
}

struct thread *
threads_at(uint32_t index)
{
    return &threads[index];
}

bool
threads_read_name(uint32_t index)
{
    char name[64];
    long length =
        task_file_read(threads[index].tid, "/comm", name, sizeof(name));
    /* The thread has just ended: its old name is good enough. */
    if (length <= 0)
        return false;
    return threads_set_name(index, name);
}

bool
threads_set_name(uint32_t index, const char *name)
{
    char *own = threads[index].name;
    size_t length = strcspn(name, "\n");
    if (length >= THREAD_NAME_SIZE)
        length = THREAD_NAME_SIZE - 1;
    if (strncmp(name, own, length) == 0 && own[length] == '\0')
        return false;
    memcpy(own, name, length);
    own[length] = '\0';
    return true;
}

/* Whether thread TID has ended but is still listed, as a main thread is that
 * called pthread_exit. Where it cannot be read (no descriptor is left), it has
 * no memory any more. */
static bool
is_zombie(pid_t tid)
{
    char state = status_state(tid), byte;
    struct iovec here = {&byte, 1};
    if (state != '\0')
        return state == 'Z' || state == 'X';
    return sys_call(SYS_process_vm_readv, tid, &here, 1, &here, 1) == -ESRCH;
}

/* Indexes of ended threads are used again, the lowest first, so that loops over
 * all indexes stay short. Threads beyond the table are not profiled. */
static uint32_t
enter_thread(pid_t tid)
{
    uint32_t i = first_free;
    while (i < limit && threads[i].tid != 0)
        i++;
    if (i == THREADS_MAX)
        return THREADS_NONE;
    threads[i] =
        (struct thread){.tid = tid, .serial = ++last_serial, .seen = true};
    if (i == limit)
        limit++;
    listed++;
    first_free = i + 1;
    listen(i, false);
    /* From now on handlers use the index. */
    atomic_store_explicit(&index_of_tid[tid], i + 1, memory_order_release);
    return i;
}

void
threads_remove(uint32_t index)
{
    /* The listener still sees the old entry. */
    listen(index, true);
    index_of_tid[threads[index].tid] = NO_INDEX;
    task_file_forget(threads[index].tid);
    threads[index].tid = 0;
    listed--;
    if (index < first_free)
        first_free = index;
    while (limit != 0 && threads[limit - 1].tid == 0)
        limit--;
}

uint32_t
threads_index(pid_t tid)
{
    if (tid <= 0 || (uint32_t)tid >= THREADS_TIDS || tid == own_tid ||
        tid == atomic_load(&ignored_tid))
        return THREADS_NONE;
    uint32_t i = index_of_tid[tid];
    return i != NO_INDEX ? i - 1 : enter_thread(tid);
}

/* 0 for ".", "..", and for numbers that are no tids. */
static pid_t
tid_of_name(const char *name)
{
    uint64_t tid = digits_take(&name);
    return *name == '\0' && tid < THREADS_TIDS ? (pid_t)tid : 0;
}

/* Process one directory entry. Returns its number of threads. */
static int
see_entry(const char *name)
{
    pid_t listed_as = tid_of_name(name);
    pid_t tid = listed_as != 0 ? task_file_tid(listed_as) : 0;
    if (tid == 0 || tid == own_tid || tid == atomic_load(&ignored_tid) ||
        (tid == process && is_zombie(tid)))
        return 0;
    uint32_t i = index_of_tid[tid];
    if (i == NO_INDEX)
        enter_thread(tid);
    else
        threads[i - 1].seen = true;
    return 1;
}

int
threads_refresh(void)
{
    char buffer[4096] __attribute__((aligned(8)));
    uint32_t as_of = atomic_load_explicit(&touched, memory_order_relaxed);
    long got, fd = task_file_open_list();
    int count = 0;
    if (fd < 0)
        return -1;
    links = sys_count_links((int)fd);
    (void)sys_seek((int)fd, 0);
    for (uint32_t i = 0; i < limit; i++)
        threads[i].seen = false;
    while ((got = sys_getdents((int)fd, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            struct dirent64 *entry = (struct dirent64 *)(void *)(buffer + at);
            count += see_entry(entry->d_name);
            at += entry->d_reclen;
        }
    task_file_close_list(fd);
    for (uint32_t i = limit; i-- > 0;)
        if (threads[i].tid != 0 && !threads[i].seen)
            threads_remove(i);
    refreshed = as_of;
    return count;
}

pid_t
threads_first(void)
{
    for (uint32_t i = 0; i < limit; i++)
        if (threads[i].tid != 0)
            return threads[i].tid;
    return 0;
}
