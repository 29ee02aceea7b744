/* SPDX-License-Identifier: MIT */
/*
 * task_file.h -- the directory /proc/self/task, and the files in it about a
 * thread of this process.
 *
 * Where /proc belongs to another PID namespace (pid_namespaces(7)), the
 * directory does not list threads by their tids in system calls. A process that
 * was forked into a new namespace, as by `unshare --pid --fork`, still sees the
 * old /proc. Everywhere else the two numbers are the same, and to translate
 * them costs nothing. Context: sampler.
 */
#ifndef PROCESS_TASK_FILE_H
#define PROCESS_TASK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Forget all threads, and find out to which namespace /proc belongs.
 * HAS_OWN_FILES: the caller has a descriptor table of its own, and keeps the
 * directory open. Returns 0, or -1 if memory is short. */
int task_file_begin(bool has_own_files);

/* Returns a descriptor of the directory, or -errno. task_file_close_list ends
 * its use. */
long task_file_open_list(void);
void task_file_close_list(long fd);

/* Returns the tid of the thread that the directory lists as LISTED; 0 if it has
 * gone. */
pid_t task_file_tid(pid_t listed);

/* Thread TID has gone: another thread may get each of its numbers. */
void task_file_forget(pid_t tid);

/* Read FILE ("/stat") of thread TID as sys_read_file does. task_file_tid has
 * returned TID before, if the numbers differ. */
long task_file_read(pid_t tid, const char *file, char *buffer, size_t size);

/* Read the file KIND of thread TID as task_file_read does. For some threads
 * that are read often, it stays open if the caller has its own descriptor
 * table. */
enum task_file_kind {
    TASK_FILE_SYSCALL,
    TASK_FILE_SCHEDSTAT,
    TASK_FILE_STATUS,
    TASK_FILE_KINDS,
};
long task_file_read_again(pid_t tid, enum task_file_kind kind, char *buffer,
                          size_t size);

/* The same as task_file_read for the symbolic link FILE ("/fd/3"), as
 * sys_read_link_at. */
long task_file_read_link(pid_t tid, const char *file, char *buffer,
                         size_t size);

#endif
