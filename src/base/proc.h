/* SPDX-License-Identifier: MIT */
/*
 * proc.h -- the files of /proc about a process or a thread (proc(5)): their
 * paths, and the fields of "stat" and "status". No function allocates, locks or
 * changes errno. Context: any.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes that a path of proc_path takes, with FILE of up to 20 bytes. */
#define PROC_PATH_SIZE 72

/* Two values of TID below: the process itself, and the calling thread. */
#define PROC_PROCESS (-1)
#define PROC_CALLER (-2)

/* Write the path of FILE ("/stat") about thread TID of process PID into PATH of
 * PROC_PATH_SIZE bytes. PID 0 is the calling process. Returns PATH. */
const char *proc_path(char *path, pid_t pid, pid_t tid, const char *file);

/* Read that file into BUFFER as sys_read_file does. */
long proc_read(pid_t pid, pid_t tid, const char *file, char *buffer,
               size_t size);

/* Returns the text of STAT, the line of a file "stat", from FIELD (3 or more)
 * on; "" if there is no such field. proc_pid_stat(5) numbers the fields. The
 * name, field 2, may hold any bytes. */
const char *proc_stat_field(const char *stat, unsigned field);

/* Returns the text after "NAME:" and blanks in STATUS, a file "status"; "" if
 * there is no such line. */
const char *proc_status_line(const char *status, const char *name);

/* Returns the decimal number that TEXT begins with, or the hexadecimal one; 0
 * if there is none. */
uint64_t proc_number(const char *text);
uint64_t proc_bits(const char *text);

/* Returns the process that traces the calling thread (ptrace(2)); 0 if there is
 * none. */
pid_t proc_tracer(void);

/* Returns the PID namespace of this process, as the inode of /proc/self/ns/pid
 * (namespaces(7)); 0: not known. */
uint32_t proc_namespace(void);

/* Bytes of proc_boot's text: a UUID with its NUL. */
#define PROC_BOOT_SIZE 37

/* Write to TEXT what names this machine since it was started, in all of its
 * containers: /proc/sys/kernel/random/boot_id (proc(5)); "": not known. Returns
 * the length. */
size_t proc_boot(char text[PROC_BOOT_SIZE]);

#endif
